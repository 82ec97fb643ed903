import ArgumentParser
import IdentityClient
import SecretService

/// The connection to the keyring. The key exchange of its session takes longer than anything else that "llavero token" does,
/// half of it in the keyring, so that it begins before the command line is parsed.
enum EarlyConnection {
  static let shared = SecretServiceConnection()

  /// Connects on a thread of its own if the command line is one of "llavero token" for a token in the keyring. Everything
  /// else connects when it needs to: another store, borrowed tokens, help and mistakes may not need to at all. A mistake
  /// that shows only when settings are put together, as in an authority, is found later.
  static func begin(_ arguments: [String]) {
    guard arguments.first == Token.configuration.commandName else { return }
    // The configuration may be on a file system that hangs, and signals have an effect only when this returns.
    shared.connectInAdvance { needsKeyring(arguments.dropFirst()) }
  }

  /// Whether "llavero token" looks into the keyring with these arguments and the configuration.
  private static func needsKeyring(_ arguments: ArraySlice<String>) -> Bool {
    guard let named = settings(of: arguments), let current = try? Settings.loaded.get() else { return false }
    return current.unknown == nil && named.store.withDefaults(from: current.store).kind == .keyring
      && (named.origin ?? current.origin)?.socket == nil && (named.broker ?? current.broker) != .required
      && (named.clientID ?? current.clientID) != nil
  }

  /// What the arguments of "llavero token" set; `nil` for a mistake, and for what should not connect in advance.
  private static func settings(of arguments: ArraySlice<String>) -> Settings? {
    var settings = Settings()
    var arguments = arguments
    var (isJSON, format) = (false, TokenFormat?.none)
    while let argument = arguments.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--quiet", "-q", "--verbose", "-v", "--force-refresh", "--tsv": break
      default:
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let value = parts.count == 2 ? String(parts[1]) : arguments.popFirst(),
          parts.count == 2 || !value.hasPrefix("-")
        else { return nil }
        switch parts[0] {
        case "--output":
          format = TokenFormat(rawValue: value)
          if format == nil { return nil }
        case "--stand-in", "--query", "--claims": break
        case "--min-validity": if (try? Validity(value)) == nil { return nil }
        case let name:
          guard let setting = Setting.all.first(where: { $0.option.map { $0 == name } ?? false }),
            (try? setting.read(value, &settings)) != nil
          else { return nil }
        }
      }
    }
    return isJSON && format != nil && format != .json ? nil : settings
  }
}
