import Glibc

/// A small file system in memory, which ends with this object. Only root can make one.
package final class SmallDisk: Sendable {
  package let path: String
  private let directory: TemporaryDirectory?

  /// Mounts it at a path, or at a directory of its own.
  package init(at path: String? = nil, kilobytes: Int) throws {
    directory = path == nil ? try TemporaryDirectory() : nil
    self.path = path ?? directory?.path ?? ""
    mkdir(self.path, 0o700)
    try mount(flags: 0, "size=\(kilobytes)k,mode=0700")
  }

  package func remount(readOnly: Bool = false, kilobytes: Int? = nil) throws {
    try mount(flags: UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0), kilobytes.map { "size=\($0)k" })
  }

  private func mount(flags: UInt, _ options: String?) throws {
    guard Glibc.mount("tmpfs", path, "tmpfs", flags, options) == 0 else {
      throw SetUpFailure("\(path): \(String(cString: strerror(errno)))")
    }
  }

  deinit { umount2(path, Int32(MNT_DETACH)) }
}
