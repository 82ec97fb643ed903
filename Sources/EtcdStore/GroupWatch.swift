import FoundationEssentials
import Synchronization
import TokenCache

/// Says whether a group has changed, by watching the value that every write to it changes.
///
/// A watch that keeps silent may be one that is cut off. etcd's own sign of life comes every ten minutes, so the value is
/// asked for besides, every few seconds as long as somebody wants to know. What was asked for holds for a while; then nobody can tell.
package final class GroupWatch: Sendable {
  package struct Timing: Sendable {
    /// How long after an answer the next question is asked.
    let interval: Duration
    /// For how long an answer holds.
    let validity: Duration
    /// For how long the watch goes on when nobody wants to know.
    let idle: Duration

    package init(interval: Duration, validity: Duration, idle: Duration) {
      self.interval = interval
      self.validity = validity
      self.idle = idle
    }

    package static let standard = Timing(interval: .seconds(5), validity: .seconds(10), idle: .seconds(60))
  }

  private struct State {
    var task: Task<Void, Never>?
    /// The revision of the last change that is known.
    var lastChange: Int64 = 0
    /// Since when, and until when, nothing else can have happened unnoticed.
    var answeredAt = ContinuousClock.now
    var validUntil: ContinuousClock.Instant?
    /// What the watch itself has told of.
    var announced: Int64 = 0
    var isFollowing = false
    var askedAt = ContinuousClock.now
    var isEnded = false
  }

  private let client: EtcdClient
  private let key: String
  private let timing: Timing
  private let state = Mutex(State())

  init(_ key: String, _ client: EtcdClient, _ timing: Timing) {
    self.key = key
    self.client = client
    self.timing = timing
  }

  /// The revision of the group's last change, `nil` while nobody can tell. The first call begins to watch.
  var generation: UInt64? {
    let now = ContinuousClock.now
    return state.withLock { state in
      guard !state.isEnded else { return nil }
      state.askedAt = now
      if state.task == nil { state.task = Task { await self.run() } }
      guard let validUntil = state.validUntil, now < validUntil else { return nil }
      return UInt64(state.lastChange)
    }
  }

  /// For how long nothing was heard: an answer, or the watch itself.
  var age: Duration { state.withLock { ContinuousClock.now - $0.answeredAt } }

  /// Takes note of a change, such as this process's own.
  func changed(at revision: Int64) {
    state.withLock { $0.lastChange = max($0.lastChange, revision) }
  }

  /// Ends for good.
  func end() {
    let task = state.withLock { state in
      (state.isEnded, state.validUntil) = (true, nil)
      return state.task
    }
    task?.cancel()
  }

  private func run() async {
    var pause = Duration.milliseconds(100)
    while isWanted() {
      let beganAt = ContinuousClock.now
      if let revision = await ask() {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await self.follow(from: revision + 1) }
          group.addTask { await self.keepAsking() }
          _ = await group.next()
          group.cancelAll()
        }
      }
      state.withLock { ($0.validUntil, $0.isFollowing) = (nil, false) }
      // Whatever went wrong may go wrong at once again.
      pause =
        ContinuousClock.now - beganAt > timing.validity ? .milliseconds(100) : min(pause * 2, timing.interval)
      do { try await Task.sleep(for: pause * Double.random(in: 0.5...1)) } catch { return }
    }
  }

  /// Whether to go on. Where not, the next question begins anew.
  private func isWanted() -> Bool {
    state.withLock { state in
      if !state.isEnded, ContinuousClock.now - state.askedAt < timing.idle { return true }
      (state.task, state.validUntil) = (nil, nil)
      return false
    }
  }

  /// Asks for the last change.
  ///
  /// - Returns: At which revision it was asked.
  private func ask() async -> Int64? {
    let askedAt = ContinuousClock.now
    do throws(EtcdFailure) {
      let outcome = try await client.transaction([.get(key)], until: askedAt + timing.validity)
      let change = try outcome.value(0, of: key)?.modRevision ?? 0
      state.withLock { state in
        state.lastChange = max(state.lastChange, change)
        state.answeredAt = askedAt
        if state.isFollowing { state.validUntil = askedAt + timing.validity }
      }
      return outcome.revision
    } catch {
      return nil
    }
  }

  /// Asks again and again, until it fails, nobody wants to know, or the watch turns out not to have told of a change, or
  /// that it has begun.
  private func keepAsking() async {
    let beganAt = ContinuousClock.now
    while !Task.isCancelled {
      let known = state.withLock { $0.isFollowing ? $0.lastChange : 0 }
      do { try await Task.sleep(for: timing.interval) } catch { return }
      let isWanted = state.withLock { !$0.isEnded && ContinuousClock.now - $0.askedAt < timing.idle }
      let isMute = state.withLock {
        $0.isFollowing ? $0.announced < known : ContinuousClock.now - beganAt > timing.validity
      }
      if isMute { client.leavePreferred() }
      guard isWanted, !isMute, await ask() != nil else { return }
    }
  }

  /// Takes what the watch tells, until it ends.
  private func follow(from revision: Int64) async {
    // The transport hands its parts out one after the other.
    let lines = Mutex(AnswerLines())
    let message: JSONObject = [
      "create_request": .object(["key": .base64(key), "start_revision": .number(revision)])
    ]
    let canStream = try? await client.stream("watch", message) { [self] part in
      lines.withLock { $0.append(part) }?.allSatisfy { take($0, from: revision) } ?? false
    }
    if canStream == false { end() }
  }

  /// - Returns: False for what ends the watch.
  private func take(_ object: JSONObject, from revision: Int64) -> Bool {
    guard let result = object["result"]?.objectValue else { return false }
    do throws(EtcdFailure) {
      guard try !result.flag("canceled"), try result.number("compact_revision") == 0 else { return false }
      let isCreated = try result.flag("created")
      var last: Int64 = 0
      for event in try result.objects("events") {
        // A deletion has the revision at which it happened, too.
        last = max(last, try event["kv"]?.objectValue?.number("mod_revision") ?? 0)
      }
      state.withLock { state in
        if isCreated {
          // What was before, the question has told.
          (state.isFollowing, state.announced) = (true, max(state.lastChange, revision - 1))
          state.validUntil = state.answeredAt + timing.validity
        }
        state.announced = max(state.announced, last)
        state.lastChange = max(state.lastChange, last)
      }
      return true
    } catch {
      return false
    }
  }
}

/// The objects of an answer that has one a line, as it comes in.
struct AnswerLines {
  /// The longest line that is taken, in bytes.
  private static let maximumSize = 1 << 20
  /// How much is taken in a second, in bytes; a line counts as a thousand at least. To read every change costs more than
  /// to look for them now and then.
  private static let maximumRate = 1 << 20
  private var rest = Data()
  private var second = (end: ContinuousClock.now, size: 0)

  /// - Returns: The lines that are complete now; `nil` where too much comes at once.
  mutating func append(_ part: Data) -> [JSONObject]? {
    if ContinuousClock.now >= second.end { second = (.now + .seconds(1), 0) }
    second.size += part.count + 1000 * part.count { $0 == UInt8(ascii: "\n") }
    guard second.size <= Self.maximumRate else { return nil }
    var objects: [JSONObject] = []
    var pieces = part.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let last = pieces.popLast() ?? Data()
    for piece in pieces {
      objects.append((try? EtcdAnswer.object(rest + piece)) ?? [:])
      rest = Data()
    }
    rest += last
    if rest.count > Self.maximumSize {
      rest = Data()
      objects.append([:])
    }
    return objects
  }
}
