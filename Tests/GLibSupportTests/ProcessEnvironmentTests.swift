import FoundationEssentials
import GLibSupport
import Glibc
import Testing

struct ProcessEnvironmentTests {
  @Test func `The environment is what the process has at the moment`() async {
    await #expect(processExitsWith: .success) {
      setenv("LLAVERO_TEST_EQUALS", "a=b=", 1)
      setenv("LLAVERO_TEST_EMPTY", "", 1)
      #expect(processEnvironment()["LLAVERO_TEST_EQUALS"] == "a=b=")
      #expect(processEnvironment()["LLAVERO_TEST_EMPTY"]?.isEmpty == true)
      #expect(processEnvironment() == ProcessInfo.processInfo.environment)
      unsetenv("LLAVERO_TEST_EQUALS")
      #expect(processEnvironment()["LLAVERO_TEST_EQUALS"] == nil)
      // A second variable of the first one's name.
      setenv("LLAVERO_TEST_FIRST", "1", 1)
      let other = try #require(strdup("LLAVERO_TEST_OTHER=2"))
      putenv(other)
      memcpy(other, "LLAVERO_TEST_FIRST", "LLAVERO_TEST_FIRST".utf8.count)
      #expect(processEnvironment()["LLAVERO_TEST_FIRST"] == "1")
    }
  }
}
