package import HTTPTypes

/// The statuses of success that the response to a request can have (RFC 9110 section 15.3). Any other is an error, such as that
/// of a part of what was requested.
package enum SuccessStatus {
  /// Whether it is that of a document: of tokens (RFC 6749 section 5.1), of an authority, of a lender or of etcd.
  package static func isDocument(_ status: Int) -> Bool { status == 200 }

  /// Whether it is one of a REST API, to a request with these header fields.
  package static func isResult(_ status: Int, of request: HTTPFields) -> Bool {
    switch status {
    case 200, 201, 202, 204: true
    case 206: request[.range] != nil
    case 304: request[.ifNoneMatch] != nil || request[.ifModifiedSince] != nil
    default: false
    }
  }
}
