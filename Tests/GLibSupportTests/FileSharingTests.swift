import TestSupport

@testable import GLibSupport

struct FileSharingTests {
  private func sharing(_ type: UInt32, _ kind: String = "", _ options: Set<String> = []) -> FileSharing {
    FileSharing(type: type) { MountEntry(type: kind, options: options) }
  }

  @Test func `Disk and memory file systems belong to this machine`() throws {
    // ext4, XFS, Btrfs, tmpfs, overlay, ZFS, eCryptfs, F2FS
    let types: [UInt32] = [
      0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf15f, 0xf2f5_2010,
    ]
    for type in types { #expect(sharing(type) == .machine) }
    for type in ["fuseblk", "fuse.ntfs-3g"] { #expect(sharing(0x6573_5546, type) == .machine) }
    let directory = try TemporaryDirectory()
    #expect(FileSharing(of: directory.path) == .machine)
    #expect(FileSharing(of: directory.path + "/a/b/c") == .machine)
    #expect(FileSharing(of: "/nowhere/at/all") == .machine)
  }

  @Test(.fault("unknown fs"))
  func `A file system of unknown type counts as one without locks`() {
    let unknown = FileSharing.networkWithoutLocks("a file system of unknown type")
    #expect(FileSharing(of: Int32(-1)) == unknown)
    #expect(FileSharing(type: 0x1234_5678) { nil } == unknown)
    for type in ["9p", "afs", "beegfs", "coda", "vboxsf", "newfs"] {
      #expect(sharing(0x1234_5678, type) == .networkWithoutLocks(type))
    }
  }

  @Test(.fault("no net locks"))
  func `Network file systems are recognized by type, and their locks by the mount options`() {
    #expect(sharing(0x6969, "nfs4", ["vers=4.2", "local_lock=none"]) == .network("NFS"))
    for option in ["nolock", "local_lock=all", "local_lock=flock"] {
      #expect(sharing(0x6969, "nfs", ["vers=3", option]) == .networkWithoutLocks("NFS"))
    }
    #expect(sharing(0x6969, "nfs", ["local_lock=posix"]) == .network("NFS"))
    for type in [0xff53_4d42, 0xfe53_4d42] as [UInt32] {
      #expect(sharing(type, "cifs", ["vers=3.1.1"]) == .network("SMB"))
      #expect(sharing(type, "cifs", ["nobrl"]) == .networkWithoutLocks("SMB"))
    }
    #expect(sharing(0x0bd0_0bd0, "lustre", ["flock"]) == .network("Lustre"))
    #expect(sharing(0x0bd0_0bd0, "lustre", ["localflock"]) == .networkWithoutLocks("Lustre"))
    for (type, name) in [(0x4750_4653, "gpfs"), (0x00c3_6400, "ceph"), (0x0116_1970, "gfs2")]
      as [(UInt32, String)]
    {
      #expect(sharing(type, name) == .network(name))
    }
    #expect(FileSharing(type: 0x6969) { nil } == .network("NFS"))
  }

  @Test(.fault("no net locks"))
  func `A FUSE file system is judged by its subtype, and an unknown one has no locks`() {
    for type in ["fuse.sshfs", "fuse.rclone", "fuse", "virtiofs", "fuse.unknown"] {
      #expect(sharing(0x6573_5546, type) == .networkWithoutLocks(type))
    }
    for type in ["fuse.glusterfs", "fuse.ceph-fuse", "fuse.gocryptfs"] {
      #expect(sharing(0x6573_5546, type) == .network(type))
    }
  }

  @Test func `The last mount of a device counts, with its options`() {
    let text = """
      22 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
      40 27 0:39 / /home rw,relatime shared:1 master:2 - nfs4 server:/home rw,vers=4.2,local_lock=none
      41 27 0:39 / /home\\040two rw,noatime - nfs server:/home rw,vers=3,nolock
      42 27 0:390 / /mnt rw - fuse.sshfs host: rw
      broken
      """
    let options: Set<String> = ["rw", "noatime", "vers=3", "nolock"]
    #expect(MountEntry(of: "0:39", in: text) == MountEntry(type: "nfs", options: options))
    #expect(MountEntry(of: "0:390", in: text)?.type == "fuse.sshfs")
    #expect(MountEntry(of: "0:3", in: text) == nil)
    #expect(MountEntry(of: "0:39", in: "40 27 0:39 / /home rw - nfs4") == nil)
  }
}
