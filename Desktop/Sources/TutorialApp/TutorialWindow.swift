import GTKSupport

/// The views of ``ViewController``, which the tutorials have in a storyboard.
@MainActor
final class TutorialWindow {
  let callGraphButton = Button("Call Microsoft Graph API")
  let signOutButton = Button("Sign Out")
  let cancelButton = Button("Cancel")
  let usernameLabel = Label("No account is signed in")
  /// Shown for several accounts.
  let accountChoice = DropDown(name: "Account")
  /// The running operation or its outcome.
  let statusLabel = Label()
  let spinner = Spinner()
  let loggingText = TextView()
  let window: Window

  init(_ application: Application) {
    window = Window(application, title: "Microsoft Graph", width: 720, height: 600)

    usernameLabel.addStyle("title-2")
    statusLabel.expand(horizontally: true)
    let status = Box(.horizontal, spacing: 9)
    status.append(statusLabel)
    status.append(spinner)

    accountChoice.isVisible = false
    callGraphButton.addStyle("suggested-action")
    // In two rows, for narrow windows.
    let buttons = Box(.horizontal, spacing: 9)
    for button in [signOutButton, cancelButton] {
      button.expand(horizontally: true)
      buttons.append(button)
    }

    loggingText.setAccessibleName("Log")
    let log = ScrolledWindow(loggingText)
    log.expand(vertically: true)
    log.addStyle("card")
    log.clipsContent = true

    let content = Box(.vertical, spacing: 15)
    content.setMargin(18)
    for widget in [usernameLabel, accountChoice, status, callGraphButton, buttons, log] {
      content.append(widget)
    }
    // Texts wrap in a narrow window, and scroll in one that is low, too.
    let page = ScrolledWindow(content)
    page.scrollsVerticallyOnly()
    window.append(page)
  }
}
