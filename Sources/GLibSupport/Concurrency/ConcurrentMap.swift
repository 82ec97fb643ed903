import Dispatch
import Synchronization

extension Array where Element: Sendable {
  /// Maps the elements on all processors, where there are enough of them to be worth a change of threads. It blocks.
  ///
  /// - Parameters:
  ///   - minimum: How many are enough; by default for a transform of tens of microseconds, such as decrypting a shard.
  ///   - transform: Makes the result for an element.
  /// - Returns: The results, in the order of the elements.
  /// - Throws: The error of the first element that has one.
  package func concurrentMap<T: Sendable, E: Error>(
    from minimum: Int = 16, _ transform: @Sendable (Element) throws(E) -> T
  ) throws(E) -> [T] {
    guard count >= minimum else { return try map(transform) }
    let results = Mutex([Result<T, E>?](repeating: nil, count: count))
    DispatchQueue.concurrentPerform(iterations: count) { number in
      let result = Result { () throws(E) in try transform(self[number]) }
      results.withLock { $0[number] = result }
    }
    var values: [T] = []
    for result in results.withLock({ $0 }) { if let result { values.append(try result.get()) } }
    return values
  }
}
