import CGLib

/// The environment of this process. Of several variables of one name the first counts, as for `getenv(3)`.
///
/// Foundation's takes half a million instructions even for a short one, and is asked several times at every start.
package func processEnvironment() -> [String: String] {
  var variables: [String: String] = [:]
  for line in strings(g_get_environ()) {
    guard let end = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
    let name = String(line[..<end])
    if variables[name] == nil { variables[name] = String(line[line.utf8.index(after: end)...]) }
  }
  return variables
}
