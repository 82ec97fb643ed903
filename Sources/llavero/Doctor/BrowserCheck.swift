import GLibSupport

/// Whether a sign-in can open a page.
struct BrowserCheck: Check {
  static let name = "browser"

  func examine(_ patient: Patient) async -> [Finding] {
    func has(_ variable: String) -> Bool { patient.environment[variable]?.isEmpty == false }
    if has("BROWSER") { return [.ok("Pages are opened with BROWSER.")] }
    guard has("WAYLAND_DISPLAY") || has("DISPLAY") else {
      return [.warning("There is no display to open a browser on.", advice: Self.advice)]
    }
    let opener = ["xdg-open", "gio"].first { programFile($0) != nil }
    guard let opener else {
      return [.warning("Neither xdg-open nor gio is there to open a browser with.", advice: Self.advice)]
    }
    return [.ok("Pages are opened with \(opener).")]
  }

  private static let advice =
    "\"llavero login\" shows the page's address instead, for a browser where you sit, or set BROWSER."
}
