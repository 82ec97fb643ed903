import CGLib
import Glibc

/// A pipe whose ends no child inherits; `nil` when there can be none, `errno` says why.
package func openPipe() -> (reading: Int32, writing: Int32)? {
  var ends: [Int32] = [-1, -1]
  return g_unix_open_pipe(&ends, FD_CLOEXEC, nil) != 0 ? (ends[0], ends[1]) : nil
}
