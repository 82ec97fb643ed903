import GLibSupport
import Testing

struct TextTests {
  @Test func `Each sentence ends with a full stop, except advice after others`() {
    #expect(sentences("It failed") == "It failed.")
    #expect(sentences("It failed", "Run llavero login") == "It failed. Run llavero login")
    #expect(sentences("It failed!", "Badly", nil, "Run this") == "It failed! Badly. Run this")
  }

  @Test func `A text is shown to a limit, and quoted if a shell would change it`() {
    #expect(String(repeating: "x", count: 2001).printable().count == 2000)
    let quoted = ["1/a", "", "a b", "\u{E4}"].map(shellQuoted)
    #expect(quoted == ["1/a", "''", "'a b'", "'\u{E4}'"])
  }

  @Test func `A NUL does not end a text that is composed`() {
    #expect(Array("e\u{301}\0\0e\u{301}".composed.utf8) == Array("\u{e9}\0\0\u{e9}".utf8))
  }

  @Test func `A command of a desktop file has its percent signs, and no field codes`() {
    #expect(words(ofExec: "mail %u 100%% %% -x %F") == ["mail", "100%", "%", "-x"])
  }

  @Test func `A value of a desktop file keeps the spaces at its start`() {
    #expect(KeyFile.escaped("  a\\b\n") == #"\s a\\b\n"#)
  }
}
