import GTKSupport
import MSAL

@main
@MainActor
struct TutorialApp {
  static func main() {
    do throws(NoDisplayError) {
      let application = try Application(id: "org.llavero.Tutorial")
      var viewController: ViewController?
      exit(
        application.run {
          viewController = ViewController(views: TutorialWindow(application))
          viewController?.viewDidLoad()
        })
    } catch {
      FileHandle.standardError.write(Data("TutorialApp: \(error)\n".utf8))
      exit(1)
    }
  }
}
