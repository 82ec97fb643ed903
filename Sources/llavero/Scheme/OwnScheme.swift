import ArgumentParser

/// A private-use URI scheme of an application (RFC 3986 section 3.1; RFC 8252 section 7.1).
struct OwnScheme: ExpressibleByArgument, Equatable, Sendable {
  let name: String

  /// Reads a scheme, or the redirect URI that begins with it; `nil` for an invalid one.
  init?(argument: String) {
    let name = argument.prefix { $0 != ":" }.lowercased()
    // File names have 255 bytes at most, and "msauth." lacks the app's name.
    guard name.utf8.count <= 200, !name.hasSuffix("."),
      name.wholeMatch(of: /[a-z][a-z0-9+.-]*/.matchingSemantics(.unicodeScalar)) != nil
    else { return nil }
    self.name = name
  }

  /// Whether the scheme is in general use: by the web, mail, the desktop or the browser.
  var isReserved: Bool {
    Self.reserved.contains(name) || Self.reservedBeginnings.contains { name.hasPrefix($0) }
  }

  /// From IANA's registry, and other schemes of desktops and browsers.
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
    "thismessage", "trash", "turn", "turns", "tv", "udp", "unknown", "unreal", "urn", "vbscript", "vemmi",
    "view-source", "vnc", "wais", "webcal", "webcals", "ws", "wss", "xmpp", "z39.50", "z39.50r", "z39.50s",
  ]

  /// Schemes of browsers' own pages, web apps, version control and Microsoft's programs.
  private static let reservedBeginnings = ["chrome-", "moz-", "ms-", "svn+", "git+", "web+"]
}
