import CGTK

/// A connected handler of a signal.
public struct SignalHandler: Sendable {
  let id: UInt
}

/// The arguments of a signal, without the object that sent it. They are valid during the call of the handler only.
public struct SignalArguments {
  let values: UnsafeBufferPointer<GValue>

  /// The text at a position; `nil` if the argument has none.
  public func string(_ index: Int) -> String? {
    value(index, type: GTK_FUNDAMENTAL_STRING).flatMap { g_value_get_string($0) }.map { String(cString: $0) }
  }

  /// The number at a position.
  public func int(_ index: Int) -> Int32? {
    value(index, type: GTK_FUNDAMENTAL_INT).map { g_value_get_int($0) }
  }

  /// The unsigned number at a position.
  public func uint(_ index: Int) -> UInt32? {
    value(index, type: GTK_FUNDAMENTAL_UINT).map { g_value_get_uint($0) }
  }

  /// The object at a position, borrowed.
  public func object(_ index: Int) -> UnsafeMutableRawPointer? {
    value(index, type: GTK_FUNDAMENTAL_OBJECT).flatMap { g_value_get_object($0) }
  }

  private func value(_ index: Int, type: GType) -> UnsafePointer<GValue>? {
    guard values.indices.contains(index), let base = values.baseAddress else { return nil }
    let value = base + index
    return g_type_check_value_holds(value, type) != 0 ? value : nil
  }
}

extension GTKObject {
  /// Calls a closure on the main actor whenever a signal is sent.
  ///
  /// The object retains the closure until it is destroyed, such as a window when it is closed. The closure should refer to
  /// the object, or a widget around it, weakly.
  ///
  /// - Parameters:
  ///   - signal: Its name, for example `clicked`.
  ///   - handler: Called each time.
  /// - Returns: The argument of ``disconnect(_:)``.
  @discardableResult
  public func connect(_ signal: String, _ handler: @escaping @MainActor () -> Void) -> SignalHandler {
    connect(signal) { _ in
      handler()
      return false
    }
  }

  /// Calls a closure with the arguments on the main actor whenever a signal is sent.
  ///
  /// - Parameters:
  ///   - signal: Its name, for example `close-request`.
  ///   - handler: Receives the arguments. Its result is that of the signal, usually whether it was handled.
  /// - Returns: The argument of ``disconnect(_:)``.
  @discardableResult
  public func connect(
    _ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> Bool
  ) -> SignalHandler {
    let box = Unmanaged.passRetained(HandlerBox(handler)).toOpaque()
    let closure = g_closure_new_simple(UInt32(MemoryLayout<GClosure>.size), box)
    g_closure_add_finalize_notifier(closure, box) { box, _ in
      if let box { Unmanaged<HandlerBox>.fromOpaque(box).release() }
    }
    g_closure_set_marshal(closure) { closure, result, count, values, _, _ in
      guard let box = closure?.pointee.data else { return }
      // The loop runs on the main actor's thread, which GTK's types cannot express.
      let values = UnsafeBufferPointer(start: values, count: Int(count)).dropFirst()
      nonisolated(unsafe) let arguments = SignalArguments(values: UnsafeBufferPointer(rebasing: values))
      let answer = MainActor.assumeIsolated {
        Unmanaged<HandlerBox>.fromOpaque(box).takeUnretainedValue().handler(arguments)
      }
      if let result, g_type_check_value_holds(result, GTK_FUNDAMENTAL_BOOLEAN) != 0 {
        g_value_set_boolean(result, answer ? 1 : 0)
      }
    }
    return SignalHandler(id: g_signal_connect_closure(raw, signal, closure, 0))
  }

  /// Disconnects a handler and releases its closure.
  public func disconnect(_ handler: SignalHandler) {
    g_signal_handler_disconnect(raw, handler.id)
  }
}

private final class HandlerBox: Sendable {
  let handler: @MainActor (SignalArguments) -> Bool

  init(_ handler: @escaping @MainActor (SignalArguments) -> Bool) {
    self.handler = handler
  }
}
