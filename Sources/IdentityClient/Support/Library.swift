/// How the library names itself to servers.
enum Library {
  static let name = "Llavero"
  static let version = "0.1.0"
}
