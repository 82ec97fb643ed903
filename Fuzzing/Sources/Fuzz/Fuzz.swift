import FoundationEssentials

/// Gives an input of libFuzzer, whose `main` the process has, to the target that `FUZZ_TARGET` names.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(start: UnsafePointer<UInt8>?, count: Int) -> Int32 {
  target(Data(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

#if !LIBFUZZER
  /// Gives the target what is in the files that are named, as libFuzzer does with such arguments.
  @main private enum Replay {
    static func main() throws {
      for path in CommandLine.arguments.dropFirst() { target(try Data(contentsOf: URL(filePath: path))) }
    }
  }
#endif

/// What is fed with inputs; each checks a parser of foreign bytes, and traps where a promise is broken.
private let targets: [String: @Sendable (Data) -> Void] = [
  "shard": fuzzShard,
  "import": fuzzImport,
  "merge": fuzzMerge,
  "sizes": fuzzSizes,
  "sealed-file": fuzzSealedFile,
  "token-response": fuzzTokenResponse,
  "discovery": fuzzDiscovery,
  "challenge": fuzzChallenge,
  "authority": fuzzAuthority,
  "redirect": fuzzRedirect,
  "encoding": fuzzEncoding,
]

private let target: @Sendable (Data) -> Void = {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  guard let target = targets[name] else {
    fatalError("FUZZ_TARGET must be one of: \(targets.keys.sorted().joined(separator: " "))")
  }
  return target
}()

/// Traps, also in an optimised build, so that libFuzzer keeps the input.
func require(_ condition: Bool, _ promise: @autoclosure () -> String) {
  if !condition { fatalError(promise()) }
}
