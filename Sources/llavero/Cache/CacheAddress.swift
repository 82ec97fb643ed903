import ArgumentParser
import MSALExtensionsStore

/// What `import` reads and `export` writes.
enum CacheAddress {
  /// A file, or `-` for standard input or output.
  case file(String)
  /// Another program's cache.
  case peer(PeerCache)
  case store(StoreAddress)

  /// Names and forms of addresses that a completion offers beside files, without a look at the machine.
  static var names: [String] {
    let caches = PeerRegistry(environment: [:]).caches.map(\.name).filter { !$0.contains(":") }
    return caches + PeerOptions.libraries + Completion.beginnings(of: StoreAddress.forms)
  }

  /// Reads an address of the command line. A file named like a store or a program's cache is `./NAME`.
  ///
  /// - Throws: `ValidationError` for an invalid address, and for options that do not belong to it.
  init<Side: CopySide>(_ text: String, _ peer: PeerOptions, _ side: SideOptions<Side>) throws {
    if try peer.isNamed(by: text) {
      self = .peer(try peer.peer(named: text))
    } else if StoreAddress.isAddress(text) {
      do {
        self = .store(try StoreAddress(text))
        return
      } catch {
        throw ValidationError("Invalid address of a store: \(error.reason ?? error.message).")
      }
    } else {
      self = .file(text)
    }
    guard side.isEmpty else {
      throw ValidationError("--\(Side.name)-key and the like are for the address of a store.")
    }
  }
}

/// The direction of the other store's options.
protocol CopySide: Sendable {
  static var name: String { get }
}

enum SourceSide: CopySide { static let name = "from" }
enum TargetSide: CopySide { static let name = "to" }

/// The options of the store that an address names, where they differ from those of the own store.
struct SideOptions<Side: CopySide>: ParsableArguments {
  @Option(
    name: .customLong(Side.name + "-key"),
    help: ArgumentHelp("Key (else --key).", valueName: "key"),
    completion: .values(of: KeyChoice.forms), transform: KeyChoice.init(_:))
  var key: KeyChoice?

  @Option(
    name: .customLong(Side.name + "-collection"),
    help: ArgumentHelp("Collection (else --collection).", valueName: "name"),
    transform: Setting.collection.checked)
  var collection: String?

  @Option(
    name: .customLong(Side.name + "-etcd-user"),
    help: ArgumentHelp("etcd user (else --etcd-user).", valueName: "user"),
    transform: Setting.etcdUser.checked)
  var etcdUser: String?

  @Option(
    name: .customLong(Side.name + "-etcd-password"),
    help: ArgumentHelp("Password (else --etcd-password).", valueName: "password"),
    completion: .values(of: KeyChoice.passwordForms),
    transform: KeyChoice.init(password:))
  var etcdPassword: KeyChoice?

  fileprivate var isEmpty: Bool {
    key == nil && collection == nil && etcdUser == nil && etcdPassword == nil
  }

  /// Returns the options of the store at an address.
  func store(at address: StoreAddress, beside own: StoreOptions) -> StoreOptions {
    var options = own
    options.side = Side.name
    options.address = address
    options.key = key ?? own.key
    options.collection = collection ?? own.collection
    options.etcdUser = etcdUser ?? own.etcdUser
    options.etcdPassword = etcdPassword ?? own.etcdPassword
    return options
  }
}
