import FoundationEssentials
import Logging
import TokenCache

extension PublicClient {
  /// Runs a request. A bound token leaves the client only in signed HTTP requests.
  func run(
    _ request: some TokenParameters, _ account: Account?,
    _ flow: (ResolvedRequest) async throws(IdentityError) -> AuthenticationResult
  ) async throws(IdentityError) -> AuthenticationResult {
    try await addingRequestContext(request.correlationID, account) { () async throws(IdentityError) in
      let resolved = try await resolve(request, account)
      guard let proof = resolved.proof else { return try await flow(resolved) }
      do throws(IdentityError) {
        return try await flow(resolved).presenting(by: proof, at: now())
      } catch var error {
        error.result = try error.result?.presenting(by: proof, at: now())
        throw error
      }
    }
  }

  /// Resolves a request, with the key that its scheme needs.
  func resolve(
    _ request: some TokenParameters, _ account: Account?
  ) async throws(IdentityError) -> ResolvedRequest {
    let proof = try await proof(for: request.authenticationScheme)
    return try ResolvedRequest(request, account: account, proof: proof, of: self)
  }

  /// Runs `body` and adds the correlation ID and the account to its errors.
  func addingRequestContext<T>(
    _ correlationID: UUID, _ account: Account? = nil, _ body: () async throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    do throws(IdentityError) {
      return try await body()
    } catch {
      let error = error.completed(correlationID, account)
      log(
        .info, "The call failed.",
        [
          "code": "\(error.code.rawValue)", "error": log.word(error.oauthError),
          "correlation": "\(correlationID.text)",
        ])
      throw error
    }
  }
}
