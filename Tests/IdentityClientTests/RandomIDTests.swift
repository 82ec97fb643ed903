import FoundationEssentials
import Testing

@testable import IdentityClient

struct RandomIDTests {
  @Test func `Ids are random ones, and none comes twice`() {
    // More than one call of the system gives.
    let ids = (0..<100).map { _ in UUID.random() }
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { $0.uuid.6 >> 4 == 4 && $0.uuid.8 >> 6 == 2 })
  }
}
