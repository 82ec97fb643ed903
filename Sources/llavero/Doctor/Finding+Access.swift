extension Finding {
  /// What is wrong with the owner or the mode of a file or directory; `nil` where nothing is, or where there is none.
  /// `advice` is for what is a link or belongs to somebody else.
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
