import ArgumentParser
import IdentityClient

struct LoginOptions: ParsableArguments {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Sign in, in a browser here or where you sit, or by a code on another device.",
    discussion: """
      Opens the browser that BROWSER names, else the desktop's. Where there is no display, as over SSH, or with \
      --no-browser, it shows the address of the page instead, for a browser where you sit. The answer comes \
      back through the tunnel that the shown "ssh -L" makes, or you let the browser's last page fail and \
      paste its address into the terminal, which does not show it. It waits for 15 minutes. Many organisations \
      refuse the device code, so that it is taken only with --device-code. The tokens go into the keyring. \
      On a machine with Microsoft's identity broker that shows a window of its own, where there is a display; \
      --broker off does without it.

      Examples:
        llavero login --client 11111111-2222-4333-8444-555555555555
        llavero login --no-browser --port 8400
        llavero login --device-code --tenant contoso.com --scope Mail.Read --scope Files.Read

      JSON: group, client_id, home_account_id, username, tenant_id, scopes, expires_on.
      """)

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var broker: BrokerOptions
  @OptionGroup var output: OutputOptions

  @Option(help: "The user name to propose; the browser asks which account unless one is given.")
  var account: String?

  @Option(
    help: "The port of this machine that the browser's answer comes to; any free one unless it is given.",
    transform: { text in
      guard let number = UInt16(text), number > 0 else {
        throw ValidationError("It should be a number from 1 to 65535.")
      }
      return number
    })
  var port: UInt16?

  @Flag(name: .customLong("no-browser"), help: "Show the page's address, for a browser where you sit.")
  var showsAddress = false

  @Flag(name: .customLong("device-code"), help: "Sign in by a code that you enter on another device.")
  var usesDeviceCode = false

  func validate() throws {
    let ways = [
      (usesDeviceCode, "--device-code"), (showsAddress, "--no-browser"), (port != nil, "--port"),
    ].filter(\.0).map(\.1)
    if usesDeviceCode, ways.count > 1 {
      throw ValidationError("A device code comes without a browser: leave out --device-code or \(ways[1]).")
    }
    if let way = ways.first, broker.policy == .required {
      throw ValidationError("The broker knows no \(way): leave that out, or add --broker auto.")
    }
  }
}
