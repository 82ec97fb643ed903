import FoundationEssentials
import Logging
import TokenCache

extension PublicClient {
  /// Runs a request. A bound token leaves the client only in signed HTTP requests.
  func run<Request: TokenParameters>(
    _ request: Request, _ account: Account?,
    _ flow: (Request, ResolvedRequest) async throws(IdentityError) -> some TokenFlow
  ) async throws(IdentityError) -> AuthenticationResult {
    do throws(IdentityError) {
      let resolved = try await resolve(request, account)
      guard let proof = resolved.proof else { return try await flow(request, resolved).token() }
      do {
        return try await flow(request, resolved).token().presenting(by: proof, at: now())
      } catch var error {
        error.result = try error.result?.presenting(by: proof, at: now())
        throw error
      }
    } catch {
      throw failed(error, request.correlationID, account)
    }
  }

  /// Resolves a request, with the key that its scheme needs.
  func resolve(
    _ request: some TokenParameters, _ account: Account?
  ) async throws(IdentityError) -> ResolvedRequest {
    let proof = try await proof(for: request.authenticationScheme)
    return try ResolvedRequest(request, account: account, proof: proof, of: self)
  }

  /// Logs the error of a call, and adds the correlation ID and the account to it.
  func failed(_ error: IdentityError, _ correlationID: UUID, _ account: Account?) -> IdentityError {
    let error = error.completed(correlationID, account)
    log(
      .info, "The call failed.",
      [
        "code": "\(error.code.rawValue)", "error": log.word(error.oauthError),
        "correlation": "\(correlationID.text)",
      ])
    return error
  }
}

/// A way to get a token for a request.
protocol TokenFlow {
  func token() async throws(IdentityError) -> AuthenticationResult
}

extension SilentFlow: TokenFlow {}
extension InteractiveFlow: TokenFlow {}
extension DeviceFlow: TokenFlow {}
