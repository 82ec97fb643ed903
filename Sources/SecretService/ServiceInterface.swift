/// Names of the Secret Service API's D-Bus interfaces and the service's path.
enum ServiceInterface {
  static let service = "org.freedesktop.Secret.Service"
  static let collection = "org.freedesktop.Secret.Collection"
  static let item = "org.freedesktop.Secret.Item"
  static let prompt = "org.freedesktop.Secret.Prompt"
  static let properties = "org.freedesktop.DBus.Properties"
  static let servicePath = "/org/freedesktop/secrets"
  /// Where the API means "none": no prompt, no object.
  static let noPath = "/"
  /// An attribute of each item in oo7.
  static let contentType = "xdg:content-type"
  /// An attribute of each item in KeePassXC.
  static let entry = "Uuid"
}
