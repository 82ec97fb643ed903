import LibraryVersion

/// The library's name, for servers and people.
package enum Library {
  package static let name = "Llavero"
  package static let version = unsafe String(cString: library_version())
}

extension ClientConfiguration {
  /// The version of this library, such as `0.4.0`, or `0.4.0~dev` of sources that are not a release.
  public static var libraryVersion: String { Library.version }
}
