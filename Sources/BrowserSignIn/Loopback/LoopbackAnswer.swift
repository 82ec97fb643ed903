import HTTPListener

/// What a browser is answered.
struct LoopbackAnswer: Equatable, Sendable {
  var status: UInt32
  var fields: [(name: String, value: String)] = []
  var page: String

  static func == (left: Self, right: Self) -> Bool {
    left.status == right.status && left.page == right.page && left.fields.elementsEqual(right.fields, by: ==)
  }

  /// What every answer carries, also those that libsoup makes by itself.
  static let fields = [
    ("Cache-Control", "no-store"),
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'"
    ),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
  ]

  var listenerAnswer: ListenerAnswer {
    ListenerAnswer(
      status: status, fields: fields, contentType: "text/html; charset=utf-8", body: Array(page.utf8))
  }

  static func refusal(_ status: UInt32, _ text: String) -> LoopbackAnswer {
    LoopbackAnswer(status: status, page: htmlPage("This page is part of a sign-in", text))
  }

  static let alreadyUsed = refusal(410, "This sign-in is over. You can close this window.")

  /// The page at the end of the sign-in, for success as for an error answer (RFC 6749 section 4.1.2.1).
  static func end(_ parameters: [String: String]) -> LoopbackAnswer {
    guard let error = parameters["error"] else {
      return LoopbackAnswer(
        status: 200,
        page: htmlPage("Back to the application", "You can close this window and return to the application."))
    }
    let description = parameters["error_description"].map { ": \($0)" } ?? ""
    return LoopbackAnswer(
      status: 200,
      page: htmlPage("You are not signed in", "\(error)\(description)\nYou can return to the application."))
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
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    case "'": result += "&#39;"
    case "\n": result += "\n"
    case _ where scalar.properties.generalCategory == .control: break
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}
