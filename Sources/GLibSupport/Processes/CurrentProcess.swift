import CGLib
import Glibc

/// The environment of this process. Of several variables with one name the first counts, as for `getenv(3)`.
///
/// Foundation takes half a million instructions even for a short environment, which is read several times at every start.
package func processEnvironment() -> [String: String] {
  var variables: [String: String] = [:]
  for line in strings(g_get_environ()) {
    guard let end = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
    let name = String(line[..<end])
    if variables[name] == nil { variables[name] = String(line[line.utf8.index(after: end)...]) }
  }
  return variables
}

/// The arguments of the command line, the program's name first; empty if they cannot be found.
///
/// Swift reads them from `/proc`, which need not be mounted, or beside the environment, which a preloaded library may have
/// moved: then it reads, and sometimes traps on, other memory. glibc knows where the kernel put them: first their count,
/// then their addresses and a null.
package let processArguments: [String] = initialArguments() ?? CommandLine.arguments

/// Those before `--`, behind which nothing is an option.
package let processOptions = processArguments.prefix { $0 != "--" }

/// A path that means the same in every directory.
package func absolutePath(_ path: String) -> String {
  guard !path.hasPrefix("/"), let directory = String(taking: getcwd(nil, 0)) else { return path }
  return directory + "/" + path
}

private func initialArguments() -> [String]? {
  guard let symbol = dlsym(nil, "__libc_stack_end") else { return nil }
  let start = symbol.load(as: UnsafePointer<Int>.self)
  let count = start.pointee
  let words = UnsafeRawPointer(start + 1).assumingMemoryBound(to: UnsafePointer<CChar>?.self)
  guard count > 0, words[count] == nil else { return nil }
  return (0..<count).compactMap { words[$0].map { String(cString: $0) } }
}

/// The path of this process's executable, even if the file was replaced since.
package func executableFile() -> String? {
  guard let path = String(taking: g_file_read_link("/proc/self/exe", nil)) else { return nil }
  return path.hasSuffix(" (deleted)") ? String(path.dropLast(" (deleted)".count)) : path
}

/// The absolute path of an executable; a name without a slash is looked up in PATH.
///
/// - Returns: `nil` if it is not found.
package func programFile(_ name: String) -> String? {
  String(taking: g_find_program_in_path(name)).flatMap { String(taking: g_canonicalize_filename($0, nil)) }
}
