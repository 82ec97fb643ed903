import ArgumentParser

/// A scheme that an application can have for its own (RFC 3986 section 3.1; RFC 8252 section 7.1).
struct OwnScheme: ExpressibleByArgument, Equatable, Sendable {
  let name: String

  /// Takes a scheme, also as the redirect URI that begins with it.
  ///
  /// - Returns: `nil` for an invalid one.
  init?(argument: String) {
    let name = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)[0].lowercased()
    guard name.utf8.first.map({ Self.letters.contains($0) }) ?? false, name.utf8.count <= Self.maximumLength,
      // What ends in a dot, such as "msauth.", lacks the app's name.
      !name.hasSuffix("."), name.utf8.allSatisfy({ Self.letters.contains($0) || Self.others.contains($0) })
    else { return nil }
    self.name = name
  }

  /// Whether the scheme belongs to everybody: to the web, to mail, to the desktop or to the browser.
  var isReserved: Bool {
    Self.reserved.contains(name) || Self.reservedBeginnings.contains { name.hasPrefix($0) }
  }

  static let advice = "A scheme of an app's own is such as msauth.com.example.mail."

  /// File names have 255 bytes at most.
  private static let maximumLength = 200
  private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
  private static let others = Set("0123456789+-.".utf8)

  /// Of IANA's register, and of what desktops and browsers have besides, what a person may meet.
  private static let reserved: Set<String> = [
    "about", "acct", "admin", "afp", "aim", "apt", "archive", "blob", "burn", "callto", "chrome", "cid",
    "computer", "content", "data", "dav", "davs", "dict", "dns", "doi", "ed2k", "facetime", "feed", "file",
    "filesystem", "finger", "fish", "ftp", "ftps", "gemini", "geo", "git", "go", "gopher", "gtalk", "h323",
    "help", "http", "https", "im", "imap", "imaps", "info", "intent", "ipfs", "ipns", "ipp", "ipps", "irc",
    "irc6", "ircs", "jar", "javascript", "ldap", "ldapi", "ldaps", "magnet", "mailto", "man", "maps",
    "market", "matrix", "message", "mid", "mms", "mtp", "mumble", "network", "news", "nfs", "nntp", "openid",
    "opera", "pop", "pop3", "pres", "prefs", "ptp", "recent", "resource", "rmi", "rsync", "rtmp", "rtsp",
    "rtspu", "search", "sftp", "sgn", "shttp", "sip", "sips", "skype", "smb", "smp", "sms", "smsto", "smtp",
    "snews", "snmp", "ssh", "steam", "stun", "stuns", "svn", "tag", "tel", "telnet", "tftp", "tg",
    "thismessage",
    "trash", "turn", "turns", "tv", "udp", "unknown", "unreal", "urn", "vbscript", "vemmi", "view-source",
    "vnc", "wais", "webcal", "webcals", "ws", "wss", "xmpp", "z39.50", "z39.50r", "z39.50s",
  ]

  /// Those of browsers' own pages, of programs of the web, of version control, and of Microsoft's programs.
  private static let reservedBeginnings = ["chrome-", "moz-", "ms-", "svn+", "git+", "web+"]
}
