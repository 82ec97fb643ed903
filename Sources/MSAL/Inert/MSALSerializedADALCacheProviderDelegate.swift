public import Foundation

/// Has no effect: a ``MSALSerializedADALCacheProvider`` is never used, and nobody is told.
public protocol MSALSerializedADALCacheProviderDelegate: NSObjectProtocol {
  /// Never called.
  func willAccessCache(_ cache: MSALSerializedADALCacheProvider)
  /// Never called.
  func didAccessCache(_ cache: MSALSerializedADALCacheProvider)
  /// Never called.
  func willWriteCache(_ cache: MSALSerializedADALCacheProvider)
  /// Never called.
  func didWriteCache(_ cache: MSALSerializedADALCacheProvider)
}
