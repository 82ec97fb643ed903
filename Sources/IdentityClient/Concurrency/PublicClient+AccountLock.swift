import FoundationEssentials
import GLibSupport
import Logging
import Synchronization
import TokenCache

extension PublicClient {
  /// Runs work under the account's lock, so that no other process of the user, and no machine that shares the store,
  /// renews its tokens. If two send the same refresh token at once, a server that accepts each token once revokes the
  /// account's tokens.
  ///
  /// If the lock is unavailable or not free in time, the work runs without it. Most servers accept a refresh token
  /// twice, and at worst the user has to sign in.
  func withLock<T: Sendable>(
    of account: Account, within timeout: Duration, _ work: @autoclosure () async throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    let account = ShardID(homeAccountID: account.homeAccountID, group: cache.group)
    let deadline = ContinuousClock.now + timeout
    let file = try await lockFile(account, within: timeout)
    defer { file?.release() }
    // The processes of one machine send one at a time.
    return try await cache.store.withRenewalTurn(
      of: account, in: cache.group, within: max(deadline - ContinuousClock.now, .zero), work)
  }

  private func lockFile(
    _ account: ShardID, within timeout: Duration
  ) async throws(IdentityError) -> HeldLockFile? {
    let queue = lockQueues.withLock { queues in
      if let queue = queues[account] { return queue }
      let queue = BlockingQueue(label: "llavero.identity.lock", waitsForOthers: true)
      queues[account] = queue
      return queue
    }
    log(.debug, "Waiting for the account's turn.")
    do {
      return try await queue.run(
        timeout: timeout, onCancel: IdentityError.cancelled, onTimeout: IdentityError(.timedOut, "")
      ) { [lockDirectory, log] _ throws(IdentityError) in
        do {
          return try HeldLockFile(directory: lockDirectory, name: "renewal-\(account.rawValue).lock")
        } catch {
          log(.warning, "The lock for renewals cannot be used.", ["reason": "\(error)"])
          return nil
        }
      }
    } catch  where error.code == .timedOut {
      log(.warning, "Another process has been renewing tokens of the account for long; going on.")
      return nil
    }
  }
}
