/// Microsoft's clouds.
public enum MSALAzureCloudInstance: Int, Sendable {
  case publicCloudInstance = 0
  case chinaCloudInstance = 1
  case germanyCloudInstance = 2
  case usGovernmentCloudInstance = 3
  case franceCloudInstance = 4
  case delosCloudInstance = 5
  case govSGCloudInstance = 6

  /// The host at which people of this cloud sign in.
  var environment: String {
    switch self {
    case .publicCloudInstance: "login.microsoftonline.com"
    case .chinaCloudInstance: "login.chinacloudapi.cn"
    case .germanyCloudInstance: "login.microsoftonline.de"
    case .usGovernmentCloudInstance: "login.microsoftonline.us"
    case .franceCloudInstance: "login.sovcloud-identity.fr"
    case .delosCloudInstance: "login.sovcloud-identity.de"
    case .govSGCloudInstance: "login.sovcloud-identity.sg"
    }
  }
}
