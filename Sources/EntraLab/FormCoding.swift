import CGLib
import GLibSupport

/// The names and values of a query or a form (`application/x-www-form-urlencoded`).
struct Parameters: Sendable {
  let pairs: [(name: String, value: String)]

  init(_ encoded: String) {
    pairs = encoded.split(separator: "&").map { field in
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { percentDecode(String($0.replacing("+", with: " "))) }
      return (parts[0], parts.count > 1 ? parts[1] : "")
    }
  }

  /// The first value of that name, if it is not empty.
  subscript(name: String) -> String? {
    pairs.first { $0.name == name && !$0.value.isEmpty }?.value
  }

  var dictionary: [String: String] {
    Dictionary(pairs.map { ($0.name, $0.value) }) { first, _ in first }
  }

  var duplicates: [String] {
    Dictionary(grouping: pairs, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
  }
}

/// Decodes `%xx`; a text with a malformed sequence is kept.
func percentDecode(_ text: String) -> String { String(taking: g_uri_unescape_string(text, nil)) ?? text }

/// Encodes everything but the unreserved characters of RFC 3986 as `%XX`.
func percentEncode(_ text: String) -> String { String(taking: g_uri_escape_string(text, nil, 0)) ?? "" }

func encodeForm(_ pairs: [(String, String)]) -> String {
  pairs.map { percentEncode($0.0) + "=" + percentEncode($0.1) }.joined(separator: "&")
}

func escapeHTML(_ text: String) -> String { String(taking: g_markup_escape_text(text, -1)) ?? "" }
