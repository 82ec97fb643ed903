package import TokenCache

/// What is wrong with a sealed part of a store.
///
/// It is the `underlyingError` of the `CacheError`, whose code is one of `damaged`, `newerVersion`, `wrongKey` and
/// `rolledBack`.
public enum SealError: Error, Equatable, Sendable {
  /// It does not begin as such a file does.
  case notSealed
  /// It is shorter or longer than it says; sizes are in bytes.
  case wrongLength(size: Int, expected: Int)
  /// Bytes of the file changed by accident: its check sum is not that of its contents.
  case corrupt
  /// It was changed on purpose: its check sum is right, its seal is not.
  case forged
  /// It was sealed as the file of another shard or group.
  case misplaced
  /// It is of a version of the format that this program does not know.
  case newerVersion(UInt32)
  /// The `keys` file, which is sound, does not hold the key that it was sealed with.
  case unknownKey
  /// An older version of it was put back, as the group's manifest shows.
  case rolledBack
  /// The group's manifest is older than the file.
  case olderManifest
  /// The manifest names it, and it is gone.
  case missing
  /// It was unsealed, and is no document.
  case unreadable(String)
  /// Its header, which is not sealed, is invalid.
  case malformed(String)
  /// The key that was given does not open the `keys` file, which is sound.
  case wrongKey
  /// The `keys` file wants a key of another kind.
  case otherKeySource(KeySource.Kind)
  /// There is not enough memory to try a passphrase; the file is as it was.
  case outOfMemory(mebibytes: Int)
}

extension SealError: CustomStringConvertible {
  /// The end of a sentence that begins with the name of the file.
  public var description: String {
    switch self {
    case .notSealed: "is no sealed file of Llavero's."
    case .wrongLength(let size, let expected) where size < expected:
      "was cut off: \(size) of \(expected) bytes are there."
    case .wrongLength(let size, let expected): "has \(size) bytes instead of \(expected)."
    case .corrupt: "was damaged: its check sum does not match its contents."
    case .forged: "was changed by something that does not have the key."
    case .misplaced: "is the file of another shard or group, put in this place; it may open in its own."
    case .newerVersion(let version):
      "has version \(version); this program knows version \(SealedFormat.version)."
    case .unknownKey: "was sealed with a key that is not among the store's \"keys\"."
    case .rolledBack: "is an older version of itself that was put back; it opens with the store's key."
    case .olderManifest:
      "is newer than the group's manifest, of which an older version was put back; it opens with the store's key."
    case .missing: "was removed by something other than Llavero."
    case .unreadable(let reason): "opens with the store's key and holds nothing of use: \(reason)"
    case .malformed(let reason): "has a header that makes no sense: \(reason)"
    case .wrongKey: "cannot be opened: the passphrase or key is not the one it was sealed with."
    case .otherKeySource(.passphrase): "cannot be opened: its key is a passphrase."
    case .otherKeySource(.key): "cannot be opened: its key is in a key file or a systemd credential."
    case .otherKeySource(.keyring): "cannot be opened: its key is in the keyring."
    case .otherKeySource(.portal): "cannot be opened: its key is an application's own (the Secret portal's)."
    case .outOfMemory(let size):
      "cannot be opened: a passphrase takes \(size) MiB of memory to try, and there is less."
    }
  }

  package var code: CacheError.Code {
    switch self {
    case .notSealed, .wrongLength, .corrupt, .forged, .misplaced, .missing, .unreadable, .malformed: .damaged
    case .newerVersion: .newerVersion
    case .unknownKey, .wrongKey, .otherKeySource: .wrongKey
    case .rolledBack, .olderManifest: .rolledBack
    case .outOfMemory: .unavailable
    }
  }

  /// What a file's being so is to the store's users; `isManifest` tells that of a shard from that of all.
  package func problem(isManifest: Bool) -> (StoreProblem.Kind, StoreProblem.Remedy) {
    switch code {
    case .newerVersion: (.newerVersion, .none)
    case .rolledBack: (.rolledBack, self == .olderManifest ? .acceptance : .removal)
    case .damaged where isManifest: (.damaged, .acceptance)
    case .damaged: self == .missing ? (.missing, .acceptance) : (.damaged, .removal)
    default: (.wrongKey, .none)
    }
  }

  private var advice: String? {
    switch self {
    case .misplaced:
      "It was left as it is. Put it back where it was."
    case .notSealed, .wrongLength, .corrupt, .forged, .unreadable, .malformed, .missing:
      "It was left as it is. Restore it from a backup of the whole store, or have what cannot be read removed."
    case .newerVersion: "It was left as it is. Update this program."
    case .unknownKey:
      "Restore the files of the store from one backup; no key that is known opens this one any more."
    case .rolledBack, .olderManifest:
      "Find out who did that: tokens that were replaced or signed out may be in it."
    case .wrongKey: "Give the one that it was last sealed with: after a change of keys, the new one."
    case .otherKeySource: nil
    case .outOfMemory:
      "Nothing was changed. Close other programs or raise the limit (\"ulimit -v\"), then try again."
    }
  }

  /// The error of a part of the store; `remedy` is what a removal of damage does about it.
  package func cacheError(
    of name: String, advice: String? = nil, remedy: StoreProblem.Remedy = .none
  ) -> CacheError {
    CacheError(
      code, "\(name) \(description)", advice: advice ?? self.advice, underlyingError: self, remedy: remedy)
  }
}
