extension CacheDocument {
  /// Removes every credential of these sections that a condition holds for.
  ///
  /// - Returns: What was removed.
  @discardableResult
  public mutating func removeCredentials(
    in sections: [CredentialSection] = CredentialSection.allCases, where isRemoved: (Credential) -> Bool
  ) -> [Credential] {
    var removed: [Credential] = []
    for section in sections {
      let matching = self[section].filter { isRemoved($0.value) }
      removed += matching.sorted { $0.key < $1.key }.map(\.value)
      for key in matching.keys { self[section][key] = nil }
    }
    return removed
  }
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Puts a record under a key. If a record of something else is there, as a key of another library's making
  /// may say something else than the fields, the one whose fields make the key gets it, else the one that is
  /// there; the other goes under its own key or the next that is free and that `isTaken` does not keep for another.
  mutating func put(_ record: Value, at key: String, isTaken: (String) -> Bool = { _ in false }) {
    guard let other = self[key], other != record else {
      self[key] = record
      return
    }
    let isRightful = record.serializedKey == key && other.serializedKey != key
    let (stays, moves) = isRightful ? (record, other) : (other, record)
    self[key] = stays
    self[freeKey(moves.serializedKey, isTaken: isTaken)] = moves
  }
}

extension Dictionary where Key == String {
  /// A key, with as many dashes at its end as it takes to be free.
  func freeKey(_ key: String, isTaken: (String) -> Bool = { _ in false }) -> String {
    var free = key
    while self[free] != nil || isTaken(free) { free += "-" }
    return free
  }
}
