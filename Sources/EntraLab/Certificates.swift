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
    authorityPEM = try Self.certificate(
      for: authorityKey, named: "Entra Lab CA", isAuthority: true, validity: validity, signer: authorityKey)
    serverPEM =
      try Self.certificate(
        for: serverKey, named: "localhost", isAuthority: false, validity: validity, signer: authorityKey)
      + "\n" + serverKey.pemRepresentation + "\n"
  }

  private static func certificate(
    for key: P256.Signing.PrivateKey, named name: String, isAuthority: Bool, validity: ClosedRange<Date>,
    signer: P256.Signing.PrivateKey
  ) throws -> String {
    var body = DER.Serializer()
    try body.sequence { body in
      try body.explicitlyTagged(0) { try $0.serialize(2) }
      try body.serialize(Int.random(in: 1...Int.max))
      try body.sequence { try $0.serialize(ecdsaWithSHA256) }
      try body.serialize(commonName: "Entra Lab CA")
      try body.sequence {
        $0.serialize(time: validity.lowerBound)
        $0.serialize(time: validity.upperBound)
      }
      try body.serialize(commonName: name)
      body.serializeRawBytes(key.publicKey.derRepresentation)
      try body.explicitlyTagged(3) { body in
        try body.sequence { extensions in
          try extensions.serialize(extension: [2, 5, 29, 19]) { value in
            try value.sequence { if isAuthority { try $0.serialize(true) } }
          }
          try extensions.serialize(extension: [2, 5, 29, 14]) { value in
            try value.serialize(keyIdentifier(key))
          }
          try extensions.serialize(extension: [2, 5, 29, 35]) { value in
            try value.sequence { $0.serializeTagged(0, bytes: keyIdentifier(signer).bytes) }
          }
          if isAuthority {
            try extensions.serialize(extension: [2, 5, 29, 15]) { value in
              // keyCertSign and cRLSign
              try value.serialize(ASN1BitString(bytes: [0b0000_0110], paddingBits: 1))
            }
          } else {
            try extensions.serialize(extension: [2, 5, 29, 15]) { value in
              // digitalSignature
              try value.serialize(ASN1BitString(bytes: [0b1000_0000], paddingBits: 7))
            }
            try extensions.serialize(extension: [2, 5, 29, 37]) { value in
              try value.sequence { try $0.serialize([1, 3, 6, 1, 5, 5, 7, 3, 1] as ASN1ObjectIdentifier) }
            }
            try extensions.serialize(extension: [2, 5, 29, 17]) { value in
              try value.sequence {
                $0.serializeTagged(2, bytes: Array("localhost".utf8)[...])
                $0.serializeTagged(7, bytes: [127, 0, 0, 1])
                $0.serializeTagged(7, bytes: ([UInt8](repeating: 0, count: 15) + [1])[...])
              }
            }
          }
        }
      }
    }
    let signature = try signer.signature(for: body.serializedBytes).derRepresentation
    var certificate = DER.Serializer()
    try certificate.sequence {
      $0.serializeRawBytes(body.serializedBytes)
      try $0.sequence { try $0.serialize(ecdsaWithSHA256) }
      try $0.serialize(ASN1BitString(bytes: ArraySlice(signature)))
    }
    return PEMDocument(type: "CERTIFICATE", derBytes: certificate.serializedBytes).pemString
  }

  private static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 2]

  private static func keyIdentifier(_ key: P256.Signing.PrivateKey) -> ASN1OctetString {
    ASN1OctetString(contentBytes: ArraySlice(SHA256.hash(data: key.publicKey.x963Representation).prefix(20)))
  }
}

extension DER.Serializer {
  fileprivate mutating func sequence(_ content: (inout DER.Serializer) throws -> Void) throws {
    try appendConstructedNode(identifier: .sequence, content)
  }

  fileprivate mutating func explicitlyTagged(
    _ tag: UInt, _ content: (inout DER.Serializer) throws -> Void
  ) throws {
    try appendConstructedNode(
      identifier: ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific), content)
  }

  fileprivate mutating func serializeTagged(_ tag: UInt, bytes: ArraySlice<UInt8>) {
    appendPrimitiveNode(identifier: ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific)) {
      $0 += bytes
    }
  }

  /// A UTCTime, which RFC 5280 wants for dates before 2050.
  fileprivate mutating func serialize(time: Date) {
    let digits = time.formatted(.iso8601).filter(\.isNumber).dropFirst(2)
    appendPrimitiveNode(identifier: .utcTime) { $0 += Array(digits.utf8) + [UInt8(ascii: "Z")] }
  }

  fileprivate mutating func serialize(commonName: String) throws {
    try sequence { name in
      try name.appendConstructedNode(identifier: .set) { attributes in
        try attributes.sequence { attribute in
          try attribute.serialize([2, 5, 4, 3] as ASN1ObjectIdentifier)
          try attribute.serialize(ASN1UTF8String(commonName))
        }
      }
    }
  }

  /// A critical extension only where basic constraints are; a client may ignore all others that it does not know.
  fileprivate mutating func serialize(
    extension identifier: ASN1ObjectIdentifier, _ value: (inout DER.Serializer) throws -> Void
  ) throws {
    var content = DER.Serializer()
    try value(&content)
    try sequence {
      try $0.serialize(identifier)
      if identifier == [2, 5, 29, 19] { try $0.serialize(true) }
      try $0.serialize(ASN1OctetString(contentBytes: content.serializedBytes[...]))
    }
  }
}
