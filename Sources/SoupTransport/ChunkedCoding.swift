import HTTPSupport

/// Decodes `Transfer-Encoding: chunked` (RFC 9112 section 7.1).
struct ChunkedCoding {
  private enum State {
    /// In a chunk's size, after this many digits.
    case size(Int, digits: Int)
    case sizeExtension(Int)
    /// Between CR and LF after a size.
    case sizeEnd(Int)
    /// In a chunk that has this many bytes more.
    case data(Int)
    /// After a chunk; `hasCR` between its CR and LF.
    case dataEnd(hasCR: Bool)
    case trailerStart
    case trailer
    /// Between CR and LF after a trailer, or after all of them.
    case trailerEnd(isLast: Bool)
    case complete
  }

  private let host: String
  private var state = State.size(0, digits: 0)

  init(host: String) { self.host = host }

  /// Whether the last chunk and its trailers were read.
  var isComplete: Bool { if case .complete = state { true } else { false } }

  /// Removes bytes from the front of `input`, and returns the next bytes of content; `nil` when it is empty or all is read.
  mutating func next(
    in input: inout Slice<UnsafeRawBufferPointer>
  ) throws(HTTPTransportError) -> Slice<UnsafeRawBufferPointer>? {
    while !input.isEmpty, !isComplete {
      if case .data(let size) = state {
        let part = input.prefix(size)
        input = input.dropFirst(size)
        state = part.count == size ? .dataEnd(hasCR: false) : .data(size - part.count)
        return part
      }
      guard let next = Self.state(after: input.removeFirst(), in: state) else {
        throw .malformedResponse("\(host): The chunks of the body are invalid.")
      }
      state = next
    }
    return nil
  }

  private static let (cr, lf) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))

  /// Returns `nil` for a byte that may not stand there.
  private static func state(after byte: UInt8, in state: State) -> State? {
    switch (state, byte) {
    case (.size(let size, 1...), cr), (.sizeExtension(let size), cr): return .sizeEnd(size)
    case (.size(let size, 1...), UInt8(ascii: ";")), (.size(let size, 1...), UInt8(ascii: " ")):
      return .sizeExtension(size)
    // 15 digits always fit, and are more than any server sends.
    case (.size(let size, let digits), _) where digits < 15:
      guard byte < 0x80, let digit = Character(UnicodeScalar(byte)).hexDigitValue else { break }
      return .size(size << 4 | digit, digits: digits + 1)
    case (.sizeEnd(0), lf), (.trailerEnd(isLast: false), lf): return .trailerStart
    case (.sizeEnd(let size), lf): return .data(size)
    case (.dataEnd(hasCR: false), cr): return .dataEnd(hasCR: true)
    case (.dataEnd(hasCR: true), lf): return .size(0, digits: 0)
    case (.trailerStart, cr): return .trailerEnd(isLast: true)
    case (.trailer, cr): return .trailerEnd(isLast: false)
    case (.trailerEnd(isLast: true), lf): return .complete
    case (.sizeExtension, _) where byte != lf, (.trailerStart, _) where byte != lf,
      (.trailer, _) where byte != lf:
      if case .sizeExtension = state { return state }
      return .trailer
    default: break
    }
    return nil
  }
}
