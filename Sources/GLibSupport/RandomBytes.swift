/// Bytes that nobody can foretell, such as those of keys.
package func randomBytes(_ count: Int) -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  return (0..<count).map { _ in .random(in: 0...255, using: &generator) }
}
