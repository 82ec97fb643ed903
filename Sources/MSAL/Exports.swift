// Code written for iOS and macOS imports Foundation or UIKit, which bring in all of this; on Linux
// `import MSAL` does.
@_exported public import Foundation
@_exported public import FoundationNetworking
