import CGLib
import FoundationEssentials
import GLibSupport

/// The body of a response while it arrives: undoes its chunks and its compression, and counts what came as well as what
/// that gives.
///
/// libsoup's own decoder reads on until there is something to hand out, which may be never.
struct AnswerBody {
  enum Problem: Error, Equatable {
    /// The answer ends before its body does.
    case brokenOff
    /// What came is too much, packed or unpacked.
    case tooLarge
    /// The rule that what came breaks, a sentence.
    case malformed(String)
  }

  /// What was made of the bytes up to now.
  private(set) var decoded = Data()
  /// Whether nothing more belongs to the body.
  private(set) var isComplete = false

  private var chunks: ChunkedCoding?
  private let announced: Int?
  private let encoding: ContentEncoding
  private let limit: Int
  private var unpacking: GzipDecoding?
  /// The bytes that came, with chunk sizes and all.
  private var received = 0
  /// How many of them make up what was taken already.
  private var taken = 0

  /// - Parameters:
  ///   - isChunked: Whether the bytes are those of `Transfer-Encoding: chunked`.
  ///   - announced: How many bytes the header promises.
  ///   - encoding: What the header says of the compression.
  ///   - limit: How many bytes are taken. What came may be larger by half, for chunk sizes and the like.
  init(isChunked: Bool, announced: Int?, encoding: ContentEncoding, limit: Int) {
    chunks = isChunked ? ChunkedCoding() : nil
    self.announced = announced
    self.encoding = encoding
    self.limit = limit
  }

  /// Takes the next bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
    received += bytes.count
    guard received - taken - limit <= limit / 2 + 65536 else { throw .tooLarge }
    guard var chunks else { return try decode(bytes) }
    defer { self.chunks = chunks }
    var rest = bytes[...]
    while let part = try chunks.next(in: &rest) { try decode(UnsafeRawBufferPointer(rebasing: part)) }
    if chunks.isComplete { try complete() }
  }

  /// Hands out what was made of the bytes up to now, which does not count any more.
  mutating func take() -> Data {
    taken = received
    defer { decoded = Data() }
    return decoded
  }

  /// Takes note that the bytes are at their end.
  mutating func end() throws(Problem) {
    guard chunks == nil, announced ?? 0 <= received else { throw .brokenOff }
    try complete()
  }

  private mutating func complete() throws(Problem) {
    if let unpacking, !unpacking.isComplete { throw .malformed("The compressed body breaks off.") }
    isComplete = true
  }

  private mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
    switch encoding {
    case .identity:
      guard decoded.count + bytes.count <= limit else { throw .tooLarge }
      decoded.append(contentsOf: bytes)
    case .gzip:
      let unpacking = self.unpacking ?? GzipDecoding()
      self.unpacking = unpacking
      try unpacking.decode(bytes, into: &decoded, limit: limit)
    case .other: throw .malformed("The body is encoded in a way that was not asked for.")
    }
  }
}

/// What `Content-Encoding` says.
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

/// Undoes gzip (RFC 1952), by GLib.
private final class GzipDecoding {
  private(set) var isComplete = false
  private let converter: OpaquePointer? = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP)
  private var buffer = [UInt8](repeating: 0, count: 65536)

  deinit { if let converter { g_object_unref(UnsafeMutableRawPointer(converter)) } }

  func decode(
    _ bytes: UnsafeRawBufferPointer, into output: inout Data, limit: Int
  ) throws(AnswerBody.Problem) {
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
        // It wants more than there is.
        if error.isIO(G_IO_ERROR_PARTIAL_INPUT) { return }
        throw .malformed("The compressed body is damaged.")
      }
      guard output.count + Int(written) <= limit else { throw .tooLarge }
      output.append(contentsOf: buffer[..<Int(written)])
      rest = rest.dropFirst(Int(read))
    }
    guard rest.isEmpty else { throw .malformed("Something follows the compressed body.") }
  }
}
