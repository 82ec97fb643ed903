/// How requests are sent and sent again.
package struct HTTPSettings: Sendable {
  /// How often a request that failed at the server or on the way is sent again.
  package var retryCount: Int
  /// How long to wait before that.
  package var retryInterval: Duration
  /// How long one request may take.
  package var timeout: Duration

  package init(retryCount: Int, retryInterval: Duration, timeout: Duration) {
    self.retryCount = retryCount
    self.retryInterval = retryInterval
    self.timeout = timeout
  }
}

extension ClientConfiguration {
  var httpSettings: HTTPSettings {
    HTTPSettings(retryCount: httpRetryCount, retryInterval: httpRetryInterval, timeout: httpTimeout)
  }
}
