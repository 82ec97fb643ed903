import FoundationEssentials
import Synchronization
import TokenCache

/// Reports whether a group has changed, by watching the value that every write to it changes.
///
/// A watch without events may have been cut off. etcd's own keep-alive comes every ten minutes, so the value is polled
/// besides, every few seconds as long as there are lookups. A response is valid for a while; then the state is unknown.
package final class GroupWatch: Sendable {
  package struct Timing: Sendable {
    /// How long after a response the value is polled again.
    let interval: Duration
    /// For how long a response is valid.
    let validity: Duration
    /// For how long the watch goes on without lookups.
    let idle: Duration

    package init(interval: Duration, validity: Duration, idle: Duration) {
      self.interval = interval
      self.validity = validity
      self.idle = idle
    }

    package static let standard = Timing(interval: .seconds(5), validity: .seconds(10), idle: .seconds(60))
  }

  /// How many lookups read before the watch begins, each of which may ask several times: a program that ends soon has no use
  /// for one.
  private static let lookupsWithoutWatch = 32

  private struct State {
    var lookups = 0
    var task: Task<Void, Never>?
    /// The revision of the last change that is known.
    var lastChange: Int64 = 0
    /// Since when, and until when, nothing else can have happened unnoticed.
    var confirmedAt = ContinuousClock.now
    var validUntil: ContinuousClock.Instant?
    /// The last change that the watch itself has reported.
    var announced: Int64 = 0
    var isFollowing = false
    var lookedUpAt = ContinuousClock.now
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

  /// The revision of the group's last change, `nil` while it is unknown. After some calls the watch begins.
  var generation: UInt64? {
    let now = ContinuousClock.now
    return state.withLock { state in
      guard !state.isEnded else { return nil }
      state.lookedUpAt = now
      state.lookups = min(state.lookups + 1, Self.lookupsWithoutWatch)
      guard state.lookups == Self.lookupsWithoutWatch else { return nil }
      if state.task == nil { state.task = Task { await self.run() } }
      guard let validUntil = state.validUntil, now < validUntil else { return nil }
      return UInt64(state.lastChange)
    }
  }

  /// How long ago the state was confirmed.
  var age: Duration { state.withLock { ContinuousClock.now - $0.confirmedAt } }

  /// Notes a change, such as this process's own.
  func changed(at revision: Int64) {
    state.withLock { $0.lastChange = max($0.lastChange, revision) }
  }

  /// Ends the watch. It does not begin again.
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
      if let revision = await poll() {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await self.follow(from: revision + 1) }
          group.addTask { await self.keepPolling() }
          _ = await group.next()
          group.cancelAll()
        }
      }
      state.withLock { ($0.validUntil, $0.isFollowing) = (nil, false) }
      // The same failure may come back at once.
      pause =
        ContinuousClock.now - beganAt > timing.validity ? .milliseconds(100) : min(pause * 2, timing.interval)
      do { try await Task.sleep(for: pause * Double.random(in: 0.5...1)) } catch { return }
    }
  }

  /// Whether to go on. Otherwise the next lookup begins to watch again.
  private func isWanted() -> Bool {
    state.withLock { state in
      if !state.isEnded, ContinuousClock.now - state.lookedUpAt < timing.idle { return true }
      (state.task, state.validUntil) = (nil, nil)
      return false
    }
  }

  /// Reads the last change and returns the cluster's revision.
  private func poll() async -> Int64? {
    let askedAt = ContinuousClock.now
    do throws(EtcdFailure) {
      let outcome = try await client.transaction([.get(key)], until: askedAt + timing.validity)
      let change = outcome.values[0]?.modRevision ?? 0
      state.withLock { state in
        state.lastChange = max(state.lastChange, change)
        state.confirmedAt = askedAt
        if state.isFollowing { state.validUntil = askedAt + timing.validity }
      }
      return outcome.revision
    } catch {
      return nil
    }
  }

  /// Polls until that fails, there are no lookups, or the watch turns out to have missed a change or not to have begun.
  private func keepPolling() async {
    let beganAt = ContinuousClock.now
    while !Task.isCancelled {
      let known = state.withLock { $0.isFollowing ? $0.lastChange : 0 }
      do { try await Task.sleep(for: timing.interval) } catch { return }
      let isWanted = state.withLock { !$0.isEnded && ContinuousClock.now - $0.lookedUpAt < timing.idle }
      let isStalled = state.withLock {
        $0.isFollowing ? $0.announced < known : ContinuousClock.now - beganAt > timing.validity
      }
      if isStalled { client.leavePreferred() }
      guard isWanted, !isStalled, await poll() != nil else { return }
    }
  }

  /// Receives the watch's events until it ends.
  private func follow(from revision: Int64) async {
    // The transport delivers its parts one after the other.
    let lines = Mutex(ResponseLines())
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
          // Earlier changes were read by polling.
          (state.isFollowing, state.announced) = (true, max(state.lastChange, revision - 1))
          state.validUntil = state.confirmedAt + timing.validity
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

/// The JSON objects of a response that has one per line, as its parts arrive.
struct ResponseLines {
  /// The longest accepted line, in bytes.
  private static let maximumSize = 1 << 20
  /// How much is accepted per second, in bytes; a line counts as a thousand at least. Reading every change costs more than
  /// polling.
  private static let maximumRate = 1 << 20
  private var rest = Data()
  private var second = (end: ContinuousClock.now, size: 0)

  /// - Returns: The lines that are complete now; `nil` when too much comes at once.
  mutating func append(_ part: Data) -> [JSONObject]? {
    if ContinuousClock.now >= second.end { second = (.now + .seconds(1), 0) }
    second.size += part.count + 1000 * part.count { $0 == UInt8(ascii: "\n") }
    guard second.size <= Self.maximumRate else { return nil }
    var objects: [JSONObject] = []
    var pieces = part.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let last = pieces.popLast() ?? Data()
    for piece in pieces {
      objects.append((try? EtcdResponse.object(rest + piece)) ?? [:])
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
