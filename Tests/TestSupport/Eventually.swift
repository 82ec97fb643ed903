/// Waits until something holds that no event tells of, by looking again and again. Ends with its task.
public func eventually(_ holds: () async throws -> Bool) async throws {
  while try await !holds() { try await Task.sleep(for: .milliseconds(5)) }
}
