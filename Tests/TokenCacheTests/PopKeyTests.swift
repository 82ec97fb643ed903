import Foundation
import TestSupport

@testable import TokenCache

/// The private key of a group's bound tokens.
struct PopKeyTests {
  private let test = TestCache()

  @Test func `The key is in the shard without an account, under the format's name`() async throws {
    #expect(try await test.cache.savePopKey("a2V5") { _ in false } == "a2V5")
    #expect(try await test.cache.popKey() == "a2V5")
    let common = try test.store.read(.all, in: test.cache.group).documents[test.cache.commonShard]
    #expect(
      String(decoding: try #require(common).json(), as: UTF8.self)
        == #"{"PopKey":{"rs256":{"secret":"a2V5"}}}"#)
  }

  @Test(.requirement("R14.1"))
  func `A usable key stays, an unusable one is replaced, and nothing else is lost`() async throws {
    try await test.save()
    _ = try await test.cache.savePopKey("one") { _ in false }
    #expect(try await test.cache.savePopKey("two") { $0 == "one" } == "one")
    let records = try await test.document
    #expect(try await test.cache.savePopKey("two") { _ in false } == "two")
    #expect(try await test.cache.popKey() == "two")
    #expect(try await test.document == records)
  }

  @Test(
    .fault("PoP key lost"),
    arguments: [#""x""#, "null", "{}", #"{"rs256": 1}"#, #"{"rs256": {"secret": " "}}"#])
  func `An invalid value in the key's place counts as missing`(_ section: String) async throws {
    let document = try CacheDocument(#"{"PopKey": \#(section), "Custom": {"a": 1}}"#)
    let common = test.cache.commonShard
    _ = try test.store.update([common], in: test.cache.group) { $0[common] = document }
    #expect(try await test.cache.popKey() == nil)
    _ = try await test.cache.savePopKey("key") { _ in true }
    #expect(try await test.cache.popKey() == "key")
    #expect(try await test.document.otherSections == ["Custom": .object(["a": .integer(1)])])
  }

  @Test func `A key of another kind stays beside it`() async throws {
    let common = test.cache.commonShard
    let other = JSONValue.object(["secret": "other"])
    _ = try test.store.update([common], in: test.cache.group) {
      $0[common].otherSections["PopKey"] = .object(["es256": other])
    }
    _ = try await test.cache.savePopKey("key") { _ in true }
    let sections = try test.store.read(.all, in: test.cache.group).documents[common]?.otherSections
    #expect(sections?["PopKey"]?.objectValue?["es256"] == other)
  }

  @Test(.requirement("R4.10")) func `The key is neither exported nor imported`() async throws {
    try await test.save()
    _ = try await test.cache.savePopKey("mine") { _ in false }
    #expect(try await !test.document.hasPopKeys)
    try await test.load(#"{"PopKey": {"rs256": {"secret": "theirs"}}, "Custom": {"a": 1}}"#)
    #expect(try await test.cache.popKey() == "mine")
    #expect(try await test.document.otherSections["Custom"] != nil)
  }

  @Test func `The key stays when an account is removed, and is removed with the group`() async throws {
    try await test.save()
    _ = try await test.cache.savePopKey("key") { _ in false }
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID)
    #expect(try await test.cache.popKey() == "key")
    try await test.cache.clear()
    #expect(try await test.cache.popKey() == nil)
  }

  @Test func `Another process's new key is seen at once`() async throws {
    let other = TokenCacheAccessor(store: test.store, group: test.cache.group)
    _ = try await test.cache.savePopKey("one") { _ in false }
    #expect(try await other.popKey() == "one")
    _ = try await test.cache.savePopKey("two") { _ in false }
    #expect(try await other.popKey() == "two")
  }
}
