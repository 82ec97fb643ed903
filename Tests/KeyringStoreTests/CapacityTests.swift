import KeyringStore
import SecretService
import TestSupport

/// Keyrings that hold much, and disks that take no more.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct CapacityTests {
  private let token = SampleToken("one", account: 0)
  private let next = SampleToken("next", account: 0)

  @Test(.fault("large item"))
  func `An item of 10 MB is kept, read and changed like any other`() async throws {
    let fixture = try await Fixture(saving: token)
    let shard = fixture.shard(token)
    let large = String(repeating: "0123456789", count: 1 << 20)
    try await fixture.store.update([shard], in: fixture.group) { contents in
      contents[shard].otherSections["Large"] = .object(["text": .string(large)])
    }
    try await fixture.cache.save(next)
    for found in [token, next] { #expect(try await fixture.otherCache().finds(found)) }
    let contents = try await fixture.otherStore().read(.some([shard]), in: fixture.group)
    #expect(contents[shard].otherSections["Large"] == .object(["text": .string(large)]))

    let worker = try await fixture.server()
    #expect(await worker.ask("save other") == "saved")
    #expect(await worker.ask("find one") == "found")
    #expect(worker.peakMemory < 400 << 20)
    #expect(await worker.finish().status == 0)
  }

  @Test(.fault("large item")) func `Items that exceed a message of the bus together are read in several`()
    async throws
  {
    let fixture = try Fixture()
    let large = #"{"Large":{"text":""# + String(repeating: "01234567", count: 1 << 20) + #""}}"#
    for account in 0..<9 {
      let shard = ShardID(homeAccountID: "\(account).t", group: fixture.group)
      try await fixture.create(fixture.attributes(shard), large)
    }
    let contents = try await fixture.store.read(.all, in: fixture.group)
    #expect(contents.documents.count == 9)
    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 0)
  }

  @Test(.fault("many items")) func `5,000 items of others hide nothing`() async throws {
    let fixture = try Fixture(startingDaemon: false)
    try fixture.makeKeyring(items: 5000)
    try fixture.keyring.startDaemon()
    try await fixture.cache.save(token)
    for cache in [fixture.cache, fixture.otherCache()] {
      #expect(try await cache.finds(token))
      #expect(try await cache.store.groups() == [fixture.group])
    }
    // Half of them have the group's name.
    let contents = try await fixture.store.read(.all, in: fixture.group)
    #expect(contents.problems.count == 2500)
    #expect(contents.problems.allSatisfy { $0.kind == .foreign })
    #expect(contents.documents.count == 2)

    let worker = try await fixture.server()
    #expect(await worker.ask("problems") == "2500")
    #expect(await worker.ask("save other") == "saved")
    #expect(await worker.ask("find one") == "found")
    #expect(worker.peakMemory < 100 << 20)
    #expect(await worker.finish().status == 0)
  }

  @Test(.fault("disk full"), .enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func `A disk that is full is an error, and what was saved stays`() async throws {
    let fixture = try Fixture(startingDaemon: false)
    let disk = try SmallDisk(at: fixture.keyring.directory + "/data/keyrings", kilobytes: 256)
    defer { withExtendedLifetime(disk) {} }
    try fixture.keyring.startDaemon()
    var saved: [SampleToken] = []
    var failure: CacheError?
    for number in 0..<400 where failure == nil {
      let token = SampleToken("t\(number)", account: number % 20)
      do throws(CacheError) {
        try await fixture.cache.save(token)
        saved.append(token)
      } catch {
        failure = error
      }
    }
    #expect(failure == CacheError(.refused, ""))
    #expect(!saved.isEmpty)
    for token in saved { #expect(try await fixture.otherCache().finds(token)) }

    fixture.keyring.killDaemon()
    try disk.remount(kilobytes: 8192)
    try fixture.keyring.startDaemon()
    for token in saved { #expect(try await fixture.otherCache().finds(token)) }
    try await fixture.cache.save(next)
    #expect(try await fixture.otherCache().finds(next))
  }

  @Test(.fault("read-only"), .enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func `A disk that is read-only is an error for writers, not for readers`() async throws {
    let fixture = try Fixture(startingDaemon: false)
    let disk = try SmallDisk(at: fixture.keyring.directory + "/data/keyrings", kilobytes: 1024)
    defer { withExtendedLifetime(disk) {} }
    try fixture.keyring.startDaemon()
    try await fixture.cache.save(token)
    try disk.remount(readOnly: true)
    await expectCacheError(.refused) { try await fixture.cache.save(next) }
    #expect(try await fixture.otherCache().finds(token))
    try disk.remount()
    try await fixture.cache.save(next)
    for found in [token, next] { #expect(try await fixture.otherCache().finds(found)) }
  }
}

extension Fixture {
  /// Makes a default collection without a password in gnome-keyring's format for such, with items of others.
  fileprivate func makeKeyring(items: Int) throws {
    let directory = keyring.directory + "/data/keyrings"
    mkdir(directory, 0o700)
    var text = "[keyring]\ndisplay-name=Many\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
    for number in 1...items {
      text += "\n[\(number)]\nitem-type=0\ndisplay-name=Item\nsecret=secret \(number)\nmtime=0\nctime=0\n"
      let group = number.isMultiple(of: 2) ? group.name : "org.example.foreign"
      let attributes = ["xdg:schema": "org.example.Other", "group": group, "number": "\(number)"]
      for (index, attribute) in attributes.enumerated() {
        text +=
          "\n[\(number):attribute\(index)]\nname=\(attribute.key)\ntype=string\nvalue=\(attribute.value)\n"
      }
    }
    try PrivateKeyring.write(text, to: directory + "/many.keyring")
    try PrivateKeyring.write("many", to: directory + "/default")
  }
}
