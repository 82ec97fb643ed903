import SecretService
import TestSupport

extension FakeService {
  func client(timeout: Duration = .seconds(20)) -> SecretServiceClient {
    SecretServiceClient(busAddress: keyring.busAddress, timeout: timeout)
  }
}
