import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import ToolSupport

/// A command that the program for the network does.
struct Networked<Options: CommandOptions>: ParsableCommand {
  static var configuration: CommandConfiguration { Options.configuration }

  @OptionGroup var options: Options

  func run() throws {
    try NetworkProgram.takeOver([options.client.cache.store], keeping: options.inheritedDescriptor)
  }
}

/// `llavero-network`, which does what needs the network, so that `llavero` starts without an HTTP library.
enum NetworkProgram {
  private static let name = "llavero-network"

  /// Runs it in place of this process, with the same arguments. It gets the standard streams, the descriptors that it
  /// needs for the stores' keys and one that the command says it needs, and no other that this process was started with.
  /// What was read of standard input is there again.
  ///
  /// - Parameters:
  ///   - stores: Those that the command uses.
  ///   - descriptor: One that the command needs besides.
  /// - Throws: `Failure.Message` if it is not installed.
  static func takeOver(
    _ stores: [StoreOptions], keeping descriptor: Int32? = nil
  ) throws(Failure.Message) -> Never {
    Terminal.returnInput()
    let kept = stores.flatMap { $0.handOverKeys() } + [descriptor].compactMap(\.self)
    let opened = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    for descriptor in opened.compactMap({ Int32($0) }) where descriptor > STDERR_FILENO {
      _ = fcntl(descriptor, F_SETFD, kept.contains(descriptor) ? 0 : FD_CLOEXEC)
    }
    // This thread may be one that takes no signals, which the next program would inherit.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe pthread_sigmask(SIG_SETMASK, &signals, nil)
    let paths = paths
    for path in paths { unsafe execv(path, CommandLine.unsafeArgv) }
    throw Failure.Message(
      name: "not_installed",
      message: "\(name) cannot be started: \(unsafe String(cString: strerror(errno))).",
      advice: command(building: executable).map { "Build it, too: \($0)" }
        ?? "Install it as \(paths.joined(separator: " or ")).")
  }

  /// The command that builds the program beside one that SwiftPM built, as `swift run` and `swift build --product` do
  /// with the program alone that they are told; `nil` for one that is installed.
  private static func command(building executable: String) -> String? {
    let parts = executable.split(separator: "/")
    guard let build = parts.lastIndex(of: ".build"),
      let kind = parts.dropLast().last, ["debug", "release"].contains(kind)
    else { return nil }
    let package = parts[..<build].map { "/" + $0 }.joined()
    return "swift build --package-path \(shellQuoted(package)) -c \(kind) --product \(name)"
  }

  /// The file that this process runs.
  static let executable = executableFile() ?? "llavero"

  /// Where it may be: never where PATH says.
  private static var paths: [String] {
    let directory = executable.split(separator: "/").dropLast().map { "/" + $0 }
    return [
      directory.joined() + "/" + name, directory.dropLast().joined() + "/libexec/llavero/" + name,
    ]
  }
}

extension ClientOptions {
  /// Leaves the rest to the program with HTTP where tokens are borrowed.
  func handOverToBorrow() throws(Failure.Message) { _ = try cache.store.lender }
}
