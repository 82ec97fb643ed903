import CGLib
import FoundationEssentials
import GLibSupport
import HTTPSupport

/// The body of a response while it arrives: decodes chunks and compression, and limits both the received and the decoded
/// bytes.
///
/// libsoup's own decoder reads until it has something to return, which may be never.
struct ResponseBody {
  /// The decoded bytes so far.
  private(set) var decoded = Data()
  /// Whether the body is complete.
  private(set) var isComplete = false

  /// The host that errors name.
  private let host: String
  private var chunks: ChunkedCoding?
  /// The length in the header.
  private let announced: Int?
  private let encoding: ContentEncoding
  /// The maximum number of decoded bytes. The received ones may be half as many more, for chunk sizes.
  private let limit: Int
  private var unpacking: GzipDecoding?
  /// The number of received bytes, including chunk sizes.
  private var received = 0
  /// The number of received bytes that ``take()`` has returned.
  private var taken = 0

  init(of host: String, isChunked: Bool, announced: Int?, encoding: ContentEncoding, limit: Int) {
    self.host = host
    chunks = isChunked ? ChunkedCoding(host: host) : nil
    self.announced = announced
    self.encoding = encoding
    self.limit = limit
  }

  /// Decodes the next bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(HTTPTransportError) {
    received += bytes.count
    guard received - taken - limit <= limit / 2 + 65536 else { throw .responseTooLarge(limit: limit) }
    guard var chunks else { return try decode(bytes) }
    defer { self.chunks = chunks }
    var rest = bytes[...]
    while let part = try chunks.next(in: &rest) { try decode(UnsafeRawBufferPointer(rebasing: part)) }
    if chunks.isComplete { try complete() }
  }

  /// Returns the decoded bytes so far, which no longer count.
  mutating func take() -> Data {
    taken = received
    defer { decoded = Data() }
    return decoded
  }

  mutating func end() throws(HTTPTransportError) {
    guard chunks == nil, announced ?? 0 <= received else { throw .cutOff(by: host) }
    try complete()
  }

  private mutating func complete() throws(HTTPTransportError) {
    if let unpacking, !unpacking.isComplete {
      throw .malformedResponse("\(host): The compressed body is truncated.")
    }
    isComplete = true
  }

  private mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(HTTPTransportError) {
    switch encoding {
    case .identity:
      guard decoded.count + bytes.count <= limit else { throw .responseTooLarge(limit: limit) }
      decoded.append(contentsOf: bytes)
    case .gzip:
      let unpacking = self.unpacking ?? GzipDecoding(host: host)
      self.unpacking = unpacking
      try unpacking.decode(bytes, into: &decoded, limit: limit)
    case .other: throw .malformedResponse("\(host): The body has an encoding that was not requested.")
    }
  }
}

enum ContentEncoding: Equatable {
  case identity
  case gzip
  case other

  /// Reads the field (RFC 9110 section 8.4).
  init(_ field: String?) {
    switch field?.lowercased() {
    case nil, "", "identity": self = .identity
    case "gzip", "x-gzip": self = .gzip
    default: self = .other
    }
  }
}

/// Decodes gzip (RFC 1952) with GLib.
private final class GzipDecoding {
  private let host: String
  private(set) var isComplete = false
  private let converter: OpaquePointer? = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP)
  private var buffer = [UInt8](repeating: 0, count: 65536)

  init(host: String) { self.host = host }

  deinit { if let converter { g_object_unref(UnsafeMutableRawPointer(converter)) } }

  func decode(
    _ bytes: UnsafeRawBufferPointer, into output: inout Data, limit: Int
  ) throws(HTTPTransportError) {
    var rest = bytes[...]
    while !isComplete {
      var (read, written): (gsize, gsize) = (0, 0)
      do throws(GLibError) {
        let input = UnsafeRawBufferPointer(rebasing: rest)
        let result = try withGError {
          g_converter_convert(
            converter, input.baseAddress, gsize(input.count), &buffer, gsize(buffer.count),
            GConverterFlags(rawValue: 0), &read, &written, $0)
        }
        isComplete = result == G_CONVERTER_FINISHED
      } catch {
        // More input is needed.
        if error.isIO(G_IO_ERROR_PARTIAL_INPUT) { return }
        throw .malformedResponse("\(host): The compressed body is damaged.")
      }
      guard output.count + Int(written) <= limit else { throw .responseTooLarge(limit: limit) }
      output.append(contentsOf: buffer[..<Int(written)])
      rest = rest.dropFirst(Int(read))
    }
    guard rest.isEmpty else { throw .malformedResponse("\(host): The compressed body has trailing bytes.") }
  }
}
