import TestSupport

@testable import TokenCache

/// The reader of JSON agrees with `JSONDecoder`.
struct JSONTests {
  private static let texts = [
    "{}", " {\n}\t", #"{"a":{}}"#, #"{"a":[]}"#, #"{"a":[1,"b",null,true,false,{"c":[[]]}]}"#, #"{"a":0}"#,
    #"{"a":-0}"#, #"{"a":-12}"#, #"{"a":999999999999999999}"#, #"{"a":1234567890123456789}"#,
    #"{"a":12345678901234567890123}"#, #"{"a":1.50}"#, #"{"a":1e3}"#, #"{"a":1E400}"#, #"{"a":01}"#,
    #"{"a":-}"#,
    #"{"a":""}"#, #"{"a":"\"\\\/\b\f\n\r\t"}"#, #"{"a":"\u00e9\ud83d\ude00"}"#, #"{"a":"\ud83d"}"#,
    #"{"a\u0041":1,"é":"ü"}"#, #"{"a":"12345678\"12345678"}"#, #"{"a":"1234567\\","b":"\\"}"#,
    #"{"a":1,"a":2}"#, #"{"a":1,}"#, #"{"a":[1,]}"#, #"{,}"#, #"{"a"}"#, #"{"a":}"#, #"{"a":1"b":2}"#,
    #"{"a":1:2}"#, #"{"a":"\u00e"#,
    #"{"a":tru}"#, #"{"a":nul"#, #"{"a":"b"#, #"{"a":"b\"#, #"{"a":"b\"}"#, #"{"a":1}x"#, #"{"a":1}}"#, "[]",
    "1",
    "", "\"a\"", "\u{FEFF}{\"a\":1}", "{\"a\":\"\u{1}\"}", "{\"a\":\"\u{7F}\"}", "{\"a\":\"\n\"}", "{'a':1}",
    "{\"a\":/**/1}", "\u{0}",
  ]

  private func agree(_ json: Data) -> Bool {
    let ours = try? JSONObject(foreign: json, within: JSONLimits(size: .max, depth: 512, values: .max))
    let theirs = try? JSONDecoder().decode(JSONObject.self, from: json)
    // It refuses half a surrogate pair.
    let mayDiffer = theirs == nil && String(decoding: json, as: UTF8.self).contains(/\\u[dD][89a-fA-F]/)
    return ours == theirs || mayDiffer
  }

  @Test(arguments: texts)
  func `Usual and unusual texts read as in JSONDecoder`(text: String) {
    #expect(agree(Data(text.utf8)))
  }

  @Test(
    .fault("half surrogate"),
    arguments: [
      (#"\ud83d"#, "\u{FFFD}"), (#"a\uDE00 \u00e9\"b"#, "a\u{FFFD} é\"b"),
      (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"),
      (#"\ude00\ud83d"#, "\u{FFFD}\u{FFFD}"), (#"é\ud83d\u0041"#, "é\u{FFFD}A"), (#"\ud83d\\"#, "\u{FFFD}\\"),
    ])
  func `Half a surrogate pair is read as U+FFFD, and a cache keeps it`(
    _ escaped: String, _ text: String
  ) throws {
    let json = Data(#"{"\#(escaped)":["\#(escaped)"]}"#.utf8)
    let read = try JSONObject(foreign: json, within: .cache)
    #expect(read == [text: .array([.string(text)])])

    let document = try CacheDocument(json: json)
    let kept = try #require(document.otherSections[text]?.arrayValue?.first)
    #expect(kept.stringValue == text && kept != .string(text))
    let written = try document.json()
    #expect(try CacheDocument(json: written) == document)
    #expect(try JSONEncoder().encode(kept) == JSONEncoder().encode(text))
  }

  @Test(.fault("half surrogate"))
  func `Names that are equal without their halves of surrogate pairs are not mistaken for each other`() {
    for names in [[#"\ud83d"#, #"\ud83e"#], [#"\ud83d"#, "\u{FFFD}"], ["\u{FFFD}", #"\ud83d"#]] {
      let json = Data(#"{"\#(names[0])":1,"\#(names[1])":2}"#.utf8)
      #expect(throws: ForeignJSONError.equalNames) { try JSONObject(foreign: json, within: .cache) }
    }
  }

  @Test(arguments: [
    "1.0", "0.1e1", "922337203685477580.1e1", "-922337203685477580.8e1", "12345678901234567890", "1e127",
  ])
  func `A number that is written is read as the same, however it was spelled`(_ number: String) throws {
    let read = try JSONObject(foreign: Data(#"{"n":\#(number)}"#.utf8), within: .cache)
    #expect(try JSONObject(foreign: JSONEncoder().encode(read), within: .cache) == read)
  }

  @Test func `Objects may be nested as deep as in JSONDecoder`() {
    for depth in [1, 63, 64, 65, 300, 511, 512, 513, 2000] {
      let text = String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
      #expect(agree(Data(text.utf8)))
    }
  }

  @Test func `Randomly changed bytes read as in JSONDecoder`() throws {
    let json = try CacheDocument([.accessToken("a \"secret\" of 1 é")]).json()
    var random = SystemRandomNumberGenerator()
    let bytes = Array(#"{}[]":,\u0et-. "#.utf8) + [0, 0x1F, 0x80, 0xC3, 0xFF]
    for _ in 0..<20_000 {
      var changed = json
      for _ in 0...Int.random(in: 0...2, using: &random) {
        let index = Int.random(in: 0..<changed.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: changed[index] = bytes[Int.random(in: 0..<bytes.count, using: &random)]
        case 1: changed.remove(at: index)
        default: changed.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: index)
        }
      }
      #expect(agree(changed), "\(Array(changed))")
    }
  }

  @Test func `Written JSON is compact and sorted, and reads as it was`() throws {
    let sections: JSONObject = [
      "z": .object([
        "b": .array([.null, .bool(true), .bool(false), .integer(-5), .string("")]),
        "a": .object([:]),
        "slash/": "quote \" backslash \\ line \n tab \t bell \u{7} null \u{0} é 😀",
      ]),
      "A": .decimal(Decimal(string: "1.5") ?? 0), "m": .double(1e300), "empty": .array([]),
      "half": .utf16([0xD83D, 0x7E, 0x7F, 0x22]),
    ]
    let json = try CacheDocument(sections: sections).json()
    let text = String(decoding: json, as: UTF8.self)
    #expect(
      text
        == #"{"A":1.5,"empty":[],"half":"\ud83d~\u007f\u0022","m":1e+300,"z":{"a":{},"b":[null,true,false,-5,""],"slash/":"#
        + #""quote \" backslash \\ line \u000a tab \u0009 bell \u0007 null \u0000 é 😀"}}"#)
    #expect(try CacheDocument(json: json).otherSections["z"] == sections["z"])
    #expect(throws: CacheError(.damaged, "")) {
      try CacheDocument(sections: ["a": .double(.infinity)]).json()
    }
  }

  /// Swift says of the first and the third neither that they are equal nor which comes first.
  @Test func `The order of names does not depend on chance`() throws {
    let names = ["\u{e9}$", "\"", "e\u{301}", "e", "", "\u{0}"]
    for _ in 0..<100 {
      let sections = JSONObject(uniqueKeysWithValues: names.shuffled().map { ($0, .null) })
      let json = try String(decoding: CacheDocument(sections: sections).json(), as: UTF8.self)
      #expect(
        json
          == "{\"\":null,\"\\u0000\":null,\"\\\"\":null,\"e\":null,\"e\u{301}\":null,\"\u{e9}$\":null}")
    }
  }

  @Test(arguments: 0..<40)
  func `A special byte is found at every position`(position: Int) {
    for byte in [UInt8(ascii: "\""), UInt8(ascii: "\\"), 0, 0x1F] {
      for filling in [UInt8(ascii: "a"), 0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F, 0x80, 0xFF] {
        var bytes = [UInt8](repeating: filling, count: 40)
        #expect(JSONString.endOfPlainText(in: bytes.span, from: 0) == 40)
        bytes[position] = byte
        #expect(JSONString.endOfPlainText(in: bytes.span, from: 0) == position)
        #expect(JSONString.endOfPlainText(in: bytes.span, from: position) == position)
        #expect(
          JSONString.endOfPlainText(in: bytes.span, from: min(position + 1, 39)) == (position < 39 ? 40 : 39))
      }
    }
  }
}
