import EncryptedFileStore
import TestSupport

/// Disks that are full or read-only.
@Suite(
  .serialized, .timeLimit(.minutes(20)), .enabled(if: geteuid() == 0, "only root can mount a small disk"))
struct DiskTests {
  private let old = SampleToken("old", account: 1)
  private let new = SampleToken("new", account: 1)

  @Test func `A full disk is named, and the old file stays`() async throws {
    let disk = try SmallDisk(kilobytes: 256)
    let fixture = try Fixture(in: disk.path)
    try await fixture.cache.save(old)
    let before = try fixture.files()
    let filler = disk.path + "/filler"
    // A child of another test that kept it open would keep the disk full.
    let file = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let zeros = [UInt8](repeating: 0, count: 4096)
    var size = 0
    while write(file, zeros, zeros.count) > 0 { size += zeros.count }

    let group = try KeychainGroup("org.example.second")
    await expectCacheError(.unavailable) {
      try await TokenCacheAccessor(store: fixture.store, group: group).save(new)
    }
    // A save takes the room of two files more. New keys, for which one block is enough, seal no file again in less
    // than that of one.
    for blocks in 0..<4 {
      #expect(ftruncate(file, size - blocks * zeros.count) == 0)
      let error = await expectCacheError(.unavailable) { try await fixture.cache.save(new) }
      #expect(error?.message.contains("No space left on device") == true)
      #expect(error?.advice?.contains("df -h") == true)
      if blocks < 2 {
        await expectCacheError(.unavailable) { _ = try await fixture.store.rekey() }
      }
      #expect(try fixture.files() == before)
      #expect(try await fixture.otherCache().finds(old))
    }
    // Also where a child that another test is starting keeps it open.
    #expect(ftruncate(file, 0) == 0)
    close(file)

    unlink(filler)
    try await fixture.cache.save(new)
    #expect(try await fixture.otherCache().finds(new))
  }

  @Test func `A read-only disk can be read, and a write says why not`() async throws {
    let disk = try SmallDisk(kilobytes: 256)
    let fixture = try Fixture(in: disk.path)
    // By a process that is gone afterwards: while a lock file is mapped, the disk stays writable.
    let saved = SampleToken("saved-0", account: 0)
    #expect(try await fixture.worker("save", fixture.group.name, "saved", "1", "1").finish().status == 0)
    try disk.remount(readOnly: true)
    #expect(try await fixture.otherCache().finds(saved))
    let error = await expectCacheError(.unavailable) { try await fixture.otherCache().save(new) }
    #expect(error?.message.contains("Read-only file system") == true)
    #expect(error?.advice?.contains("XDG_DATA_HOME") == true)
    try disk.remount(readOnly: false)
    try await fixture.otherCache().save(new)
    #expect(try await fixture.cache.finds(new))
  }
}
