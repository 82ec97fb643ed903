/// What a store protects tokens against, and what not, in sentences; `SECURITY.md` has the details.
struct Protection: Sendable {
  let protects: [String]
  let doesNotProtect: [String]

  private init(_ protects: [String], not doesNotProtect: [String]) {
    self.protects = protects + ["Other users of this machine cannot read tokens."]
    self.doesNotProtect = doesNotProtect + ["Root can read every token."]
  }

  /// The protection of a store, whose key comes from there if it has one.
  init(_ kind: StoreKind, key: KeyChoice?) {
    let ownPrograms = "Your programs can get every token"
    switch kind.takesKey ? key : nil {
    case .passphrase, .passphraseDescriptor:
      self.init(
        ["A copy of the disk, a backup or your home directory shows nothing without the passphrase."],
        not: ["Your programs can read the tokens of a program that has the store open."])
    case .file(let path):
      self.init(
        ["A backup or copy without \(path) shows nothing."],
        not: [
          "A copy that has \(path), such as one of the whole disk, shows every token.",
          "\(ownPrograms): they can read that file.",
        ])
    case .credential:
      self.init(
        [
          "A backup without /var/lib/systemd shows nothing; on a machine with a TPM neither does a copy of the disk."
        ],
        not: [
          "Without a TPM, a copy of the whole disk shows every token.",
          "Every program of the service can get every token.",
        ])
    case nil, .keyring:
      self.init(
        [
          "A copy of the disk, a backup or your home directory shows nothing without the keyring's password."
        ],
        not: ["\(ownPrograms) while the keyring is unlocked."])
    case .portal:
      self.init(
        ["Other sandboxed applications have other keys and cannot read this one's tokens."],
        not: ["Your programs outside of a sandbox can get every token while the keyring is unlocked."]
      )
    }
  }
}
