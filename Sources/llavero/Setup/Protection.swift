extension StoreSettings {
  /// What the store protects tokens against, and what not, in sentences; `SECURITY.md` has the details.
  var protection: (protects: [String], doesNotProtect: [String]) {
    let ownPrograms = "Your programs can get every token"
    let (protects, doesNotProtect): ([String], [String]) =
      switch kind.takesKey ? key : nil {
      case .passphrase, .passphraseDescriptor:
        (
          ["A copy of the disk, a backup or your home directory shows nothing without the passphrase."],
          ["Your programs can read the tokens of a program that has the store open."]
        )
      case .file(let path):
        (
          ["A backup or copy without \(path) shows nothing."],
          [
            "A copy that has \(path), such as one of the whole disk, shows every token.",
            "\(ownPrograms): they can read that file.",
          ]
        )
      case .credential:
        (
          [
            "A backup without /var/lib/systemd shows nothing; on a machine with a TPM neither does a copy of the disk."
          ],
          [
            "Without a TPM, a copy of the whole disk shows every token.",
            "Every program of the service can get every token.",
          ]
        )
      case nil, .keyring:
        (
          [
            "A copy of the disk, a backup or your home directory shows nothing without the keyring's password."
          ],
          ["\(ownPrograms) while the keyring is unlocked."]
        )
      case .portal:
        (
          ["Other sandboxed applications have other keys and cannot read this one's tokens."],
          ["Your programs outside of a sandbox can get every token while the keyring is unlocked."]
        )
      }
    return (
      protects + ["Other users of this machine cannot read tokens."],
      doesNotProtect + ["Root can read every token."]
    )
  }
}
