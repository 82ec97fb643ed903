import FoundationEssentials
import GLibSupport
import HTTPSupport
import Synchronization

/// Keeps the client from asking a server what it has refused a moment ago.
///
/// It remembers refusals in memory alone, and by hashes: the refresh token is a part of what makes two requests equal.
final class Throttle: Sendable {
  private struct Entry {
    let until: Date
    let since: Date
    let error: IdentityError
  }

  static let capacity = 1000
  /// How long a server that names no time is left alone, in seconds.
  static let pause = 60.0
  /// The longest time that a server is left alone, in seconds.
  static let longestPause = 3600.0
  /// How long a request that needs a person is not repeated, in seconds.
  static let interactionPause = 120.0

  private let entries = Mutex<[String: Entry]>([:])

  /// The name of a request: equal for equal parts.
  static func key(_ parts: [String]) -> String {
    sha256Hex(parts.map { "\($0.utf8.count):\($0)" }.joined())
  }

  /// The error that the server gave to the same request, while it still counts.
  func error(for keys: [String], at now: Date) -> IdentityError? {
    entries.withLock { entries in
      for key in keys {
        guard let entry = entries[key] else { continue }
        // A clock that was put back must not make the wait longer.
        if entry.since <= now, now < entry.until {
          var error = entry.error
          error.isThrottled = true
          return error
        }
        entries[key] = nil
      }
      return nil
    }
  }

  /// Notes what a failure means for the next equal request.
  func note(_ error: IdentityError, server: String, person: String, at now: Date) {
    let pause = error.secondsToWait(at: now)
    if pause != nil || error.httpStatus == 429 || (error.httpStatus ?? 0) >= 500 {
      add(error, for: server, seconds: pause ?? Self.pause, at: now)
    } else if error.forSilentRequest.code == .interactionRequired {
      add(error, for: person, seconds: Self.interactionPause, at: now)
    }
  }

  /// Notes that a request is not to be repeated for some seconds.
  func add(_ error: IdentityError, for key: String, seconds: Double, at now: Date) {
    let pause = min(seconds, Self.longestPause)
    guard pause > 0 else { return }
    entries.withLock { entries in
      if entries.count >= Self.capacity {
        entries = entries.filter { now < $0.value.until }
        if entries.count >= Self.capacity, let first = entries.min(by: { $0.value.until < $1.value.until }) {
          entries[first.key] = nil
        }
      }
      entries[key] = Entry(until: now.addingTimeInterval(pause), since: now, error: error)
    }
  }

  /// Forgets the requests that needed a person: one has signed in.
  func removeInteractionRequired() {
    entries.withLock { entries in
      entries = entries.filter { $0.value.error.forSilentRequest.code != .interactionRequired }
    }
  }
}

extension IdentityError {
  /// How long the server asks to be left alone: its `Retry-After` field.
  func secondsToWait(at now: Date) -> Double? {
    func field(_ name: String) -> String? { httpHeaders.first { $0.key.lowercased() == name }?.value }
    return HTTPDate.secondsToWait(field("retry-after"), date: field("date"), now: now)
  }
}
