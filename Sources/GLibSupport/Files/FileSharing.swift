import CGLib
import Glibc

/// What the processes that use a file have in common, by the file system that it is on.
package enum FileSharing: Equatable, Sendable {
  /// All of them run on this machine: mapped memory and `flock(2)` reach each.
  case machine
  /// Some may run on others, by way of the named file system: no memory reaches them, while `flock(2)` does, as
  /// Linux passes it on to the server (NFS since 2.6.12, SMB since 5.5).
  case network(String)
  /// Some may run on others, and no lock is sure to reach them.
  case networkWithoutLocks(String)

  /// What a file system that does not say its type counts as.
  private static let unknown = networkWithoutLocks("a file system that cannot be asked for its type")

  /// The name of the file system, if it is one of a network.
  package var fileSystem: String? {
    switch self {
    case .machine: nil
    case .network(let name), .networkWithoutLocks(let name): name
    }
  }

  /// A file, or the directory that it is to be made in: the first above `path` that there is.
  package init(of path: String) {
    var path = path
    var status = statfs()
    while statfs(path, &status) != 0 {
      let code = errno
      guard [ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG].contains(code), !["/", "."].contains(path) else {
        self = .unknown
        return
      }
      path = parentDirectory(of: path)
    }
    var file = stat()
    let device = stat(path, &file) == 0 ? file.st_dev : 0
    self.init(type: UInt32(truncatingIfNeeded: status.f_type)) { MountEntry(of: device) }
  }

  /// An open file.
  init(of descriptor: Int32) {
    var (status, file) = (statfs(), stat())
    guard fstatfs(descriptor, &status) == 0 else {
      self = .unknown
      return
    }
    let device = fstat(descriptor, &file) == 0 ? file.st_dev : 0
    self.init(type: UInt32(truncatingIfNeeded: status.f_type)) { MountEntry(of: device) }
  }

  /// - Parameters:
  ///   - type: What `statfs(2)` says, with the numbers of its manual page.
  ///   - mount: How it was mounted, asked for where the type does not tell all.
  init(type: UInt32, mount: () -> MountEntry?) {
    switch type {
    case 0x6969: self.init("NFS", unless: ["nolock", "local_lock=all", "local_lock=flock"], mount)
    case 0xff53_4d42, 0xfe53_4d42: self.init("SMB", unless: ["nobrl"], mount)
    case 0x0bd0_0bd0: self.init("Lustre", unless: ["localflock", "noflock"], mount)
    case 0x4750_4653: self = .network("GPFS")
    case 0x00c3_6400: self = .network("CephFS")
    case 0x0116_1970: self = .network("GFS2")
    case 0x7461_636f: self = .network("OCFS2")
    // QEMU's server grants every lock.
    case 0x0102_1997: self = .networkWithoutLocks("9p")
    case 0x5346_414f, 0x6b41_4653: self = .networkWithoutLocks("AFS")
    case 0x1983_0326: self = .networkWithoutLocks("BeeGFS")
    case 0x7375_7245: self = .networkWithoutLocks("Coda")
    case 0x517b: self = .networkWithoutLocks("smbfs")
    case 0x564c: self = .networkWithoutLocks("NCP")
    case 0xaad7_aaea: self = .networkWithoutLocks("PanFS")
    case 0x786f_4256, 0xbacb_acbc, 0x7c7c_6673:
      self = .networkWithoutLocks("a folder of the virtual machine's host")
    case 0x6573_5546: self.init(fuse: mount()?.type ?? "fuse")
    default: self = .machine
    }
  }

  private init(_ name: String, unless options: Set<String>, _ mount: () -> MountEntry?) {
    self = options.isDisjoint(with: mount()?.options ?? []) ? .network(name) : .networkWithoutLocks(name)
  }

  /// FUSE says nothing of what is behind it, its type does. One that is not known may be anybody's folder in a network: to
  /// refuse costs whoever has it another directory, not to refuse may cost them a sign-in.
  private init(fuse type: String) {
    switch type {
    // On a disk of this machine.
    case "fuseblk", "fuse.ntfs-3g", "fuse.exfat": self = .machine
    // Their locks reach all of their clients.
    case "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.juicefs": self = .network(type)
    // They lie over a directory that they do not name. Locks reach those who use it on this machine.
    case "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "fuse.securefs", "fuse.fuse-overlayfs",
      "fuse.mergerfs",
      "fuse.unionfs":
      self = .network(type)
    default: self = .networkWithoutLocks(type)
    }
  }
}

/// A line of `/proc/self/mountinfo` (proc(5)).
struct MountEntry: Equatable {
  /// With the subtype, such as `fuse.sshfs`.
  let type: String
  let options: Set<String>

  init(type: String, options: Set<String>) {
    self.type = type
    self.options = options
  }

  /// The last mount of a device; `nil` where there is none, or nobody says.
  init?(of device: dev_t) {
    let descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let text = readAll(descriptor, limit: 1 << 24) else { return nil }
    self.init(
      of: "\(gnu_dev_major(device)):\(gnu_dev_minor(device))", in: String(decoding: text, as: UTF8.self))
  }

  /// The last mount of a device in the file's text.
  init?(of device: String, in text: String) {
    let lines = text.split(separator: "\n").filter { line in
      line.split(separator: " ", maxSplits: 3).dropFirst(2).first.map(String.init) == device
    }
    // What the file system says of itself comes after a dash, behind fields of which there may be any number.
    guard let fields = lines.last?.split(separator: " "), let dash = fields.firstIndex(of: "-"),
      fields.indices.contains(dash + 3)
    else { return nil }
    type = String(fields[dash + 1])
    options = Set((fields[5].split(separator: ",") + fields[dash + 3].split(separator: ",")).map(String.init))
  }
}
