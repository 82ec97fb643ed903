import FoundationEssentials
import GLibSupport
import SecretService
import StoreSupport
import TokenCache

/// Reads and writes another program's cache, on a thread that may block.
struct PeerJob {
  private let peer: PeerCache
  private let access: KeyringAccess
  private let cancellable: Cancellable

  init(_ peer: PeerCache, _ access: KeyringAccess, _ cancellable: Cancellable) {
    self.peer = peer
    self.access = access
    self.cancellable = cancellable
  }

  /// - Throws: ``CacheError/Code/damaged`` when what is there is no cache.
  func read() throws(CacheError) -> PeerContents {
    switch peer.place {
    case .file(let path):
      guard var payload = try FileContents.read(path) else { return .none }
      defer { payload.resetBytes(in: payload.startIndex..<payload.endIndex) }
      return try explaining { () throws(CacheError) in try PeerContents(file: payload) }
    case .item:
      let items = try calling(collection: access.collection) { () throws(SecretServiceError) in
        try item().found()
      }
      return try explaining { () throws(CacheError) in try PeerContents(items: items) }
    }
  }

  /// The bytes to write; too many are refused before anything is sent.
  func payload(of document: CacheDocument, encoding: PayloadEncoding) throws(CacheError) -> SecretBytes {
    var payload = try encoding.encode(document)
    defer { payload.resetBytes(in: payload.startIndex..<payload.endIndex) }
    return unsafe payload.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
  }

  func write(_ payload: SecretBytes, over contents: PeerContents) throws(CacheError) {
    switch peer.place {
    case .file(let path):
      var data = unsafe payload.withUnsafeBytes { unsafe Data($0) }
      defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
      try FileContents.replace(path, with: data)
      try FileContents.touch(.init(path))
    case .item:
      try calling(collection: access.collection) { () throws(SecretServiceError) in
        try item().write(payload, over: contents.paths)
      }
    }
  }

  /// - Returns: How many items or files there were.
  func remove() throws(CacheError) -> Int {
    switch peer.place {
    case .file(let path):
      guard try FileContents.read(path) != nil else { return 0 }
      try FileContents.remove(path)
      return 1
    case .item:
      return try calling(collection: access.collection) { () throws(SecretServiceError) in
        let paths = try item().found().map(\.path)
        try item().delete(paths)
        return paths.count
      }
    }
  }

  private func item() throws(SecretServiceError) -> PeerItem {
    guard case .item(let label, let attributes) = peer.place else { throw .noSuchItem }
    return try PeerItem(label: label, attributes: attributes, access, cancellable)
  }

  private func explaining<T>(_ body: () throws(CacheError) -> T) throws(CacheError) -> T {
    do {
      return try body()
    } catch {
      guard error.code == .damaged else { throw error }
      throw CacheError(
        .damaged, "What \(peer.users) keeps in \(peer.place.description) cannot be used. \(error.message)",
        advice: error.advice ?? "It was left as it is. Let the program that wrote it mend or remove it.",
        underlyingError: error)
    }
  }
}

extension PeerCache.Place {
  /// Where it is, for people.
  package var description: String {
    switch self {
    case .file(let path): path
    case .item(_, let attributes): "the keyring item with the schema \(attributes[PeerCache.schema] ?? "")"
    }
  }
}
