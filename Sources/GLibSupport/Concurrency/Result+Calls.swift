extension Result {
  /// The outcome of a call. An autoclosure takes the type of its error from the result's; a closure would have to name it. In
  /// a closure, Swift takes the `try` in it for the closure's own.
  package init(calling call: @autoclosure () throws(Failure) -> Success) { self = Result(catching: call) }

  /// The outcome of an asynchronous call.
  package init(awaiting call: @autoclosure () async throws(Failure) -> sending Success) async {
    do {
      self = .success(try await call())
    } catch {
      self = .failure(error)
    }
  }
}
