/// A request for a token of the device itself.
open class MSALDeviceTokenParameters: MSALTokenParameters {
  /// The tenant with which the device is registered.
  public let tenantId: String?
  /// What the token is for.
  public let resource: String

  public init(resource: String, scopes: [String]?, forTenantId tenantId: String) {
    self.resource = resource
    self.tenantId = tenantId
    super.init(scopes: scopes ?? [])
  }
}
