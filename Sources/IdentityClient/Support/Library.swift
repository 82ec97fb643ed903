/// What the library calls itself, to servers and to people. Nothing else in the package says the version.
package enum Library {
  package static let name = "Llavero"
  package static let version = "0.3.0"
}

extension ClientConfiguration {
  /// The version of this library.
  public static var libraryVersion: String { Library.version }
}
