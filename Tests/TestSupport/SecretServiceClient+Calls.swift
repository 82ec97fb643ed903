package import SecretService

/// Single calls of a client, as tests make them.
extension SecretServiceClient {
  package func collection(named name: String? = nil) async throws(SecretServiceError) -> CollectionProperties
  {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce(connection.collection(named: name, cancellable))
    }
  }

  package func collections() async throws(SecretServiceError) -> [CollectionProperties] {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce(connection.collections(cancellable))
    }
  }

  package func isLocked(_ collection: ObjectPath) async throws(SecretServiceError) -> Bool {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.isLocked(collection, cancellable)
    }
  }

  package func unlock(
    _ collection: ObjectPath, prompt: PromptPermission = .denied
  ) async throws(SecretServiceError) {
    try await perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
      try connection.unlock(collection, prompt: prompt != .denied, cancellable)
    }
  }

  package func search(
    _ attributes: [String: String], in collection: ObjectPath? = nil
  ) async throws(SecretServiceError) -> FoundItems {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce(connection.search(attributes, in: collection, cancellable))
    }
  }

  package func secrets(of items: [ObjectPath]) async throws(SecretServiceError) -> [ObjectPath: SecretBytes] {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.secrets(of: items, cancellable)
    }
  }

  package func item(_ path: ObjectPath) async throws(SecretServiceError) -> ItemProperties {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      guard let item = try connection.item(path, cancellable) else { throw .noSuchItem }
      return item
    }
  }

  package func create(
    label: String, attributes: [String: String], secret: SecretBytes, in collection: ObjectPath,
    prompt: PromptPermission = .denied
  ) async throws(SecretServiceError) -> ObjectPath {
    try await perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
      try connection.create(
        label: label, attributes: attributes, secret: secret, in: collection, prompt: prompt != .denied,
        cancellable)
    }
  }

  @discardableResult
  package func setSecret(
    _ secret: SecretBytes, of item: ObjectPath
  ) async throws(SecretServiceError) -> ObjectPath {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.setSecret(item, secret, cancellable)
    }
  }

  package func delete(
    _ item: ObjectPath, prompt: PromptPermission = .denied
  ) async throws(SecretServiceError) {
    try await perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
      guard try connection.delete(item, prompt: prompt != .denied, cancellable) else { throw .noSuchItem }
    }
  }
}
