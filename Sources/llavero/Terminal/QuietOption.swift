import ArgumentParser

/// Whether notes are printed. ``Terminal/isQuiet`` reads the flag, so that code without a command at hand knows it.
struct QuietOption: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Hide notes, hints and progress; never errors.")
  var quiet = false
}
