public import TokenCache

extension Keychain {
  /// Announces when a group may have changed.
  ///
  /// The counter that all programs share is compared once a second. A change that does not raise it, such as
  /// by deleting an item with another tool, is found by reading again from time to time.
  ///
  /// - Parameters:
  ///   - group: The group.
  ///   - known: Its ``generation(of:)`` before it was read.
  ///   - interval: How often to compare the counter.
  ///   - limit: After how many comparisons without a change to read again all the same.
  /// - Returns: One element for each time to read; it ends when its consumer ends.
  public func changes(
    of group: KeychainGroup, since known: UInt64?, every interval: Duration = .seconds(1), limit: Int = 60
  ) -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let watch = Task.detached { [self] in
        var (known, quiet) = (known, 0)
        while (try? await Task.sleep(for: interval)) != nil {
          let present = await generation(of: group)
          quiet += 1
          guard present != known || quiet >= limit else { continue }
          (known, quiet) = (present, 0)
          continuation.yield()
        }
      }
      continuation.onTermination = { _ in watch.cancel() }
    }
  }
}
