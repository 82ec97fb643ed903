package import ArgumentParser

/// All there is to know of a command but its work, for commands that `llavero` describes and `llavero-network`
/// does.
package protocol CommandOptions: ParsableArguments {
  static var configuration: CommandConfiguration { get }
  var client: ClientOptions { get }
  /// A descriptor besides the standard streams that the command was started with, and needs.
  var inheritedDescriptor: Int32? { get }
}

extension CommandOptions {
  package var inheritedDescriptor: Int32? { nil }
}
