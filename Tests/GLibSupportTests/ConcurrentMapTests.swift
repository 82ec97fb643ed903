import TestSupport

struct ConcurrentMapTests {
  @Test(arguments: [0, 1, 15, 16, 1000])
  func `The results are in the order of the elements, and the first error is thrown`(_ count: Int) throws {
    let elements = Array(0..<count)
    #expect(elements.concurrentMap { $0 * 2 } == elements.map { $0 * 2 })
    let failing = elements.suffix(2)
    guard let first = failing.first else { return }
    let error = #expect(throws: PrivateFileError.self) {
      try elements.concurrentMap { (number) throws(PrivateFileError) in
        if failing.contains(number) { throw PrivateFileError.notPrivate(path: "\(number)") }
      }
    }
    #expect(error == .notPrivate(path: "\(first)"))
  }
}
