import GTKSupport
import MSAL

@main
@MainActor
struct TutorialApp {
  static func main() {
    do throws(NoDisplayError) {
      let application = try Application(id: "org.llavero.Tutorial")
      exit(application.run { Window(application, title: "Tutorial", width: 640, height: 480).present() })
    } catch {
      FileHandle.standardError.write(Data("TutorialApp: \(error)\n".utf8))
      exit(1)
    }
  }
}
