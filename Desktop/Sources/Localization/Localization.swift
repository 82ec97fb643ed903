import CGettext
import FoundationEssentials
import Glibc

/// The name of the catalogues: `share/locale/LANGUAGE/LC_MESSAGES/llavero.mo`.
private let domain = "llavero"

/// The directory of the running program.
public let programDirectory: String = {
  let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
}()

/// Finds the catalogues in `share` beside the program's directory, as they are installed. Without this call all texts are English.
public func bindCatalogues() {
  // GTK does so as well, when texts may have been made already.
  setlocale(LC_ALL, "")
  bindtextdomain(domain, programDirectory + "/../share/locale")
  bind_textdomain_codeset(domain, "UTF-8")
}

/// A text in the language of the desktop.
///
/// `Desktop/translations` finds the texts in the sources: each is a literal, or literals joined with `+`, without interpolation.
///
/// - Parameters:
///   - text: The English text. `%s` and `%d` stand for the arguments in their order, `%2$s` for the second one, and `%%` for a percent
///     sign. Without arguments, the text is not changed.
///   - arguments: What the text is about.
/// - Returns: The translation, or the English text without one.
public func localized(_ text: String, _ arguments: any CustomStringConvertible...) -> String {
  filled(translation(of: text), arguments)
}

private func translation(of text: String) -> String {
  // It returns its argument where there is no translation.
  text.withCString { argument in dgettext(domain, argument).map { String(cString: $0) } } ?? text
}

/// A text about a number of things, in the language of the desktop.
///
/// - Parameters:
///   - one: The English text for one of them, as that of ``localized(_:_:)``.
///   - several: That for any other number.
///   - count: The number.
///   - arguments: What the text is about, with the number.
/// - Returns: The translation, or the English text without one.
public func localized(
  _ one: String, _ several: String, count: Int, _ arguments: any CustomStringConvertible...
) -> String {
  let text = one.withCString { one in
    several.withCString { several in
      dngettext(domain, one, several, UInt(count.magnitude)).map { String(cString: $0) }
    }
  }
  return filled(text ?? several, arguments)
}

/// A sentence of Llavero's libraries in the language of the desktop.
///
/// - Parameter sentence: The English sentence.
/// - Returns: The translation. A sentence that has none, such as a server's, stays as it is.
public func translated(_ sentence: String) -> String {
  // The empty text has the catalogue's header.
  sentence.isEmpty ? "" : translation(of: sentence)
}

/// Puts arguments into a text. A placeholder without its argument stays.
func filled(_ text: String, _ arguments: [any CustomStringConvertible]) -> String {
  guard !arguments.isEmpty else { return text }
  var next = 0
  return text.replacing(/%(?:([0-9]+)\$)?([sd%])/) { match in
    if match.2 == "%" { return "%" }
    let position = match.1.flatMap { Int($0) } ?? next + 1
    next = position
    return arguments.indices.contains(position - 1)
      ? arguments[position - 1].description : String(match.0)
  }
}
