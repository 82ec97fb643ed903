import CGLib
import Glibc

/// Which processes may use a file, by the type of its file system.
package enum FileSharing: Equatable, Sendable {
  /// Only processes of this machine: all of them see mapped memory and `flock(2)`.
  case machine
  /// Also processes of other machines, by the named file system: they do not see mapped memory, but they see
  /// `flock(2)`, which Linux passes on to the server (NFS since 2.6.12, SMB since 5.5).
  case network(String)
  /// Also processes of other machines, which may not see any lock.
  case networkWithoutLocks(String)

  /// For a file system whose type cannot be read.
  private static let unknown = networkWithoutLocks("a file system of unknown type")

  /// The name of a network file system; `nil` for a local one.
  package var fileSystem: String? {
    switch self {
    case .machine: nil
    case .network(let name), .networkWithoutLocks(let name): name
    }
  }

  /// The sharing of a file or, if it does not exist, of the nearest directory above it.
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

  /// The sharing of an open file.
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
  ///   - type: The type as `statfs(2)` reports it; its manual page has the numbers.
  ///   - mount: Reads how it was mounted; called only for what is not on this machine's disks or in its memory.
  init(type: UInt32, mount: () -> MountEntry?) {
    switch type {
    // ext2 to ext4, XFS, Btrfs, ZFS, F2FS, bcachefs, JFS, ReiserFS, NILFS, UBIFS, JFFS2.
    case 0xef53, 0x5846_5342, 0x9123_683e, 0x2fc1_2fc1, 0xf2f5_2010, 0xca45_1a4e, 0x3153_464a, 0x5265_4973,
      0x3434, 0x2405_1905, 0x72b6,
      // FAT, exFAT, NTFS, HFS+.
      0x4d44, 0x2011_bab0, 0x5346_544e, 0x7366_746e, 0x482b,
      // tmpfs, ramfs; layers over others: overlay, aufs, eCryptfs.
      0x0102_1994, 0x8584_58f6, 0x794c_7630, 0x6175_6673, 0xf15f:
      self = .machine
    case 0x6969: self.init("NFS", unless: ["nolock", "local_lock=all", "local_lock=flock"], mount)
    case 0xff53_4d42, 0xfe53_4d42: self.init("SMB", unless: ["nobrl"], mount)
    case 0x0bd0_0bd0: self.init("Lustre", unless: ["localflock", "noflock"], mount)
    default: self.init(mounted: mount()?.type)
    }
  }

  private init(_ name: String, unless options: Set<String>, _ mount: () -> MountEntry?) {
    self = options.isDisjoint(with: mount()?.options ?? []) ? .network(name) : .networkWithoutLocks(name)
  }

  /// What is not known, such as most of FUSE, may be on a network: refusing it costs the user another directory, accepting
  /// it may cost a sign-in.
  private init(mounted type: String?) {
    guard let type else {
      self = .unknown
      return
    }
    switch type {
    // On a disk of this machine.
    case "fuseblk", "fuse.ntfs-3g", "fuse.exfat": self = .machine
    // Their locks reach all of their clients.
    case "gpfs", "ceph", "gfs2", "ocfs2", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.juicefs",
      // Layers over a directory that they do not name. Processes of this machine see the locks.
      "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "fuse.securefs", "fuse.fuse-overlayfs", "fuse.mergerfs",
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
}

extension MountEntry {
  /// The last mount of a device; `nil` without a mount, or if the mounts cannot be read.
  init?(of device: dev_t) {
    guard let text = try? readFile("/proc/self/mountinfo", limit: 1 << 24) else { return nil }
    self.init(
      of: "\(gnu_dev_major(device)):\(gnu_dev_minor(device))", in: String(decoding: text, as: UTF8.self))
  }

  /// The last mount of a device in the file's text.
  init?(of device: String, in text: String) {
    let lines = text.split(separator: "\n").filter { line in
      line.split(separator: " ", maxSplits: 3).dropFirst(2).first.map(String.init) == device
    }
    // The type and its options follow a dash, after any number of optional fields.
    guard let fields = lines.last?.split(separator: " "), let dash = fields.firstIndex(of: "-"),
      fields.indices.contains(dash + 3)
    else { return nil }
    type = String(fields[dash + 1])
    options = Set((fields[5].split(separator: ",") + fields[dash + 3].split(separator: ",")).map(String.init))
  }
}
