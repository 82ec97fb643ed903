import Testing

import TokenCache

@testable import IdentityClient

struct ClaimsRequestTests {
  @Test func `A claim that is asked for again replaces the earlier request`() throws {
    var request = ClaimsRequest()
    for value in [1, 2] {
      let info = ClaimsRequest.AdditionalInfo(value: .integer(Int64(value)))
      request.request(ClaimsRequest.Claim(name: "sub", additionalInfo: info), for: .idToken)
    }
    #expect(request.claims(for: .idToken).count == 1)
    #expect(try request.json() == #"{"id_token":{"sub":{"value":2}}}"#)
  }

  @Test func `A claim that is asked for no more is gone`() throws {
    var request = try ClaimsRequest(json: #"{"id_token":{"a":null,"b":null},"access_token":{"a":null}}"#)
    var removed = [request.remove("a", for: .idToken), request.remove("a", for: .idToken)]
    #expect(removed == [true, false])
    #expect(request.claims(for: .idToken).map(\.name) == ["b"])
    removed.append(request.remove("b", for: .idToken))
    #expect(removed.last == true)
    #expect(try request.json() == #"{"access_token":{"a":null}}"#)
    #expect(!request.isEmpty)
  }

  @Test func `Capabilities stand beside other claims`() throws {
    var request = try ClaimsRequest(json: #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#)
    request.requestCapabilities([])
    #expect(request.claims(for: .accessToken).count == 1)
    request.requestCapabilities(["cp1"])
    request.requestCapabilities(["cp1", "llt"])
    #expect(
      try request.json()
        == #"{"access_token":{"nbf":{"essential":true,"value":"1"},"xms_cc":{"values":["cp1","llt"]}}}"#)
  }

  @Test(arguments: ["", "[]", "null", "{", "claims"]) func `Non-JSON is refused as such`(_ json: String) {
    let error = #expect(throws: IdentityError.self) { try ClaimsRequest(json: json) }
    #expect(error?.message == "The claims request is not a JSON object.")
  }

  @Test(arguments: [
    (#"{"userinfo":{}}"#, "Invalid claims target: userinfo"),
    (#"{"id_token":[]}"#, "id_token key in dictionary is not of expected type. Allowed types: NSDictionary."),
    (#"{"id_token":{"a":1}}"#, "a key in dictionary is not of expected type. Allowed types: NSDictionary."),
    (#"{"id_token":{"a":{}}}"#, "Failed to init claim additional info from json."),
    (
      #"{"id_token":{"a":{"essential":"yes"}}}"#,
      "essential key in dictionary is not of expected type. Allowed types: NSNumber."
    ),
    (
      #"{"id_token":{"a":{"values":null}}}"#,
      "values key in dictionary is not of expected type. Allowed types: NSArray."
    ),
  ])
  func `What is of the wrong type is refused by name`(_ json: String, _ description: String) {
    let error = #expect(throws: IdentityError.self) { try ClaimsRequest(json: json) }
    #expect(error?.code == .invalidParameter)
    #expect(error?.message == description)
  }

  @Test func `A number for essential counts as true unless it is zero`() throws {
    for (number, isEssential) in [("0", false), ("-1", true), ("10", true), ("0.0", false)] {
      let request = try ClaimsRequest(json: #"{"id_token":{"a":{"essential":\#(number)}}}"#)
      #expect(request.claims(for: .idToken).first?.additionalInfo?.essential == isEssential)
    }
  }

  @Test func `An infinite number cannot be written`() {
    var request = ClaimsRequest()
    let info = ClaimsRequest.AdditionalInfo(value: .double(.infinity))
    request.request(ClaimsRequest.Claim(name: "a", additionalInfo: info), for: .idToken)
    #expect(throws: IdentityError.self) { try request.json() }
  }

  @Test func `A hundred thousand levels are too deep`() {
    for (open, close) in [(#"{"a":"#, "}"), ("[", "]")] {
      let text =
        #"{"id_token":"# + String(repeating: open, count: 100_000) + String(repeating: close, count: 100_000)
        + "}"
      #expect(throws: IdentityError.self) { try ClaimsRequest(json: text) }
    }
  }
}
