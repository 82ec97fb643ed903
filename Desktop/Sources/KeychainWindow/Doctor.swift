import FoundationEssentials
import GTKSupport
import Glibc
import KeychainModel
import Localization

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
    let beside = programDirectory + "/llavero"
    let tool = access(beside, X_OK) == 0 ? beside : "llavero"
    // The window shows the store, also where the tool borrows its tokens.
    guard let output = await Subprocess.output(of: [tool, "doctor", "--json", "--from", "off"]) else {
      throw Trouble(
        localized("Setup Not Checked"), localized("The tool llavero could not be run."),
        advice: localized("Install it, and run “llavero doctor” in a terminal."))
    }
    guard let report = try? JSONDecoder().decode(Report.self, from: Data(output.utf8)) else {
      throw Trouble(
        localized("Setup Not Checked"), localized("The tool llavero failed."),
        advice: localized("Run “llavero doctor” in a terminal to see the reason."))
    }
    return report.findings
  }
}
