import SecretService
import TestSupport

extension FakeService {
  func client(timeout: Duration = .seconds(300)) -> SecretServiceClient {
    SecretServiceClient(busAddress: keyring.busAddress, timeout: timeout)
  }
}
