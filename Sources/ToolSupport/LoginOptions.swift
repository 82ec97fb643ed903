package import ArgumentParser
import IdentityClient

package struct LoginOptions: CommandOptions {
  package static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Sign in, in a browser or by a code on another device.",
    discussion: """
      Opens the browser that BROWSER names, else the desktop's. Where there is no display, it shows a code \
      to enter on another device instead, and says so. The tokens go into the keyring. On a machine with \
      Microsoft's identity broker that shows a window of its own; --broker off does without it.

      Examples:
        llavero login --client 11111111-2222-4333-8444-555555555555
        llavero login --device-code --tenant contoso.com --scope Mail.Read --scope Files.Read

      JSON: group, client_id, home_account_id, username, tenant_id, scopes, expires_on.
      """)

  @OptionGroup package var client: ClientOptions
  @OptionGroup package var scope: ScopeOptions
  @OptionGroup package var broker: BrokerOptions
  @OptionGroup package var output: OutputOptions

  @Option(help: "The user name to propose; the browser asks which account unless one is given.")
  package var account: String?

  @Flag(name: .customLong("device-code"), help: "Sign in on another device.")
  package var usesDeviceCode = false

  package init() {}

  package func validate() throws {
    guard !usesDeviceCode || broker.policy != .required else {
      throw ValidationError("The broker knows no device code: leave out --device-code, or add --broker auto.")
    }
  }
}
