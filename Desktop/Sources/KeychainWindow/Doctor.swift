import FoundationEssentials
import GTKSupport
import Glibc
import KeychainModel

/// What `llavero doctor` says, the tool being beside this program or on the path.
enum Doctor {
  struct Finding: Decodable {
    let state: String
    let message: String
    let advice: String?
  }

  private struct Report: Decodable {
    let findings: [Finding]
  }

  /// - Throws: ``Trouble`` when there is no tool, or it does not answer.
  @MainActor
  static func findings() async throws(Trouble) -> [Finding] {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let beside = own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/llavero"
    let tool = access(beside, X_OK) == 0 ? beside : "llavero"
    guard let output = await Subprocess.output(of: [tool, "doctor", "--json"]),
      let report = try? JSONDecoder().decode(Report.self, from: Data(output.utf8))
    else {
      throw Trouble(
        "The Doctor Is Not In", "The tool llavero could not be asked.",
        advice: "Install it, and run “llavero doctor” in a terminal.")
    }
    return report.findings
  }
}
