/// What a store keeps tokens from, and what not, in sentences for people; `SECURITY.md` says it at length.
struct Protection: Sendable {
  let protects: [String]
  let doesNotProtect: [String]

  private init(_ protects: [String], not doesNotProtect: [String]) {
    self.protects = protects + ["Other users of this machine see no token."]
    self.doesNotProtect = doesNotProtect + ["Root sees every token."]
  }

  /// - Parameters:
  ///   - kind: The store.
  ///   - key: Where its key comes from, if it has one.
  init(_ kind: StoreKind, key: KeyChoice?) {
    let ownPrograms = "Programs of yours can ask for every token"
    switch kind.takesKey ? key : nil {
    case .passphrase, .passphraseDescriptor:
      self.init(
        ["Whoever gets the disk, a backup or your home directory sees nothing without the passphrase."],
        not: ["Programs of yours can see the tokens of a program that has the store open."])
    case .file(let path):
      self.init(
        ["Whoever gets a backup or a copy without \(path) sees nothing."],
        not: [
          "Whoever gets the tokens together with \(path), as with the whole disk, has them all.",
          "\(ownPrograms): they can read that file.",
        ])
    case .credential:
      self.init(
        [
          "Whoever gets a backup without /var/lib/systemd sees nothing, and on a machine with a TPM neither does "
            + "who gets the disk."
        ],
        not: [
          "Without a TPM, whoever gets the whole disk has every token.",
          "Every program of the service can ask for every token.",
        ])
    case nil, .keyring:
      self.init(
        [
          "Whoever gets the disk, a backup or your home directory sees nothing without the keyring's password."
        ],
        not: ["\(ownPrograms) while the keyring is unlocked."])
    case .portal:
      self.init(
        ["Other sandboxed applications have other keys, and see nothing of this one's."],
        not: ["Programs of yours outside of a sandbox can ask for every token while the keyring is unlocked."]
      )
    }
  }
}

extension StoreKind {
  /// Whether its tokens are sealed with a key that is chosen apart.
  var takesKey: Bool { self != .keyring }
}
