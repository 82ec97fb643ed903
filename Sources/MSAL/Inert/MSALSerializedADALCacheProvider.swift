public import Foundation

/// Has no effect: the cache of ADAL, the library before MSAL, has a format that only Apple's systems can read. There is no
/// way to make one.
open class MSALSerializedADALCacheProvider: NSObject, NSCopying {
  /// Has no effect.
  public let delegate: any MSALSerializedADALCacheProviderDelegate

  /// Has no effect.
  ///
  /// - Throws: Always an error in ``MSALErrorDomain``.
  public init(delegate: any MSALSerializedADALCacheProviderDelegate) throws {
    self.delegate = delegate
    super.init()
    throw Self.unsupported
  }

  /// Has no effect, as the other initializer.
  ///
  /// - Throws: Always an error in ``MSALErrorDomain``.
  public init(
    keychainAttributes: [AnyHashable: Any], trustedApplications: [Any], accessLabel: String
  ) throws {
    throw Self.unsupported
  }

  /// Has no effect.
  ///
  /// - Throws: Always an error in ``MSALErrorDomain``.
  open func serializeData() throws -> Data { throw Self.unsupported }

  /// Has no effect.
  ///
  /// - Throws: Always an error in ``MSALErrorDomain``.
  open func deserialize(_ serializedData: Data) throws { throw Self.unsupported }

  /// Has no effect: the object itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  private static var unsupported: NSError {
    NSError(.internalErrorUnexpected, "The cache of ADAL cannot be read on Linux.")
  }
}
