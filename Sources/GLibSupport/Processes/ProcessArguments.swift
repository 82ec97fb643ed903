import Glibc

/// The words of the command line, the program's name first; empty where they cannot be found.
///
/// Swift looks for them in `/proc`, which need not be mounted, or beside the environment, which a preloaded library may have
/// moved: then it reads, and sometimes traps on, other memory. glibc knows where the kernel put them: first their number,
/// then their addresses and a null.
package let processArguments: [String] = initialArguments() ?? CommandLine.arguments

private func initialArguments() -> [String]? {
  guard let symbol = dlsym(nil, "__libc_stack_end") else { return nil }
  let start = symbol.load(as: UnsafePointer<Int>.self)
  let count = start.pointee
  let words = UnsafeRawPointer(start + 1).assumingMemoryBound(to: UnsafePointer<CChar>?.self)
  guard count > 0, words[count] == nil else { return nil }
  return (0..<count).compactMap { words[$0].map { String(cString: $0) } }
}
