/// A method of HTTP.
public enum MSALHttpMethod: UInt, Sendable {
  case GET = 0
  case HEAD = 1
  case POST = 2
  case PUT = 3
  case DELETE = 4
  case CONNECT = 5
  case OPTIONS = 6
  case TRACE = 7
  case PATCH = 8
}

// Implicitly unwrapped as in Swift on Apple's systems; see MSALErrorKeys.swift.
/// The name of a method of HTTP, such as `GET`.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func MSALParameterStringForHttpMethod(_ httpMethod: MSALHttpMethod) -> String! {
  "\(httpMethod)"
}
