/// A request for a token of the device itself.
open class MSALDeviceTokenParameters: MSALTokenParameters {
  /// The tenant with which the device is registered.
  public let tenantId: String?
  /// What the token is for.
  public let resource: String

  /// Asks for a token of the device, which on Linux nobody gives.
  ///
  /// - Parameters:
  ///   - resource: What the token is for.
  ///   - scopes: The scopes of the resource.
  ///   - tenantId: The tenant with which the device is registered.
  public init(resource: String, scopes: [String]?, forTenantId tenantId: String) {
    self.resource = resource
    self.tenantId = tenantId
    super.init(scopes: scopes ?? [])
  }
}
