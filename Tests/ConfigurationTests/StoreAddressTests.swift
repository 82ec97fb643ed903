import FoundationEssentials
import Testing

@testable import Configuration

struct StoreAddressTests {
  @Test(
    arguments: [
      ("keyring", .keyring), ("file", .file(directory: nil)),
      ("file:/srv/cache", .file(directory: "/srv/cache")),
      ("file:/srv//./cache/", .file(directory: "/srv/cache")),
      (
        "etcd+https://etcd-1.example.com:2379,etcd-2.example.com:2379/ours",
        cluster("https://etcd-1.example.com:2379", "https://etcd-2.example.com:2379", "/ours")
      ),
      ("etcd+https://etcd.example.com:2379/a/b/", cluster("https://etcd.example.com:2379", "/a/b")),
      ("etcd+https://etcd.example.com", cluster("https://etcd.example.com", "/llavero")),
      ("etcd+https://etcd.example.com/", cluster("https://etcd.example.com", "/llavero")),
      ("etcd+http://[::1]:2379/x", cluster("http://[::1]:2379", "/x")),
      ("etcd+http://127.0.0.1:2379", cluster("http://127.0.0.1:2379", "/llavero")),
    ] as [(String, StoreAddress)])
  func `An address is read, and what it is written as is read as the same`(
    text: String, address: StoreAddress
  ) throws {
    #expect(try StoreAddress(text) == address)
    #expect(try StoreAddress(address.description) == address)
    #expect(StoreAddress.isAddress(text))
  }

  private static func cluster(_ endpoints: String...) -> StoreAddress {
    // The last one is the prefix.
    .etcd(StoreAddress.Cluster(endpoints: endpoints.dropLast(), prefix: endpoints.last ?? ""))
  }

  @Test(arguments: [
    ("", "expected keyring, file"), ("papyrus", "expected keyring, file"), ("keyring:x", "expected keyring"),
    ("file:", "expected a directory"), ("file:~/cache", "use $HOME"), ("etcd", "expected keyring"),
    ("etcd:", "expected keyring"),
    ("etcd+https:etcd.example.com", "expected keyring"), ("https://etcd.example.com", "expected keyring"),
    ("etcd+https://", "expected HOST:PORT"), ("etcd+https:///prefix", "expected HOST:PORT"),
    ("etcd+https://a.example.com,,b.example.com/x", "endpoint"),
    ("etcd+https://a.example.com,/x", "endpoint"),
    ("etcd+http://etcd.example.com:2379/x", "has no TLS"), ("etcd+https://a.example.com?x=y", "endpoint"),
    ("etcd+https://a.example.com:port", "endpoint"), ("etcd+https://a.example.com/a b", "prefix"),
    ("etcd+https://a.example.com/" + String(repeating: "x", count: 255), "prefix"),
  ])
  func `An invalid address says what was expected`(text: String, expected: String) {
    let error = #expect(throws: ConfigurationError.self) { try StoreAddress(text) }
    #expect(error?.reason?.contains(expected) == true, "\(error?.message ?? "")")
  }

  @Test func `A password in an address is not quoted`() {
    let error = #expect(throws: ConfigurationError.self) {
      try StoreAddress("etcd+https://me:hunter2@etcd.example.com/x")
    }
    #expect(error?.message.contains("hunter2") == false)
  }

  @Test func `A relative directory is one of the working directory`() throws {
    let directory = FileManager.default.currentDirectoryPath
    #expect(try StoreAddress("file:./cache") == .file(directory: directory + "/cache"))
  }

  @Test(arguments: ["keyring.json", "./keyring", "files", "-", "azure-cli", "/file:x", "etcd+ftp://x"])
  func `A file and another name are no store addresses`(text: String) {
    #expect(!StoreAddress.isAddress(text))
  }
}
