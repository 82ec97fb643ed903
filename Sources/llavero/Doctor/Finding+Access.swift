extension Finding {
  /// What is wrong with the owner or the mode of a file or directory; `nil` where nothing is wrong, or where it does not exist.
  /// `advice` is for a link or a file of another user.
  static func ofAccess(to path: String, advice: String) -> Finding? {
    guard let status = FileStatus(path) else { return nil }
    guard status.isOwn, status.isDirectory || status.isRegular else {
      return .problem("\(path) is a link, or belongs to somebody else.", advice: advice)
    }
    guard status.isOpenToOthers else { return nil }
    return .mendable(.problem, "\(path) is open to others, and not used for that reason.") {
      try FileStatus.close(path)
    }
  }
}
