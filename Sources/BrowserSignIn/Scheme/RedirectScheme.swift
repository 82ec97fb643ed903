import FoundationEssentials
import GLibSupport
import IdentityClient

/// A scheme of an application's own, as the desktop knows it.
enum RedirectScheme {
  /// For a file system that hangs.
  private static let timeout = Duration.seconds(30)
  private static let queue = BlockingQueue(label: "llavero.scheme")

  /// Checks that this program is the desktop's handler for the scheme of a redirect URI. The error has the command that helps.
  static func check(_ redirectURI: URL) async throws(IdentityError) {
    let scheme = redirectURI.scheme?.lowercased() ?? ""
    let program = executableFile() ?? processArguments.first ?? ""
    let handler = try await handler(of: scheme)
    if let error = refusal(of: handler, scheme: scheme, program: program) { throw error }
  }

  /// The program that the desktop starts for addresses of a scheme.
  static func handler(of scheme: String) async throws(IdentityError) -> SchemeHandler? {
    try await queue.run(
      timeout: timeout, onCancel: .signInCancelled,
      onTimeout: IdentityError(.timedOut, "The desktop files cannot be read in time.")
    ) { _ throws(IdentityError) in SchemeHandler(of: scheme) }
  }

  /// Why a sign-in with this handler could not end; `nil` where it can.
  static func refusal(of handler: SchemeHandler?, scheme: String, program: String) -> IdentityError? {
    if let handler, handler.runs(program) { return nil }
    let isForeign = handler.map { $0.id != SchemeHandler.ownID(of: scheme) } ?? false
    let words = ["llavero", "scheme", "install"] + (isForeign ? ["--replace"] : []) + [scheme, program]
    return IdentityError(
      .redirectSchemeNotRegistered,
      handler.map { "The handler of addresses that begin with \(scheme): is another program, by \($0.id)." }
        ?? "No program is registered for addresses that begin with \(scheme):.",
      advice: "Register this one: \"\(words.map(shellQuoted).joined(separator: " "))\".")
  }
}
