import FoundationEssentials
import HTTPSupport
@testable import SoupTransport

/// A body gives as much as is allowed, from as much as is allowed, and the same in whatever parts it comes.
///
/// Input: bit 0 of the first byte for chunks, bit 1 for gzip; the size of the parts; then what came.
@Sendable func fuzzEncoding(_ input: Data) {
  guard input.count > 2 else { return }
  let (kind, size) = (input[input.startIndex], max(1, Int(input[input.startIndex + 1])))
  let bytes = Array(input.dropFirst(2))
  let limit = 4096
  func take(_ part: Int) -> Result<Data, HTTPTransportError> {
    var body = ResponseBody(
      of: "host", isChunked: kind & 1 != 0, announced: nil, encoding: kind & 2 != 0 ? .gzip : .identity,
      limit: limit)
    return Result { () throws(HTTPTransportError) in
      var start = 0
      while start < bytes.count, !body.isComplete {
        let end = min(start + part, bytes.count)
        let next = Array(bytes[start..<end])
        try append(next, to: &body)
        require(body.decoded.count <= limit, "More came out than is allowed.")
        start = end
      }
      // A server that repeats itself for ever.
      var rounds = 0
      while kind & 4 != 0, !body.isComplete {
        try append(bytes, to: &body)
        rounds += bytes.count
        require(rounds <= 2 * limit + 65536, "What came is not counted.")
      }
      if !body.isComplete { try body.end() }
      return body.decoded
    }
  }
  let (whole, parts) = (take(bytes.count), take(size))
  if case .success(let data) = whole, case .success(let other) = parts {
    require(data == other, "The parts make a difference.")
  }
  require((try? whole.get()) == (try? parts.get()), "The parts make a difference.")
}

private func append(_ bytes: [UInt8], to body: inout ResponseBody) throws(HTTPTransportError) {
  let outcome = bytes.withUnsafeBytes { bytes in
    Result { () throws(HTTPTransportError) in try body.append(bytes) }
  }
  try outcome.get()
}
