public import Foundation

/// The superclass of the classes that are `Sendable` here, and on Apple's systems only if a program says so.
///
/// Such a program's `extension MSALAccount: @unchecked Sendable {}` compiles without a warning, since the compiler reports only a
/// conformance that the class does not inherit. A subclass has to restate it.
///
/// `@unchecked Sendable`: it has no state. Its subclasses keep theirs in constants that are `Sendable`, or in a mutex.
open class MSALObject: NSObject, @unchecked Sendable {}
