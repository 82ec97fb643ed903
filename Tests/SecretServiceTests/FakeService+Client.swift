import SecretService
import TestSupport

extension FakeService {
  /// It allows the plain session, which is all that this service has.
  func client(timeout: Duration = .seconds(300)) -> SecretServiceClient {
    SecretServiceClient(busAddress: keyring.busAddress, timeout: timeout, allowsPlainSession: true)
  }
}
