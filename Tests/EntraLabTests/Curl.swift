import EntraLab
import TestSupport

/// A response as received by curl.
struct Answer: Sendable {
  /// curl's exit status: 0 for a complete response.
  let exit: Int32
  let status: Int
  /// By lower-case name.
  let headers: [String: String]
  let body: String

  var json: JSON {
    get throws { try JSONDecoder().decode(JSON.self, from: Data(body.utf8)) }
  }

  subscript(member: String) -> String? { (try? json)?[member]?.string }
}

extension Lab {
  /// Sends a request with curl, which trusts the lab's authority only.
  func curl(
    _ path: String, form: [(String, String)]? = nil, headers: [String] = [], _ options: [String] = []
  ) async throws -> Answer {
    var arguments = ["-q", "-s", "-i", "--max-time", "600", "--cacert", caBundlePath]
    for (name, value) in form ?? [] { arguments += ["--data-urlencode", "\(name)=\(value)"] }
    for header in headers { arguments += ["-H", header] }
    arguments += options + [path.hasPrefix("https:") ? path : baseURL + path]
    let result = try await Child.runApart("curl", arguments)
    let text = result.standardOutput.replacing("\r\n", with: "\n")
    let end = text.firstRange(of: "\n\n")
    let lines = text[..<(end?.lowerBound ?? text.endIndex)].split(separator: "\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " }) }
    }
    let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    let body = end.map { String(text[$0.upperBound...]) } ?? ""
    return Answer(exit: result.status, status: status ?? 0, headers: headers, body: body)
  }
}
