enum HTMLPage {
  static func page(title: String, _ content: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8"><title>\(escapeHTML(title))</title>
    <style>body{font:16px sans-serif;max-width:32em;margin:4em auto}button{font:inherit;margin:.2em}</style>
    </head><body>
    \(content)
    </body></html>

    """
  }

  /// A page with buttons to select a user, or to cancel.
  static func selectUser(
    action: String, title: String, note: String, hidden: [(String, String)], input: String = "",
    users: [LabUser]
  ) -> String {
    let buttons = users.map {
      "<button name=\"user\" value=\"\(escapeHTML($0.name))\">\(escapeHTML($0.userPrincipalName))</button><br>"
    }
    return page(
      title: title,
      """
      <h1>\(escapeHTML(title))</h1><p>\(escapeHTML(note))</p>
      <form name="choose" method="POST" action="\(escapeHTML(action))">
      \(inputs(hidden))\(input)
      \(buttons.joined(separator: "\n"))
      <button name="cancel" value="1">Cancel</button>
      </form>
      """)
  }

  /// The page that posts the response to the redirect URI by itself (OAuth 2.0 Form Post Response Mode).
  static func formPost(to action: String, _ fields: [(String, String)]) -> String {
    """
    <html><head><title>Working...</title></head><body>\
    <form method="POST" name="hiddenform" action="\(escapeHTML(action))">\(inputs(fields))\
    <noscript><p>Script is disabled. Click Submit to continue.</p><input type="submit" value="Submit" /></noscript>\
    </form><script language="javascript">document.forms[0].submit();</script></body></html>
    """
  }

  private static func inputs(_ fields: [(String, String)]) -> String {
    fields.map {
      "<input type=\"hidden\" name=\"\(escapeHTML($0.0))\" value=\"\(escapeHTML($0.1))\" />"
    }.joined()
  }
}
