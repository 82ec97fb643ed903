public import Foundation

/// Told when a ``MSALSerializedADALCacheProvider`` is used.
public protocol MSALSerializedADALCacheProviderDelegate: NSObjectProtocol {
  func willAccessCache(_ cache: MSALSerializedADALCacheProvider)
  func didAccessCache(_ cache: MSALSerializedADALCacheProvider)
  func willWriteCache(_ cache: MSALSerializedADALCacheProvider)
  func didWriteCache(_ cache: MSALSerializedADALCacheProvider)
}
