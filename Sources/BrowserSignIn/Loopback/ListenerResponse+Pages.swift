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

  static func redirect(to location: String) -> ListenerResponse {
    ListenerResponse(
      status: 303, fields: [("Location", location)], contentType: "text/html; charset=utf-8", body: [])
  }

  /// The response with a page, in the language that the browser prefers.
  init(_ page: Page, for request: ListenerRequest) {
    let language = PageLanguage(preferredBy: request.languages)
    self.init(
      status: page.status, fields: page.fields, contentType: "text/html; charset=utf-8",
      body: Array(html(page, in: language).utf8))
  }
}

/// A page that a browser gets.
struct Page: Sendable {
  var status: UInt32
  var fields: [(name: String, value: String)] = []
  var title: PageText
  /// The server's words, in whatever language it has.
  var detail: String?
  var text: PageText

  static func refusal(
    _ status: UInt32, _ text: PageText, fields: [(name: String, value: String)] = []
  ) -> Page {
    Page(status: status, fields: fields, title: .partOfSignIn, text: text)
  }

  static let nothingHere = refusal(404, .nothingHere)

  /// The page at the end of the sign-in, for success as for an error (RFC 6749 section 4.1.2.1).
  static func end(_ parameters: [String: String]) -> Page {
    guard let error = parameters["error"] else { return Page(status: 200, title: .done, text: .close) }
    let description = parameters["error_description"].map { ": \($0)" } ?? ""
    return Page(status: 200, title: .notSignedIn, detail: error + description, text: .goBack)
  }
}

private func html(_ page: Page, in language: PageLanguage) -> String {
  let title = page.title[language]
  let text = [page.detail, page.text[language]].compactMap(\.self).joined(separator: "\n")
  return """
    <!DOCTYPE html>
    <html lang="\(language.rawValue)">
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
