public import Foundation

/// The cache of ADAL, the library before MSAL, whose format only Apple's systems can read. On Linux there is no
/// way to make one.
open class MSALSerializedADALCacheProvider: NSObject, NSCopying {
  public let delegate: any MSALSerializedADALCacheProviderDelegate

  /// - Throws: Always an error in ``MSALErrorDomain``.
  public init(delegate: any MSALSerializedADALCacheProviderDelegate) throws {
    self.delegate = delegate
    super.init()
    throw Self.unsupported
  }

  /// As on macOS.
  ///
  /// - Throws: Always an error in ``MSALErrorDomain``.
  public init(
    keychainAttributes: [AnyHashable: Any], trustedApplications: [Any], accessLabel: String
  ) throws {
    throw Self.unsupported
  }

  /// - Throws: Always an error in ``MSALErrorDomain``.
  open func serializeData() throws -> Data { throw Self.unsupported }

  /// - Throws: Always an error in ``MSALErrorDomain``.
  open func deserialize(_ serializedData: Data) throws { throw Self.unsupported }

  /// The object itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  private static var unsupported: NSError {
    NSError(.internalErrorUnexpected, "The cache of ADAL cannot be read on Linux.")
  }
}
