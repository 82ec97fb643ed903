import Crypto
import FoundationEssentials
import SwiftASN1

/// A throw-away certificate authority and the server certificate that it signed.
///
/// Made in this process, since signing tokens needs swift-crypto anyway: no `openssl` to install, no child, no
/// private key in a file. X.509 (RFC 5280) is little more than nested sequences here; swift-certificates would
/// add a minute of build.
struct Certificates: Sendable {
  let authorityPEM: String
  let serverPEM: String

  init(validity: ClosedRange<Date>) throws {
    let authorityKey = P256.Signing.PrivateKey()
    let serverKey = P256.Signing.PrivateKey()
    let authorityExtensions = [
      try encoded(extension: [2, 5, 29, 19], isCritical: true, sequence(encoded(true))),
      // keyCertSign and cRLSign
      try encoded(extension: [2, 5, 29, 15], encoded(ASN1BitString(bytes: [0b0000_0110], paddingBits: 1))),
    ]
    authorityPEM = try certificate(
      for: authorityKey, named: "Entra Lab CA", authorityExtensions, validity, signer: authorityKey)
    let names = [
      tagged(2, Array("localhost".utf8)), tagged(7, [127, 0, 0, 1]),
      tagged(7, [UInt8](repeating: 0, count: 15) + [1]),
    ]
    let serverExtensions = [
      try encoded(extension: [2, 5, 29, 19], isCritical: true, sequence()),
      // digitalSignature
      try encoded(extension: [2, 5, 29, 15], encoded(ASN1BitString(bytes: [0b1000_0000], paddingBits: 7))),
      try encoded(
        extension: [2, 5, 29, 37], sequence(encoded([1, 3, 6, 1, 5, 5, 7, 3, 1] as ASN1ObjectIdentifier))),
      try encoded(extension: [2, 5, 29, 17], sequence(names.flatMap(\.self))),
    ]
    serverPEM =
      try certificate(for: serverKey, named: "localhost", serverExtensions, validity, signer: authorityKey)
      + "\n" + serverKey.pemRepresentation + "\n"
  }
}

private func certificate(
  for key: P256.Signing.PrivateKey, named name: String, _ extensions: [[UInt8]],
  _ validity: ClosedRange<Date>, signer: P256.Signing.PrivateKey
) throws -> String {
  let ecdsaWithSHA256 = sequence(try encoded([1, 2, 840, 10045, 4, 3, 2] as ASN1ObjectIdentifier))
  let ownKey = ASN1OctetString(contentBytes: keyIdentifier(key))
  let body = try sequence(
    constructed(context(0), encoded(2)), encoded(Int.random(in: 1...Int.max)), ecdsaWithSHA256,
    encoded(commonName: "Entra Lab CA"),
    sequence(encoded(validity.lowerBound), encoded(validity.upperBound)), encoded(commonName: name),
    Array(key.publicKey.derRepresentation),
    constructed(
      context(3),
      sequence(
        extensions.flatMap(\.self), encoded(extension: [2, 5, 29, 14], encoded(ownKey)),
        encoded(extension: [2, 5, 29, 35], sequence(tagged(0, keyIdentifier(signer)))))))
  let signature = ASN1BitString(bytes: Array(try signer.signature(for: body).derRepresentation)[...])
  let bytes = sequence(body, ecdsaWithSHA256, try encoded(signature))
  return PEMDocument(type: "CERTIFICATE", derBytes: bytes).pemString
}

private func keyIdentifier(_ key: P256.Signing.PrivateKey) -> ArraySlice<UInt8> {
  Array(SHA256.hash(data: key.publicKey.x963Representation)).prefix(20)
}

private func encoded(_ value: some DERSerializable) throws -> [UInt8] {
  var serializer = DER.Serializer()
  try serializer.serialize(value)
  return serializer.serializedBytes
}

/// A UTCTime, which RFC 5280 wants for dates before 2050.
private func encoded(_ time: Date) -> [UInt8] {
  let digits = time.formatted(.iso8601).filter(\.isNumber).dropFirst(2)
  return primitive(.utcTime, Array("\(digits)Z".utf8))
}

private func encoded(commonName: String) throws -> [UInt8] {
  let attribute = try sequence(
    encoded([2, 5, 4, 3] as ASN1ObjectIdentifier), encoded(ASN1UTF8String(commonName)))
  return sequence(constructed(.set, attribute))
}

/// A critical extension only where basic constraints are; a client may ignore all others that it does not know.
private func encoded(
  extension identifier: ASN1ObjectIdentifier, isCritical: Bool = false, _ content: [UInt8]
) throws -> [UInt8] {
  try sequence(
    encoded(identifier), isCritical ? encoded(true) : [],
    encoded(ASN1OctetString(contentBytes: content[...])))
}

private func sequence(_ members: [UInt8]...) -> [UInt8] { constructed(.sequence, members.flatMap(\.self)) }

private func constructed(_ identifier: ASN1Identifier, _ content: [UInt8]) -> [UInt8] {
  var serializer = DER.Serializer()
  serializer.appendConstructedNode(identifier: identifier) { $0.serializeRawBytes(content) }
  return serializer.serializedBytes
}

private func primitive(_ identifier: ASN1Identifier, _ content: some Sequence<UInt8>) -> [UInt8] {
  var serializer = DER.Serializer()
  serializer.appendPrimitiveNode(identifier: identifier) { $0 += content }
  return serializer.serializedBytes
}

private func tagged(_ tag: UInt, _ content: some Sequence<UInt8>) -> [UInt8] {
  primitive(context(tag), content)
}

private func context(_ tag: UInt) -> ASN1Identifier {
  ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific)
}
