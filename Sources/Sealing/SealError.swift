public import FoundationEssentials
import GLibSupport
package import TokenCache

/// A problem with a sealed part of a store.
///
/// It is the `underlyingError` of a `CacheError` with the code `damaged`, `newerVersion`, `wrongKey` or `rolledBack`.
public enum SealError: LocalizedError, Equatable, Sendable {
  /// It does not begin like a sealed file.
  case notSealed
  /// It is shorter or longer than its header says; sizes are in bytes.
  case wrongLength(size: Int, expected: Int)
  /// Bytes changed by accident: the check sum does not match.
  case corrupt
  /// It was changed on purpose: the check sum matches, the seal does not.
  case forged
  /// It was sealed as the file of another shard or group.
  case misplaced
  /// It has a version of the format that this program does not know.
  case newerVersion(UInt32)
  /// The `keys` file, which is intact, does not have the key that it was sealed with.
  case unknownKey
  /// An older version of it was put back, as the group's manifest shows.
  case rolledBack
  /// The group's manifest is older than the file.
  case olderManifest
  /// The manifest names it, but it does not exist.
  case missing
  /// It was unsealed, but is not a document.
  case unreadable(String)
  /// Its header, which is not sealed, is invalid.
  case malformed(String)
  /// The given key does not open the `keys` file, which is intact.
  case wrongKey
  /// The `keys` file needs a key of another kind.
  case otherKeySource(KeySource.Kind)
  /// There is not enough memory to try a passphrase; the file was not changed.
  case outOfMemory(mebibytes: Int)
}

extension SealError: CustomStringConvertible {
  /// The end of a sentence that begins with the name of the file.
  public var description: String {
    switch self {
    case .notSealed: "is not a sealed file of Llavero."
    case .wrongLength(let size, let expected) where size < expected:
      "is truncated: \(size) of \(expected) bytes."
    case .wrongLength(let size, let expected): "has \(size) bytes instead of \(expected)."
    case .corrupt: "was damaged: its check sum does not match its contents."
    case .forged: "was changed by something that does not have the key."
    case .misplaced: "is another shard's or group's, put in the wrong place."
    case .newerVersion(let version):
      "has version \(version); this program knows version \(SealedFormat.version)."
    case .unknownKey: "was sealed with a key that is not in the store's \"keys\"."
    case .rolledBack: "is an older version of itself that was put back; it opens with the store's key."
    case .olderManifest:
      "is newer than the group's manifest, of which an older version was put back; it opens with the store's key."
    case .missing: "was removed by something other than Llavero."
    case .unreadable(let reason): "opens with the store's key, but its contents are invalid: \(reason)"
    case .malformed(let reason): "has an invalid header: \(reason)"
    case .wrongKey: "cannot be opened: the passphrase or key is not the one it was sealed with."
    case .otherKeySource(.passphrase): "cannot be opened: its key is a passphrase."
    case .otherKeySource(.key): "cannot be opened: its key is in a key file or a systemd credential."
    case .otherKeySource(.keyring): "cannot be opened: its key is in the keyring."
    case .otherKeySource(.portal): "cannot be opened: its key is an application's own, in the Secret portal."
    case .outOfMemory(let size):
      "cannot be opened: trying a passphrase takes \(size) MiB of memory, more than is available."
    }
  }

  public var errorDescription: String? { sentences("A sealed part of the store \(description)", advice) }

  package var code: CacheError.Code {
    switch self {
    case .notSealed, .wrongLength, .corrupt, .forged, .misplaced, .missing, .unreadable, .malformed: .damaged
    case .newerVersion: .newerVersion
    case .unknownKey, .wrongKey, .otherKeySource: .wrongKey
    case .rolledBack, .olderManifest: .rolledBack
    case .outOfMemory: .unavailable
    }
  }

  /// The kind of the store's problem and its remedy, for a shard's file or for the manifest.
  package func problem(isManifest: Bool) -> (StoreProblem.Kind, StoreProblem.Remedy) {
    switch code {
    case .newerVersion: (.newerVersion, .none)
    case .rolledBack: (.rolledBack, self == .olderManifest ? .acceptance : .removal)
    case .damaged where isManifest: (.damaged, .acceptance)
    case .damaged: self == .missing ? (.missing, .acceptance) : (.damaged, .removal)
    default: (.wrongKey, .none)
    }
  }

  /// The store's problem with a shard or, without one, with the manifest. `name` begins the sentence.
  package func storeProblem(of shard: ShardID?, called name: String, suffix: String = "") -> StoreProblem {
    let (kind, remedy) = problem(isManifest: shard == nil)
    return StoreProblem(kind, shard: shard, detail: "\(name) \(self)\(suffix)", remedy: remedy)
  }

  private var advice: String? {
    switch self {
    case .misplaced:
      "It was not changed. Put it back where it was."
    case .notSealed, .wrongLength, .corrupt, .forged, .unreadable, .malformed, .missing:
      "It was not changed. Restore it from a backup of the whole store, or remove what cannot be read."
    case .newerVersion: "It was not changed. Update this program."
    case .unknownKey:
      "Restore the whole store from one backup; no known key opens this part of it."
    case .rolledBack, .olderManifest:
      "Find out who put it there: it may hold tokens that were replaced or signed out."
    case .wrongKey: "Use the one that it was last sealed with: after a change of keys, the new one."
    case .otherKeySource: nil
    case .outOfMemory:
      "Nothing was changed. Close other programs or raise the limit (\"ulimit -v\"), then try again."
    }
  }

  /// The error for a part of the store; `remedy` is what a removal of damaged parts does about it.
  package func cacheError(
    of name: String, advice: String? = nil, remedy: StoreProblem.Remedy = .none
  ) -> CacheError {
    CacheError(
      code, "\(name) \(description)", advice: advice ?? self.advice, underlyingError: self, remedy: remedy)
  }
}
