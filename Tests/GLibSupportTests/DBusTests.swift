import CGLib
import Glibc
import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct BusConnectionTests {
  @Test(.fault("bus ends asking")) func `Listening ends with the bus`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    let cancellable = Cancellable(timeout: .seconds(600))
    let connection = try BusConnection(address: keyring.busAddress, cancellable)
    async let listening: Void = blocking { connection.listen(until: { false }, cancellable) }
    keyring.shutdown()
    await listening
    #expect(connection.isClosed && !cancellable.isPastDeadline)
  }

  @Test(.fault("few fds")) func `A call after the first needs no descriptor`() async {
    await #expect(processExitsWith: .success) {
      let keyring = try PrivateKeyring(startingDaemon: false)
      defer { keyring.shutdown() }
      let (bus, cancellable) = try keyring.connect()
      let id = try bus.ask("GetId", [], reply: "(s)", cancellable)?.string
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = 100
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var taken: [Int32] = []
      while case let descriptor = dup(STDIN_FILENO), descriptor >= 0 { taken.append(descriptor) }
      // GLib's own thread may take one at any time.
      close(taken.removeLast())
      #expect(try bus.ask("GetId", [], reply: "(s)", cancellable)?.string == id)
      for descriptor in taken { close(descriptor) }
    }
  }

  @Test func `The end of another connection is told once, and listening ends at its limit`() throws {
    let (bus, cancellable) = try PrivateKeyring.shared.get().connect()
    var other: BusConnection? = try PrivateKeyring.shared.get().connect().0
    let name = other?.uniqueName ?? ""
    var ends = 0
    let subscription = bus.withContext { SignalSubscription(bus, endOf: name) { ends += 1 } }
    // The bus knows of the subscription when it answers.
    _ = try bus.ask("GetId", [], reply: "(s)", cancellable)
    other = nil
    withExtendedLifetime(subscription) { bus.listen(until: { ends > 0 }, cancellable) }
    bus.listen(until: { false }, within: .milliseconds(1), cancellable)
    #expect(ends == 1 && !cancellable.isPastDeadline)
  }
}

struct GLibErrorTests {
  @Test func `A local error keeps its domain, code and text`() {
    let error = #expect(throws: GLibError.self) {
      try withGError { error in
        g_set_error_literal(error, g_io_error_quark(), Int32(G_IO_ERROR_CANCELLED.rawValue), "stopped")
      }
    }
    #expect(error?.domain == "g-io-error-quark" && error?.message == "stopped" && error?.dbusName == nil)
    #expect(error?.isIO(G_IO_ERROR_CANCELLED) == true && error?.isIO(G_IO_ERROR_TIMED_OUT) == false)
  }

  @Test func `A D-Bus error's name is separate from its text`() throws {
    let cancellable = Cancellable(timeout: .seconds(120))
    let bus = try BusConnection(address: PrivateKeyring.shared.get().busAddress, cancellable)
    do {
      _ = try bus.call(
        "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", [.string("org.example.None")],
        reply: "(s)", cancellable)
      Issue.record("The name has an owner")
    } catch {
      #expect(error.dbusName == "org.freedesktop.DBus.Error.NameHasNoOwner")
      #expect(!error.message.contains("org.freedesktop.DBus.Error"))
    }
  }
}

struct VariantTests {
  @Test func `A variant returns the value that it was made of`() {
    #expect(Variant.string("größe").string == "größe")
    #expect(Variant.objectPath("/a/b").string == "/a/b")
    #expect(Variant.boolean(true).boolean == true)
    #expect(Variant.objectPaths(["/a", "/b"]).strings == ["/a", "/b"])
    #expect(Variant.dictionary(["a": "1", "b": ""]).dictionary == ["a": "1", "b": ""])
    #expect(Variant.properties(["a": .boolean(false)]).properties?["a"]?.boolean == false)
    #expect(Variant.tuple([.string("a"), .uint32(1)]).type == "(su)")
  }

  @Test func `Empty containers keep their type`() {
    #expect(Variant.objectPaths([]).type == "ao")
    #expect(Variant.objectPaths([]).strings == [])
    #expect(Variant.dictionary([:]).type == "a{ss}")
    #expect(Variant.properties([:]).type == "a{sv}")
    #expect(Variant.array(of: "y", []).type == "ay")
    #expect(Variant.tuple([]).type == "()")
  }

  @Test func `A variant of another type reads as nil`() {
    let text = Variant.string("text")
    #expect(text.boolean == nil)
    #expect(text.uint64 == nil)
    #expect(text.unwrapped == nil)
    #expect(text.strings == nil)
    #expect(text.dictionary == nil)
    #expect(text.properties == nil)
    #expect(Variant.boolean(true).string == nil)
  }

  @Test func `A member outlives what it was taken from`() {
    var whole: Variant? = .tuple([.string("kept")])
    let member = whole?.children.first
    whole = nil
    #expect(member?.string == "kept")
  }

  @Test func `The digest is SHA-256`() {
    #expect(sha256Hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let digits = sha256([0x61, 0x62, 0x63]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    #expect(digits.joined() == sha256Hex("abc"))
  }
}
