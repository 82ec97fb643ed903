import Glibc

/// Looks for a text in this process's own memory.
///
/// The text is kept with every bit flipped, so that the search does not find itself.
package struct MemoryScan {
  private let flipped: [UInt8]

  /// - Parameter parts: What to look for, in parts, so that the whole stands nowhere because of this.
  package init(_ parts: String...) {
    flipped = parts.flatMap { $0.utf8.map { ~$0 } }
  }

  /// How often the text stands in memory that the process can write to.
  package func count() -> Int {
    // By way of the kernel, since other threads may give memory back meanwhile.
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    defer { close(memory) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    return buffer.withUnsafeMutableBytes { buffer in
      defer { _ = buffer.initializeMemory(as: UInt8.self, repeating: 0) }
      return regions().reduce(0) { $0 + count(in: $1, of: memory, by: buffer) }
    }
  }

  private func count(in region: Range<UInt>, of memory: Int32, by buffer: UnsafeMutableRawBufferPointer)
    -> Int
  {
    let own = UInt(bitPattern: buffer.baseAddress)..<UInt(bitPattern: buffer.baseAddress) + UInt(buffer.count)
    var (count, start) = (0, region.lowerBound)
    while start < region.upperBound {
      let size = min(buffer.count, Int(region.upperBound - start))
      let read = pread(memory, buffer.baseAddress, size, off_t(start))
      guard read >= flipped.count else { break }
      count += places(in: UnsafeRawBufferPointer(rebasing: buffer[..<read]))
        .count { !own.contains(start + UInt($0)) }
      // The next part begins with what may be the beginning of a text.
      start += UInt(read - flipped.count + 1)
      if read < size || start + UInt(flipped.count) > region.upperBound { break }
    }
    return count
  }

  private func places(in part: UnsafeRawBufferPointer) -> [Int] {
    guard let first = flipped.first, let start = part.baseAddress else { return [] }
    var (places, index): ([Int], Int) = ([], 0)
    // memchr, since a debug build would take minutes to look at each byte.
    while index <= part.count - flipped.count,
      let found = memchr(start + index, Int32(~first), part.count - flipped.count - index + 1)
    {
      index = UnsafeRawPointer(found) - start
      if flipped.indices.allSatisfy({ part[index + $0] == ~flipped[$0] }) { places.append(index) }
      index += 1
    }
    return places
  }

  private func regions() -> [Range<UInt>] {
    guard let file = fopen("/proc/self/maps", "r") else { return [] }
    defer { fclose(file) }
    var regions: [Range<UInt>] = []
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let words = text.split(separator: " ")
      let ends = words.first.map { $0.split(separator: "-").compactMap { UInt($0, radix: 16) } } ?? []
      guard words.count > 1, words[1].hasPrefix("rw"), ends.count == 2 else { continue }
      // A sanitizer's own memory, mapped by the terabyte.
      if ends[1] - ends[0] > 1 << 36 { continue }
      regions.append(ends[0]..<ends[1])
    }
    return regions
  }
}
