import GLibSupport
import HTTPListener

extension ListenerResponse {
  /// The header fields of every response, also of those that libsoup makes by itself.
  static let pageFields = [
    ("Cache-Control", "no-store"),
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'"
    ),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
  ]

  static func refusal(
    _ status: UInt32, _ text: String, fields: [(name: String, value: String)] = []
  ) -> ListenerResponse {
    page(status, "This page is part of a sign-in", text, fields: fields)
  }

  static let nothingHere = refusal(404, "There is nothing here.")

  /// The page at the end of the sign-in, for success as for an error (RFC 6749 section 4.1.2.1).
  static func end(_ parameters: [String: String]) -> ListenerResponse {
    guard let error = parameters["error"] else {
      return page(
        200, "Back to the application", "You can close this window and return to the application.")
    }
    let description = parameters["error_description"].map { ": \($0)" } ?? ""
    return page(200, "You are not signed in", "\(error)\(description)\nYou can return to the application.")
  }

  static func redirect(to location: String) -> ListenerResponse {
    ListenerResponse(
      status: 303, fields: [("Location", location)], contentType: "text/html; charset=utf-8", body: [])
  }

  private static func page(
    _ status: UInt32, _ title: String, _ text: String, fields: [(name: String, value: String)] = []
  ) -> ListenerResponse {
    ListenerResponse(
      status: status, fields: fields, contentType: "text/html; charset=utf-8",
      body: Array(htmlPage(title, text).utf8))
  }
}

private func htmlPage(_ title: String, _ text: String) -> String {
  """
  <!DOCTYPE html>
  <html lang="en">
  <head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>\(escaped(title))</title>
  <style>
  body { font: 1.1em/1.5 system-ui, sans-serif; max-width: 34em; margin: 15vh auto; padding: 0 1em }
  p { white-space: pre-line; overflow-wrap: anywhere }
  </style>
  </head>
  <body>
  <h1>\(escaped(title))</h1>
  <p>\(escaped(text))</p>
  </body>
  </html>

  """
}

private func escaped(_ text: String) -> String {
  let entities: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
  ]
  return text.unicodeScalars.filter { $0 == "\n" || !$0.isUnsafe }
    .map { entities[$0] ?? String($0) }.joined()
}
