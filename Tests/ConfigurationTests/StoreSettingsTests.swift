import Testing

@testable import Configuration

struct StoreSettingsTests {
  private func settings(
    _ address: String?, endpoints: String? = nil, prefix: String? = nil, key: KeyChoice? = nil
  ) throws -> StoreSettings {
    var settings = StoreSettings()
    settings.address = try address.map { try StoreAddress($0) }
    settings.endpoints = endpoints
    settings.prefix = prefix
    settings.key = key
    return settings
  }

  @Test func `Settings go before those of another place, one by one`() throws {
    let all = try settings("file", key: .passphrase).over(settings("keyring", prefix: "/x", key: .keyring))
    #expect((all.kind, all.key, all.prefix) == (.file, .passphrase, "/x"))
    #expect(try settings(nil).over(settings("file")).kind == .file)
    #expect(try settings(nil).kind == .keyring)
  }

  @Test func `An address that names a cluster goes before endpoints and prefix of another place`() throws {
    let other = try settings("etcd", endpoints: "https://old.example.com", prefix: "/old")
    let all = try settings("etcd+https://new.example.com/new").over(other)
    #expect(all.chosenEndpoints == ["https://new.example.com"])
    #expect(all.chosenPrefix == "/new")
  }

  @Test func `Endpoints alone change an address of another place, and etcd alone takes it whole`() throws {
    let other = try settings("etcd+https://old.example.com/old")
    let endpoints = try settings(nil, endpoints: "https://new.example.com, https://other.example.com")
      .over(other)
    #expect(endpoints.chosenEndpoints == ["https://new.example.com", "https://other.example.com"])
    #expect(endpoints.chosenPrefix == "/old")
    #expect(try settings("etcd").over(other) == other)
    #expect(try settings("etcd", prefix: "/new").over(other).chosenPrefix == "/new")
  }

  @Test func `Endpoints and prefix become one address where they fit`() throws {
    let endpoints = "https://a.example.com:2379/ https://b.example.com:2379"
    let one = try settings("etcd", endpoints: endpoints).lasting
    #expect(one.address?.description == "etcd+https://a.example.com:2379,b.example.com:2379/llavero")
    #expect((one.endpoints, one.prefix) == (nil, nil))
    let loud = try settings("etcd", endpoints: "HTTPS://a.example.com:1,https://b.example.com").lasting
    #expect(loud.address?.description == "etcd+https://a.example.com:1,b.example.com/llavero")
    #expect(try StoreAddress(loud.address?.description ?? "") == loud.address)
    for odd in [
      try settings("etcd", endpoints: "https://a.example.com http://127.0.0.1:1"),
      try settings("etcd", endpoints: "https://a.example.com", prefix: "no-slash"), try settings("etcd"),
      try settings("file"),
    ] {
      #expect(odd.lasting == odd)
    }
  }

  @Test func `A configuration gets only what its kind of store uses, and no descriptor`() throws {
    var all = try settings("file", endpoints: "https://a.example.com", key: .passphraseDescriptor(3))
    (all.etcdUser, all.etcdCA, all.etcdPassword) = ("me", "/ca.pem", .file("password"))
    var file = try settings("file", key: .passphrase)
    #expect(all.lasting == file)
    file.address = .keyring
    #expect(file.lasting.key == nil)
    all.address = .etcd(nil)
    #expect(all.lasting.etcdPassword?.argument.hasPrefix("file:/") == true)
  }

  @Test(arguments: [
    ("keyring", "keyring", true), ("keyring", "file", false), ("file", "file", true),
    ("file:/proc/self/../1", "file:/proc/1", true), ("file:/a", "file:/b", false),
    ("etcd+https://a.example.com,b.example.com/x", "etcd+https://b.example.com/x", true),
    ("etcd+https://a.example.com/x", "etcd+https://a.example.com/y", false),
    ("etcd+https://a.example.com", "etcd+https://b.example.com", false),
  ])
  func `One store is recognized in two spellings`(one: String, other: String, isSame: Bool) throws {
    #expect(try settings(one).isSameStore(as: settings(other)) == isSame)
    #expect(try settings(other).isSameStore(as: settings(one)) == isSame)
  }
}
