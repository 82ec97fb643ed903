import FoundationEssentials
import GTKSupport
import Glibc
import KeychainModel

/// Runs `llavero doctor`, which is beside this program or on the path.
enum Doctor {
  struct Finding: Decodable {
    let state: String
    let message: String
    let advice: String?
  }

  private struct Report: Decodable {
    let findings: [Finding]
  }

  /// - Throws: ``Trouble`` when the tool is not found or fails.
  @MainActor
  static func findings() async throws(Trouble) -> [Finding] {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let beside = own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/llavero"
    let tool = access(beside, X_OK) == 0 ? beside : "llavero"
    // The window shows the store, also where the tool borrows its tokens.
    guard let output = await Subprocess.output(of: [tool, "doctor", "--json", "--from", "off"]) else {
      throw Trouble(
        "Setup Not Checked", "The tool llavero could not be run.",
        advice: "Install it, and run “llavero doctor” in a terminal.")
    }
    guard let report = try? JSONDecoder().decode(Report.self, from: Data(output.utf8)) else {
      throw Trouble(
        "Setup Not Checked", "The tool llavero failed.",
        advice: "Run “llavero doctor” in a terminal to see the reason.")
    }
    return report.findings
  }
}
