import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct CoreFileTests {
  @Test(.fault("tool crashes"), arguments: [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV])
  func `A crash leaves no core file, and prints no memory`(signal: Int32) throws {
    let tool = try Tool()
    let (input, errors) = (try Pipe(), try Pipe())
    // Swift's own report of crashes is on where there is a toolchain; a sanitizer is not to catch the signal.
    let child = try tool.start(
      tool.inGroup(["import", "-"]), input: input, errors: errors,
      with: [
        "SWIFT_BACKTRACE": "enable=yes", "ASAN_OPTIONS": "handle_segv=0", "TSAN_OPTIONS": "handle_segv=0",
      ])
    // More than a pipe holds: when it is written, the tool has begun to read.
    let part = [UInt8](repeating: UInt8(ascii: " "), count: 4096)
    for _ in 0..<40 { #expect(write(input.writing, part, part.count) == part.count) }
    let limits = try String(
      decoding: Data(contentsOf: URL(filePath: "/proc/\(child.pid)/limits")), as: UTF8.self)
    let limit = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
    // 1 keeps cores from files and from programs that collect them.
    #expect(limit.split(separator: " ").suffix(3) == ["1", "1", "bytes"])
    child.signal(signal)
    #expect(child.wait() == 128 + signal)
    #expect(errors.readLine().isEmpty)
  }
}
