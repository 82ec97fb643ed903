package import Glibc

/// The peak memory of a process in bytes; 0 if it has ended.
///
/// The kernel's peak of this program: `getrusage` begins with that of its parent.
package func peakMemory(of process: pid_t = getpid()) -> Int { memory("VmHWM:", of: process) }

/// The memory of this process that is not swapped out, in bytes.
package func residentMemory() -> Int { memory("VmRSS:", of: getpid()) }

/// Whether the process's memory is the program's own, and not a sanitizer's for the most part.
package let memoryIsMeasurable = dlsym(nil, "__tsan_init") == nil && dlsym(nil, "__asan_init") == nil

/// A field of proc_pid_status(5) that is in kilobytes.
private func memory(_ field: String, of process: pid_t) -> Int {
  guard let file = fopen("/proc/\(process)/status", "re") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while fgets(&line, Int32(line.count), file) != nil {
    let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      .split(whereSeparator: \.isWhitespace)
    if words.first == field[...], words.count > 1 { return (Int(words[1]) ?? 0) * 1024 }
  }
  return 0
}
