public import IdentityClient
public import MicrosoftGraph
public import Testing
public import TokenCache

// So that a test may name the error that it expects by its code, and need not know the wording. No program compares
// errors like that.

extension CacheError: Equatable {
  public static func == (one: CacheError, other: CacheError) -> Bool { one.code == other.code }
}

extension IdentityError: Equatable {
  public static func == (one: IdentityError, other: IdentityError) -> Bool { one.code == other.code }
}

extension GraphError: Equatable {
  public static func == (one: GraphError, other: GraphError) -> Bool { one.code == other.code }
}

/// Expects a call to fail with an error of one code, and returns the error.
@discardableResult
public func expectError<T>(
  _ code: IdentityError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  in call: () async throws -> T
) async -> IdentityError? {
  await #expect(throws: IdentityError(code, ""), sourceLocation: sourceLocation) { try await call() }
}
