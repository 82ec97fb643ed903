import FoundationEssentials
import HTTPSupport
import HTTPTypes
import TokenCache

/// Sends requests to a token endpoint, or a device authorization endpoint, and reads the responses.
struct TokenEndpoint: Sendable {
  let sender: HTTPSender
  let configuration: ClientConfiguration
  let telemetry: ServerTelemetry

  /// A form for an endpoint, with what goes along in the header.
  struct Request: Sendable {
    var url: URL
    var form: [String: String]
    /// What the application adds to the address.
    var query: [String: String] = [:]
    var correlationID: UUID
    var call: ServerTelemetry.Call
    var reason = ServerTelemetry.RefreshReason.none
    /// Whether the server may get it twice.
    var isRepeatable = true
    /// Whether Microsoft's services answer, which understand fields of their own.
    var isMicrosofts: Bool
    /// Lets Microsoft's services find the account's data center.
    var anchorMailbox: String?
    /// Whether the next request reports the outcome to the server.
    var countsInTelemetry = true
  }

  /// Sends the form.
  ///
  /// - Returns: The members of the response, an object without `error`.
  /// - Throws: ``IdentityError``; its `oauthError` is set where the server refused.
  func send(_ request: Request) async throws(IdentityError) -> JSONObject {
    do throws(IdentityError) {
      let response = try await sender.send(
        request.form, to: request.url.appending(query: request.query), headers: headers(of: request),
        isRepeatable: request.isRepeatable)
      let fields = try Self.fields(of: response)
      note(request, error: nil)
      return fields
    } catch {
      var error = error
      error.correlationID = request.correlationID
      // The field is a list.
      let name = error.oauthError?.unicodeScalars.filter {
        $0.isASCII && ($0.properties.isAlphabetic || $0 == "_")
      }
      note(request, error: name.map { String($0) } ?? error.code.rawValue)
      throw error
    }
  }

  private func note(_ request: Request, error: String?) {
    guard request.countsInTelemetry else { return }
    telemetry.finished(request.call.rawValue, correlationID: request.correlationID, error: error)
  }

  private func headers(of request: Request) -> [String: String] {
    guard request.isMicrosofts else { return [:] }
    var headers = configuration.clientHeaders
    headers["client-request-id"] = request.correlationID.uuidString.lowercased()
    headers["return-client-request-id"] = "true"
    headers["x-ms-lib-capability"] = "retry-after, h429"
    headers["x-client-current-telemetry"] = ServerTelemetry.current(
      request.call.rawValue, request.reason.rawValue)
    headers["x-client-last-telemetry"] = telemetry.last
    headers["X-AnchorMailbox"] = request.anchorMailbox
    return headers
  }

  /// The members of a response, whatever its status, unless they are a refusal.
  static func fields(of response: HTTPTransportResponse) throws(IdentityError) -> JSONObject {
    let status = response.head.status.code
    let body = Result { () throws(ForeignJSONError) in
      try JSONObject(foreign: response.body, within: .response)
    }
    let fields = try? body.get()
    if var error = failure(status: status, fields: fields) {
      error.httpStatus = status
      error.httpHeaders = response.head.headerFields.withoutSecrets
      throw error
    }
    do throws(ForeignJSONError) {
      return try body.get().merging(response.head.clientTelemetry) { theirs, _ in theirs }
    } catch {
      var failure = IdentityError(.invalidResponse, "The server's response cannot be read: \(error).")
      failure.httpStatus = status
      throw failure
    }
  }

  private static func failure(status: Int, fields: JSONObject?) -> IdentityError? {
    let refusal = fields.flatMap(OAuthFailure.init(fields:))
    switch status {
    case 500...:
      // The words of a server that failed are of interest, but they decide nothing.
      var error = IdentityError(.serverError, "The server failed with status \(status).")
      if let refusal {
        error.oauthError = refusal.error
        error.oauthErrorDescription = refusal.description
        error.stsErrorCodes = refusal.codes
      }
      return error
    case 429:
      return IdentityError(
        .unhandledResponse, "The server has received too many requests.", advice: "Try again later.")
    case 300..<400:
      return IdentityError(
        .unexpectedHTTPResponse, "The server responded with a redirect, which is not followed.")
    default:
      if let refusal { return IdentityError(refusal) }
      return (200..<300).contains(status)
        ? nil : IdentityError(.unexpectedHTTPResponse, "The server responded with status \(status).")
    }
  }
}

extension ClientConfiguration {
  /// What every request tells Microsoft's services of the program.
  var clientHeaders: [String: String] {
    var headers = ["x-client-SKU": Library.name, "x-client-Ver": Library.version, "x-client-OS": "Linux"]
    headers["x-app-name"] = applicationName
    headers["x-app-ver"] = applicationVersion
    return headers
  }
}

extension HTTPFields {
  /// The fields by name, those that carry secrets left out.
  fileprivate var withoutSecrets: [String: String] {
    var fields: [String: String] = [:]
    for field in self where field.name != .setCookie { fields[field.name.rawName] = self[field.name] }
    return fields
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
