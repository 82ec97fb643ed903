package import GLibSupport
import PrivateSession

extension Variant {
  /// A secret of the plain session.
  package static func secret(_ bytes: [UInt8]) -> Variant {
    .tuple([.objectPath(FakeService.session), .bytes([]), .bytes(bytes), .string("text/plain")])
  }
}

extension FakeService.Answer {
  /// A search finds these items.
  package static func found(_ unlocked: [String] = [], locked: [String] = []) -> Self {
    .reply([.objectPaths(unlocked), .objectPaths(locked)])
  }

  /// The secrets of items by their paths.
  package static func secrets(_ secrets: [String: Variant]) -> Self {
    .reply([.array(of: "{o(oayays)}", secrets.map { .entry(.objectPath($0.key), $0.value) })])
  }

  /// The value of a property.
  package static func property(_ value: Variant) -> Self { .reply([.variant(value)]) }

  /// The property of a collection that says whether it is locked.
  package static func locked(_ isLocked: Bool) -> Self { .property(.boolean(isLocked)) }

  /// An unlocking needs the prompt.
  package static let unlockPrompt = Self.reply([.objectPaths([]), .objectPath(FakeService.prompt)])

  /// A new item needs the prompt.
  package static let creationPrompt = Self.reply([.objectPath("/"), .objectPath(FakeService.prompt)])

  /// A removal needs the prompt.
  package static let removalPrompt = Self.reply([.objectPath(FakeService.prompt)])
}
