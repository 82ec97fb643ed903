import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import TokenCache

/// A form for a token or device authorization endpoint, with its header fields.
struct TokenEndpointRequest: Sendable {
  let request: ResolvedRequest
  let url: URL
  var form: [String: String]
  let call: ServerTelemetry.Call
  var reason = ServerTelemetry.RefreshReason.none
  /// Whether the request may be sent twice.
  var isRepeatable = true
  /// The deadline of all attempts, by ``Timing/uptime``; `nil` for that of a call that begins now.
  var deadline: Duration?
  /// Lets Microsoft's services find the account's data center.
  var anchorMailbox: String?
  /// Whether the next request's telemetry has this one's outcome.
  var countsInTelemetry = true

  private var client: PublicClient { request.client }

  /// Sends the form and returns the members of the response, an object without `error`.
  func send() async throws(IdentityError) -> JSONObject {
    do throws(IdentityError) {
      let fields = try await client.sender.send(
        form, to: url.appending(query: request.extra), headers: headers, isRepeatable: isRepeatable,
        until: deadline
      ).fields()
      noteOutcome(error: nil)
      return fields
    } catch var error {
      error.correlationID = request.correlationID
      // The field is a list.
      let name = error.oauthError?.unicodeScalars.filter {
        $0.isASCII && ($0.properties.isAlphabetic || $0 == "_")
      }
      noteOutcome(error: name.map { String($0) } ?? error.code.rawValue)
      throw error
    }
  }

  private func noteOutcome(error: String?) {
    // Telemetry is only for Microsoft's services.
    guard countsInTelemetry, request.authority.isMicrosofts else { return }
    client.telemetry.finished(call.rawValue, correlationID: request.correlationID, error: error)
  }

  /// Only Microsoft's services understand these fields.
  private var headers: [String: String] {
    guard request.authority.isMicrosofts else { return [:] }
    var headers = client.configuration.clientHeaders(request.correlationID)
    headers["x-ms-lib-capability"] = "retry-after, h429"
    headers["x-client-current-telemetry"] = ServerTelemetry.current(call.rawValue, reason.rawValue)
    headers["x-client-last-telemetry"] = client.telemetry.last
    headers["X-AnchorMailbox"] = anchorMailbox
    return headers
  }
}

extension HTTPTransportResponse {
  /// Returns the members of a response of any status. Throws an OAuth error.
  func fields() throws(IdentityError) -> JSONObject {
    let status = head.status.code
    let parsed = Result<JSONObject, ForeignJSONError>(
      calling: try JSONObject(foreign: body, within: .response))
    if var error = Self.failure(status: status, fields: try? parsed.get()) {
      error.httpStatus = status
      for name in head.headerFields.map(\.name) where name != .setCookie {
        error.httpHeaders[name.rawName] = head.headerFields[name]
      }
      throw error
    }
    do throws(ForeignJSONError) {
      return try parsed.get().merging(head.clientTelemetry) { theirs, _ in theirs }
    } catch {
      var failure = IdentityError(.invalidResponse, "The server's response cannot be read: \(error).")
      failure.httpStatus = status
      throw failure
    }
  }

  private static func failure(status: Int, fields: JSONObject?) -> IdentityError? {
    let refusal = fields.flatMap(IdentityError.init(refusal:))
    switch status {
    case 500...:
      // The description of a failed server is shown, but decides nothing.
      var error = IdentityError(.serverError, "The server failed with status \(status).")
      error.oauthError = refusal?.oauthError
      error.oauthErrorDescription = refusal?.oauthErrorDescription
      error.stsErrorCodes = refusal?.stsErrorCodes ?? []
      return error
    case 429:
      return IdentityError(.unhandledResponse, "The server has received too many requests.")
    case 300..<400:
      return IdentityError(
        .unexpectedHTTPResponse, "The server responded with a redirect, which is not followed.")
    default:
      if let refusal { return refusal }
      return SuccessStatus.isDocument(status)
        ? nil : IdentityError(.unexpectedHTTPResponse, "The server responded with status \(status).")
    }
  }
}

extension ClientConfiguration {
  /// The header fields that describe the library and the program to Microsoft's services.
  func clientHeaders(_ correlationID: UUID) -> [String: String] {
    var headers = [
      "client-request-id": correlationID.text, "return-client-request-id": "true",
      "x-client-SKU": Library.name, "x-client-Ver": Library.version, "x-client-OS": "Linux",
    ]
    headers["x-app-name"] = applicationName
    headers["x-app-ver"] = applicationVersion
    return headers
  }
}

extension HTTPResponse {
  /// `spe_info`, which Microsoft's services send in a header field: the fifth member of `x-ms-clitelem`.
  fileprivate var clientTelemetry: JSONObject {
    guard let name = HTTPField.Name("x-ms-clitelem"), let value = headerFields[name] else { return [:] }
    let members = value.split(separator: ",", omittingEmptySubsequences: false)
    guard members.count >= 5, members[0] == "1", !members[4].isEmpty else { return [:] }
    return ["spe_info": .string(String(members[4]))]
  }
}
