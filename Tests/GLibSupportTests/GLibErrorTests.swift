import CGLib
import GLibSupport
import TestSupport
import Testing

struct GLibErrorTests {
  @Test func `A local error keeps its domain, code and text`() {
    #expect(throws: GLibError.self) {
      try withGError { error in g_set_error_literal(error, g_io_error_quark(), 19, "gone") }
    }
    do {
      try withGError { error in
        g_set_error_literal(error, g_io_error_quark(), Int32(G_IO_ERROR_CANCELLED.rawValue), "stopped")
      }
    } catch {
      #expect(error.domain == "g-io-error-quark")
      #expect(error.isIO(G_IO_ERROR_CANCELLED))
      #expect(!error.isIO(G_IO_ERROR_TIMED_OUT))
      #expect(error.message == "stopped")
      #expect(error.dbusName == nil)
    }
  }

  @Test func `A D-Bus error's name is kept apart from its text`() throws {
    let cancellable = Cancellable(timeout: .seconds(120))
    let bus = try BusConnection(address: PrivateKeyring.shared.get().busAddress, cancellable)
    do {
      _ = try bus.call(
        "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", [.string("org.example.Nobody")],
        reply: "(s)", cancellable)
      Issue.record("The name has an owner")
    } catch {
      #expect(error.dbusName == "org.freedesktop.DBus.Error.NameHasNoOwner")
      #expect(!error.message.contains("org.freedesktop.DBus.Error"))
    }
  }

  @Test func `A call that succeeds throws nothing`() throws {
    #expect(try withGError { _ in 5 } == 5)
  }
}
