import Glibc

/// Runs a program to its end and returns what it wrote to standard output.
///
/// Blocks until then or until the deadline, when the program is killed. A name without a slash is looked up in
/// PATH; `variables` are added to the environment. `input` is its standard input and `errors` its standard error, which
/// is dropped unless that is named.
/// - Throws: ``GLibError`` when the program cannot be started, fails, or is not done in time.
package func outputOfCommand(
  _ command: [String], variables: [String: String] = [:], input: Int32? = nil, errors: Int32? = nil,
  _ cancellable: Cancellable
) throws(GLibError) -> String {
  guard let pipe = openPipe() else { throw .outOfDescriptors }
  defer { close(pipe.reading) }
  let started = Result { () throws(GLibError) in
    try ChildProcess(
      command, environment: processEnvironment().merging(variables) { $1 }, input: input,
      output: pipe.writing, errors: errors)
  }
  close(pipe.writing)
  let process = try started.get()
  var output: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  var isOver = false
  while !isOver {
    var event = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, cancellable.remainingMilliseconds) > 0 || errno == EINTR,
      !cancellable.isPastDeadline
    else {
      process.kill()
      _ = process.wait()
      throw .unexplained
    }
    let count = event.revents == 0 ? -1 : read(pipe.reading, &buffer, buffer.count)
    output += buffer.prefix(max(count, 0))
    isOver = count == 0
  }
  guard process.wait(cancellable) == 0 else { throw .unexplained }
  return String(decoding: output, as: UTF8.self)
}
