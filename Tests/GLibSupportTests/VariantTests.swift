import GLibSupport
import Testing

struct VariantTests {
  @Test func `What goes into a variant comes out of it`() {
    #expect(Variant.string("größe").string == "größe")
    #expect(Variant.objectPath("/a/b").string == "/a/b")
    #expect(Variant.boolean(true).boolean == true)
    #expect(Variant.objectPaths(["/a", "/b"]).strings == ["/a", "/b"])
    #expect(Variant.dictionary(["a": "1", "b": ""]).dictionary == ["a": "1", "b": ""])
    #expect(Variant.properties(["a": .boolean(false)]).properties?["a"]?.boolean == false)
    #expect(Variant.tuple([.string("a"), .uint32(1)]).type == "(su)")
  }

  @Test func `Empty containers keep their type`() {
    #expect(Variant.objectPaths([]).type == "ao")
    #expect(Variant.objectPaths([]).strings == [])
    #expect(Variant.dictionary([:]).type == "a{ss}")
    #expect(Variant.properties([:]).type == "a{sv}")
    #expect(Variant.array(of: "y", []).type == "ay")
    #expect(Variant.tuple([]).type == "()")
  }

  @Test func `A variant of another type reads as nothing`() {
    let text = Variant.string("text")
    #expect(text.boolean == nil)
    #expect(text.uint64 == nil)
    #expect(text.unwrapped == nil)
    #expect(text.strings == nil)
    #expect(text.dictionary == nil)
    #expect(text.properties == nil)
    #expect(Variant.boolean(true).string == nil)
  }

  @Test func `A member outlives what it was taken from`() {
    var whole: Variant? = .tuple([.string("kept")])
    let member = whole?.children.first
    whole = nil
    #expect(member?.string == "kept")
  }

  @Test func `The digest is SHA-256`() {
    #expect(sha256Hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let digits = sha256([0x61, 0x62, 0x63]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    #expect(digits.joined() == sha256Hex("abc"))
  }
}
