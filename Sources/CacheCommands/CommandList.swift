package import ArgumentParser

/// The commands about a store.
package enum CommandList {
  package static let status: any ParsableCommand.Type = Status.self

  /// Those that look after the cache.
  package static let cache: [any ParsableCommand.Type] = [
    Setup.self, Groups.self, Accounts.self, List.self, Show.self, Clear.self, Import.self, Export.self,
    Sources.self, Adopt.self, Copy.self, Rekey.self, Doctor.self,
  ]
}
