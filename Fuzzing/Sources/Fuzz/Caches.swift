import Dispatch
import FoundationEssentials
@testable import TokenCache

/// A shard's document survives any number of rewrites, and is what Foundation reads in it.
@Sendable func fuzzShard(_ input: Data) {
  if let object = try? JSONObject(foreign: input, within: .cache) {
    let expected = try? JSONDecoder().decode(JSONObject.self, from: input)
    require(object == expected, "JSONDecoder reads something else.")
  }
  guard let document = try? CacheDocument(json: input) else { return }
  guard let written = try? document.json() else { fatalError("What was read cannot be written.") }
  guard let again = try? CacheDocument(json: written) else { fatalError("What was written cannot be read.") }
  require(again == document, "A rewrite changed the document.")
  require((try? again.json()) == written, "A second rewrite gave other bytes.")
  let group = KeychainGroup.default
  let records = document.split(in: group).reduce(0) { $0 + $1.document.recordCount }
  require(records == document.recordCount, "Splitting lost a record.")
  for (_, credential) in document.credentials {
    _ = (AccessToken(credential), RefreshToken(credential), IDToken(credential)?.claims)
  }
  for account in document.accounts.values { _ = account.key }
}

/// A foreign cache is taken in whole, and a second time changes nothing.
@Sendable func fuzzImport(_ input: Data) {
  guard let document = try? CacheDocument(json: input), document.recordCount < 200 else { return }
  let failure = waitFor { () async throws in
    let cache = TokenCacheAccessor(store: InMemoryStore())
    _ = try await cache.import(document)
    let first = try await cache.snapshot().document
    let repeated = try await cache.import(document)
    require(repeated.saved == 0, "A second import changed \(repeated.saved) records.")
    require(try await cache.snapshot().document == first, "A second import changed the cache.")
    for account in try await cache.accounts() { _ = account.homeAccountID }
  }
  if let failure { fatalError("An import failed: \(failure)") }
}

/// Waits for asynchronous work, which libFuzzer cannot; returns its error.
private func waitFor(_ work: @escaping @Sendable () async throws -> Void) -> (any Error)? {
  final class Outcome: @unchecked Sendable {
    // Written before the semaphore is signalled and read after it.
    var error: (any Error)?
  }
  let (outcome, done) = (Outcome(), DispatchSemaphore(value: 0))
  Task {
    do { try await work() } catch { outcome.error = error }
    done.signal()
  }
  done.wait()
  return outcome.error
}
