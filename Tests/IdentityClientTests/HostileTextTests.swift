import Foundation
import HTTPSupport
import Logging
import Testing

@testable import IdentityClient

/// What servers write drives no terminal, and names hosts in one way.
struct HostileTextTests {
  private static let hostile = "a\u{1B}[31m\u{9B}31m\u{202E}\u{2028}\r\n\u{0}z"

  @Test func `Personal data in a log is one line of plain characters`() {
    let log = ClientLog(logger: Logger(label: "test"), showsPersonalData: true)
    #expect("\(log.personal(Self.hostile))" == "a [31m 31m z")
  }

  @Test func `An error that may name the authority is masked in a log`() {
    let log = ClientLog(logger: Logger(label: "test"), showsPersonalData: false)
    for code in [
      IdentityError.Code.noBroker, .authorityValidationFailed, .brokerFailed, .invalidParameter,
    ] {
      #expect("\(log.reason(IdentityError(code, "contoso")))" == "(masked)")
    }
    let plain = IdentityError(.userCanceled, "Cancelled.")
    #expect("\(log.reason(plain))" == "Cancelled.")
    var foreign = [plain, plain, plain]
    foreign[0].oauthErrorDescription = "contoso"
    foreign[1].transportError = .timedOut
    foreign[2].brokerStatus = 1
    for error in foreign { #expect("\(log.reason(error))" == "(masked)") }
    let word = String(repeating: "a_", count: 32)
    #expect("\(log.word(word)) \(log.word(word + "a"))" == "\(word) (masked)")
  }

  @Test func `A refusal's texts are one line of plain characters`() throws {
    let error = try #require(
      IdentityError(redirect: [
        "error": Self.hostile, "error_subcode": Self.hostile, "error_description": Self.hostile,
      ]))
    for text in [error.oauthError, error.subError, error.oauthErrorDescription] {
      #expect(text == "a [31m 31m z")
    }
    let text = String(repeating: "a", count: 3000)
    let long = try #require(IdentityError(redirect: ["error": text, "error_description": text]))
    #expect(long.oauthError?.count == 200 && long.oauthErrorDescription?.count == 2000)
  }

  @Test(arguments: [
    ("https://[::1]:8443/tenant", "[::1]:8443"), ("https://BÜCHER.example/tenant", "xn--bcher-kva.example"),
    ("https://login.microsoftonline.com:443/tenant", "login.microsoftonline.com"),
  ])
  func `A host is written as it goes over the wire`(address: String, host: String) throws {
    let url = try #require(URL(string: address))
    let authority = try Authority(url: url, kind: .oidc)
    #expect(authority.host == host)
    #expect(authority.url.authorityHost == host)
    #expect(url.authorityHost == host)
  }

  @Test func `Port 443 is kept for other schemes than https`() {
    #expect(URL(string: "http://localhost:443/x")?.authorityHost == "localhost:443")
  }

  @Test(
    arguments: [
      ("localhost", nil, true), ("LOCALHOST:1", nil, true), ("localhost:x", nil, false),
      ("localhost:80", 80, true), ("localhost", 80, true), ("localhost", 81, false), ("::1", 80, true),
      ("[::1]:81", 81, true), ("127.9.9.9", nil, true), ("128.0.0.1", nil, nil), ("1.127.0.0", nil, nil),
      ("127.0.0", nil, nil), ("127.0.0.0.1", nil, nil), ("127.0..1", nil, nil), ("127.0.0..1", nil, nil),
      ("127.0.0.256", nil, nil), ("a@localhost", nil, nil), ("localhost.test", nil, nil),
    ] as [(String, UInt16?, Bool?)])
  func `A loopback host has names and numbers, and a port`(_ host: String, _ port: UInt16?, _ isFor: Bool?) {
    #expect(LoopbackHost(host)?.hasPort(port) == isFor)
  }

  @Test func `A query's value may have an equals sign, or be missing`() throws {
    #expect(FormEncoding.decode("a=b=c&d".utf8) == ["a": "b=c", "d": ""])
    let page = try #require(URL(string: "https://a.test/x%3Dy?state=a%2526&state=b"))
    #expect(page.state == "a%26")
    let other = try #require(URL(string: "https://a.test/x=y"))
    #expect(!page.isSamePlace(as: other))
  }

  @Test(arguments: ["%", "%4", "%zz", "%+a", "%-0", "a%ff"]) func `Bad percent escapes fail`(text: String) {
    #expect(FormEncoding.decodeOne(text.utf8) == nil)
    #expect(FormEncoding.decode("state=\(text)".utf8) == nil)
  }
}
