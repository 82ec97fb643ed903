import FoundationEssentials
import GLibSupport
import HTTPSupport
import Synchronization

/// Prevents requests that the server has just refused.
///
/// Refusals are kept only in memory and under hashes, since the refresh token is part of a request's identity.
final class Throttle: Sendable {
  private struct Entry {
    let until: Date
    let since: Date
    let error: IdentityError
  }

  static let capacity = 1000
  /// The default backoff, in seconds.
  static let pause = 60.0
  /// The maximum backoff, in seconds.
  static let longestPause = 3600.0
  /// How long a request that requires interaction is not repeated, in seconds.
  static let interactionPause = 120.0

  private let entries = Mutex<[String: Entry]>([:])

  /// Returns the key of a request, which is equal for equal parts.
  static func key(_ parts: [String]) -> String {
    sha256Hex(parts.map { "\($0.utf8.count):\($0)" }.joined())
  }

  /// Returns the recent error of the same request, until it expires.
  func error(for keys: [String], at now: Date) -> IdentityError? {
    entries.withLock { entries in
      for key in keys {
        guard let entry = entries[key] else { continue }
        // A clock that was set back must not extend the wait.
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

  /// Records a failure for the next equal request.
  func note(_ error: IdentityError, server: String, person: String, at now: Date) {
    let pause = error.secondsToWait(at: now)
    if pause != nil || error.httpStatus == 429 || (error.httpStatus ?? 0) >= 500 {
      add(error, for: server, seconds: pause ?? Self.pause, at: now)
    } else if error.forSilentRequest.code == .interactionRequired {
      add(error, for: person, seconds: Self.interactionPause, at: now)
    }
  }

  /// Records an error that is returned for some seconds.
  func add(_ error: IdentityError, for key: String, seconds: Double, at now: Date) {
    let pause = min(seconds, Self.longestPause)
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

  /// Removes the errors that required interaction, after a sign-in.
  func removeInteractionRequired() {
    entries.withLock { entries in
      entries = entries.filter { $0.value.error.forSilentRequest.code != .interactionRequired }
    }
  }
}

extension IdentityError {
  /// The backoff that the server requests: its `Retry-After` field.
  func secondsToWait(at now: Date) -> Double? {
    func field(_ name: String) -> String? { httpHeaders.first { $0.key.lowercased() == name }?.value }
    return HTTPDate.secondsToWait(field("retry-after"), date: field("date"), now: now)
  }
}
