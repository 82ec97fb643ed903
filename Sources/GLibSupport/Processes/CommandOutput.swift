import CGLib

/// Runs a program to its end and returns what it wrote to standard output.
///
/// Blocks until then or until the deadline, when the program is killed. A name without a slash is looked up in
/// PATH; `variables` are added to the environment. The program's standard error is dropped.
/// - Throws: ``GLibError`` when the program cannot be started, fails, or is not done in time.
package func outputOfCommand(
  _ command: [String], variables: [String: String] = [:], _ cancellable: Cancellable
) throws(GLibError) -> String {
  let flags = G_SUBPROCESS_FLAGS_STDOUT_PIPE.rawValue | G_SUBPROCESS_FLAGS_STDERR_SILENCE.rawValue
  let launcher = g_subprocess_launcher_new(GSubprocessFlags(rawValue: flags))
  defer { g_object_unref(launcher.map(UnsafeMutableRawPointer.init)) }
  for (name, value) in variables { g_subprocess_launcher_setenv(launcher, name, value, 1) }
  var arguments = command.map { g_strdup($0) } + [nil]
  defer { for argument in arguments { g_free(argument) } }
  let spawned = try arguments.withUnsafeMutableBufferPointer { (arguments) throws(GLibError) in
    let pointer = arguments.baseAddress.map { UnsafeRawPointer($0) }
    return try withGError {
      g_subprocess_launcher_spawnv(launcher, pointer?.assumingMemoryBound(to: UnsafePointer<gchar>?.self), $0)
    }
  }
  guard let process = spawned else { throw .unexplained }
  defer { g_object_unref(UnsafeMutableRawPointer(process)) }

  var output: UnsafeMutablePointer<CChar>?
  defer { g_free(output) }
  do throws(GLibError) {
    try cancellable.enforcingDeadline { () throws(GLibError) in
      _ = try withGError {
        g_subprocess_communicate_utf8(process, nil, cancellable.pointer, &output, nil, $0)
      }
    }
  } catch {
    g_subprocess_force_exit(process)
    g_subprocess_wait(process, nil, nil)
    throw error
  }
  guard g_subprocess_get_successful(process) != 0 else { throw .unexplained }
  return output.map { String(cString: $0) } ?? ""
}
