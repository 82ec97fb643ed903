import FoundationEssentials
import Glibc

struct FileStatus {
  private let attributes: [FileAttributeKey: Any]

  /// Reads the status, of a link its own; `nil` if the file does not exist.
  init?(_ path: String) {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
    self.attributes = attributes
  }

  var isDirectory: Bool { attributes[.type] as? FileAttributeType == .typeDirectory }
  var isRegular: Bool { attributes[.type] as? FileAttributeType == .typeRegular }
  var isOwn: Bool { (attributes[.ownerAccountID] as? UInt) == UInt(geteuid()) }

  /// Whether its group or everybody may read, write or enter it.
  var isOpenToOthers: Bool { mode & 0o077 != 0 }

  var mode: UInt { attributes[.posixPermissions] as? UInt ?? 0 }

  static func close(_ path: String) throws {
    let mode = FileStatus(path)?.mode ?? 0
    try FileManager.default.setAttributes([.posixPermissions: mode & 0o700], ofItemAtPath: path)
  }
}
