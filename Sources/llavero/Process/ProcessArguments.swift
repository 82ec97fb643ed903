import Glibc

/// The words of the command line, the program's name first; empty where they cannot be found.
///
/// Swift looks for them in `/proc`, which need not be mounted, or beside the environment, which a preloaded library may have
/// moved. glibc also knows where the kernel put them: first their number, then their addresses and a null.
let processArguments: [String] = {
  let arguments = CommandLine.arguments
  guard arguments.isEmpty, let symbol = unsafe dlsym(nil, "__libc_stack_end") else { return arguments }
  let start = unsafe symbol.load(as: UnsafePointer<Int>.self)
  let count = unsafe start.pointee
  let words = unsafe UnsafeRawPointer(start + 1).assumingMemoryBound(to: UnsafePointer<CChar>?.self)
  guard count > 0, unsafe words[count] == nil else { return [] }
  return (0..<count).compactMap { unsafe words[$0].map { unsafe String(cString: $0) } }
}()
