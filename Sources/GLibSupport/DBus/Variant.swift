import CGLib

/// Owns one reference of a `GVariant`.
///
/// Keep this object alive while C uses `pointer`: a temporary is released too early.
///
/// `@unchecked Sendable`: a GVariant is immutable and its reference count atomic.
package final class Variant: @unchecked Sendable {
  package let pointer: OpaquePointer

  /// Takes over the caller's reference, or sinks a floating one.
  package init(taking pointer: OpaquePointer) { self.pointer = g_variant_take_ref(pointer) }

  deinit { g_variant_unref(pointer) }
}

extension Variant {
  package static func string(_ value: String) -> Variant {
    Variant(taking: g_variant_new_string(value))
  }

  package static func boolean(_ value: Bool) -> Variant {
    Variant(taking: g_variant_new_boolean(value ? 1 : 0))
  }

  package static func uint32(_ value: UInt32) -> Variant {
    Variant(taking: g_variant_new_uint32(value))
  }

  /// The index of a descriptor in the list that is sent with a message.
  package static func handle(_ index: Int32) -> Variant {
    Variant(taking: g_variant_new_handle(index))
  }

  package static func int32(_ value: Int32) -> Variant {
    Variant(taking: g_variant_new_int32(value))
  }

  package static func byte(_ value: UInt8) -> Variant { Variant(taking: g_variant_new_byte(value)) }

  /// `path` must be a valid object path.
  package static func objectPath(_ path: String) -> Variant {
    Variant(taking: g_variant_new_object_path(path))
  }

  package static func objectPaths(_ paths: [String]) -> Variant {
    array(of: "o", paths.map(objectPath))
  }

  package static func variant(_ value: Variant) -> Variant {
    Variant(taking: g_variant_new_variant(value.pointer))
  }

  package static func tuple(_ members: [Variant]) -> Variant {
    let pointers = members.map { Optional($0.pointer) }
    return Variant(taking: g_variant_new_tuple(pointers, gsize(members.count)))
  }

  package static func dictionary(_ entries: [String: String]) -> Variant {
    array(of: "{ss}", entries.map { entry(.string($0.key), .string($0.value)) })
  }

  /// A dictionary of type `a{sv}`.
  package static func properties(_ entries: [String: Variant]) -> Variant {
    array(of: "{sv}", entries.map { entry(.string($0.key), .variant($0.value)) })
  }

  /// An array of type `ay`.
  package static func bytes(_ bytes: UnsafeRawBufferPointer) -> Variant {
    withVariantType("y") {
      Variant(taking: g_variant_new_fixed_array($0, bytes.baseAddress, gsize(bytes.count), 1))
    }
  }

  package static func entry(_ key: Variant, _ value: Variant) -> Variant {
    Variant(taking: g_variant_new_dict_entry(key.pointer, value.pointer))
  }

  package static func array(of type: String, _ members: [Variant]) -> Variant {
    let pointers = members.map { Optional($0.pointer) }
    return withVariantType(type) { type in
      Variant(taking: g_variant_new_array(type, pointers, gsize(members.count)))
    }
  }
}

extension Variant {
  package var type: String { String(cString: g_variant_get_type_string(pointer)) }

  package var children: [Variant] {
    (0..<g_variant_n_children(pointer)).map { Variant(taking: g_variant_get_child_value(pointer, $0)) }
  }

  /// The text of a string or an object path.
  package var string: String? {
    type == "s" || type == "o" ? String(cString: g_variant_get_string(pointer, nil)) : nil
  }

  package var boolean: Bool? { type == "b" ? g_variant_get_boolean(pointer) != 0 : nil }

  package var uint32: UInt32? { type == "u" ? g_variant_get_uint32(pointer) : nil }

  package var uint64: UInt64? { type == "t" ? UInt64(g_variant_get_uint64(pointer)) : nil }

  /// The value inside a value of type `v`.
  package var unwrapped: Variant? {
    type == "v" ? Variant(taking: g_variant_get_variant(pointer)) : nil
  }

  /// The members of an array of strings or object paths.
  package var strings: [String]? {
    type == "as" || type == "ao" ? children.compactMap(\.string) : nil
  }

  /// Calls `body` with the members of an array of type `ay`, which are valid only until it returns.
  package func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
    var count: gsize = 0
    let start = g_variant_get_fixed_array(pointer, &count, 1)
    defer { withExtendedLifetime(self) {} }
    return body(UnsafeRawBufferPointer(start: start, count: Int(count)))
  }

  package var dictionary: [String: String]? { entries("a{ss}", \.string) }

  /// The entries of a dictionary of type `a{sv}`.
  package var properties: [String: Variant]? { entries("a{sv}", \.unwrapped) }

  private func entries<T>(_ type: String, _ value: (Variant) -> T?) -> [String: T]? {
    guard self.type == type else { return nil }
    var result: [String: T] = [:]
    for entry in children.map(\.children) {
      if let key = entry[0].string, let value = value(entry[1]) { result[key] = value }
    }
    return result
  }
}

/// Calls `body` with the parsed form of a D-Bus type string, which must be valid.
func withVariantType<T>(
  _ type: String, _ body: (OpaquePointer) -> T
) -> T {
  let parsed: OpaquePointer = g_variant_type_new(type)
  defer { g_variant_type_free(parsed) }
  return body(parsed)
}
