import Dispatch
import FoundationEssentials
@testable import TokenCache

/// A shard's document survives any number of rewrites, and is what Foundation reads in it.
@Sendable func fuzzShard(_ input: Data) {
  if let object = try? JSONObject(foreign: input, within: .cache) {
    let expected = try? JSONDecoder().decode(JSONObject.self, from: input)
    // It refuses half a surrogate pair.
    let mayDiffer = expected == nil && String(decoding: input, as: UTF8.self).contains(/\\u[dD][89a-fA-F]/)
    require(object == expected || mayDiffer, "JSONDecoder reads something else.")
  }
  guard let document = try? CacheDocument(json: input) else { return }
  guard let written = try? document.json() else { fatalError("What was read cannot be written.") }
  guard let again = try? CacheDocument(json: written) else { fatalError("What was written cannot be read.") }
  require(again == document, "A rewrite changed the document.")
  require((try? again.json()) == written, "A second rewrite gave other bytes.")
  let group = KeychainGroup.default
  // A record of account metadata is split, too.
  func count(_ document: CacheDocument) -> Int { document.recordCount - document.accountMetadata.count }
  let records = document.split(in: group).reduce(0) { $0 + count($1.document) }
  require(records == count(document), "Splitting lost a record.")
  for (_, credential) in document.credentials {
    _ = (AccessToken(credential), RefreshToken(credential), IDToken(credential)?.claims)
  }
  for account in document.accounts.values { _ = account.serializedKey }
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

/// Two caches, one after the other with a record separator between them, are brought together in both orders.
@Sendable func fuzzMerge(_ input: Data) {
  let parts = input.split(separator: 0x1E, maxSplits: 1, omittingEmptySubsequences: false)
  guard parts.count == 2, let one = try? CacheDocument(json: Data(parts[0])),
    let other = try? CacheDocument(json: Data(parts[1])), one.recordCount + other.recordCount < 200
  else { return }
  let merged = merge(one, other)
  let reversed = merge(other, one)
  // Ties are decided by who comes last.
  let ages = (Array(one.accessTokens.values) + Array(other.accessTokens.values)).map(\.age)
  guard Set(ages).count == ages.count else { return }
  require(
    Set(merged.accessTokens.values.map { $0.identity(in: .known) })
      == Set(reversed.accessTokens.values.map { $0.identity(in: .known) }),
    "Which tokens there are depends on the order.")
}

private func merge(_ one: CacheDocument, _ other: CacheDocument) -> CacheDocument {
  var merged = one
  merged.merge(other, in: .known)
  var again = merged
  require(again.merge(other, in: .known).saved == 0, "A second merge takes something in.")
  require(again == merged, "A second merge changes something.")
  for section in CacheDocument.sections { check(section, merged, one, other) }
  return merged
}

private func check(
  _ section: some CacheSection, _ merged: CacheDocument, _ one: CacheDocument, _ other: CacheDocument
) {
  let (mine, theirs) = (one[keyPath: section.records], other[keyPath: section.records])
  let all = merged[keyPath: section.records]
  for (key, record) in all {
    let origins = [mine[key], theirs[key]].compactMap(\.self)
    let agreed = !origins.isEmpty && origins.allSatisfy { $0.serializedKey == key }
    require(!agreed || record.serializedKey == key, "The key \(key) says something else than the fields.")
  }
  for (records, others) in [(mine, theirs), (theirs, mine)] {
    for (key, record) in records {
      let identity = record.identity(in: .known)
      let shared = record.sharedIdentity(under: key, in: .known)
      let kept = all.filter { entry in
        entry.value.identity(in: .known) == identity
          || shared.map { $0 == entry.value.sharedIdentity(under: entry.key, in: .known) } ?? false
      }
      // A token for some of the same scopes may have taken the place of an access token.
      if section.name == CredentialSection.accessToken.rawValue && kept.isEmpty { continue }
      // What comes in stays of app metadata, and goes into account metadata, however old it says it is.
      let goesByAge = !["AppMetadata", "AccountMetadataMap"].contains(section.name)
      require(
        kept.contains { !goesByAge || $0.value.age >= record.age }, "A record went, or an older one stayed.")
      let isAlone = !others.contains {
        $0.value.identity(in: .known) == identity
          || shared != nil && shared == $0.value.sharedIdentity(under: $0.key, in: .known)
      }
      require(!isAlone || kept.values.contains(record), "A record changed that nothing met.")
    }
  }
}

/// Caches of all sizes are brought together, listed and written in linear time, and what is written is read.
@Sendable func fuzzSizes(_ input: Data) {
  guard input.count >= 6 else { return }
  let bytes = Array(input)
  let (records, values, levels) = (
    Int(bytes[0]) << 8 | Int(bytes[1]), Int(bytes[2]) << 13 | Int(bytes[3]) << 5, Int(bytes[4])
  )
  var document = CacheDocument()
  for number in 0..<records {
    var token = Credential(
      type: .accessToken, homeAccountID: "u\(bytes[5] == 0 ? 0 : number % Int(bytes[5])).t", environment: "e",
      clientID: "c", secret: "s")
    token.target = "openid \(number)"
    document.accessTokens["\(number)"] = token
  }
  document.otherSections["values"] = .array(Array(repeating: .null, count: values))
  document.otherSections["levels"] = (0..<levels).reduce(.null) { value, _ in .array([value]) }
  var all = CacheDocument(union: document.split(in: .default).map(\.document))
  require(all == document, "Splitting and bringing together changes something.")
  require(all.merge(document, in: .known).saved == 0, "A merge with itself takes something in.")
  guard let json = try? document.json() else {
    require(records * 7 + values >= 900_000 || levels >= 127, "What a reader takes is not written.")
    return
  }
  require((try? CacheDocument(json: json)) == document, "What was written cannot be read.")
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
