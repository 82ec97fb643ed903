import GTKSupport
import Localization

/// The window's widgets, as GtkBuilder's XML.
enum Interface {
  static let window = """
    <interface>
      <menu id="menu">
        <section>
          \(item(localized("_Add Account…"), "add"))
          \(item(localized("_Import a File…"), "import"))
          \(item(localized("_Reload"), "refresh", key: "F5"))
          \(item(localized("_Check Setup"), "doctor"))
        </section>
        <section>
          \(item(localized("_Keyboard Shortcuts"), "show-help-overlay"))
          \(item(localized("A_bout Llavero"), "about"))
        </section>
      </menu>
      <object class="AdwApplicationWindow" id="window">
        <property name="title">Llavero</property>
        <property name="icon-name">org.llavero.Llavero</property>
        <property name="default-width">1040</property>
        <property name="default-height">680</property>
        <property name="width-request">360</property>
        <property name="height-request">400</property>
        <property name="content">
          <object class="AdwToastOverlay" id="toasts">
            <property name="child">
              <object class="AdwLeaflet" id="leaflet">
                <property name="can-navigate-back">1</property>
                <child>
                  <object class="AdwLeafletPage">
                    <property name="name">sidebar</property>
                    <property name="child">
                      <object class="GtkBox" id="sidebar">
                        <property name="orientation">vertical</property>
                        <property name="width-request">310</property>
                        <child>
                          <object class="AdwHeaderBar" id="sidebar-header">
                            <property name="title-widget">
                              <object class="AdwWindowTitle" id="store"><property name="title">Llavero</property></object>
                            </property>
                            <child type="start">
                              <object class="GtkToggleButton" id="search-button">
                                <property name="icon-name">system-search-symbolic</property>
                                <property name="tooltip-text">\(markup(localized("Search (Ctrl+F)")))</property>
                                <accessibility><property name="label">\(markup(localized("Search")))</property></accessibility>
                              </object>
                            </child>
                            <child type="end">
                              <object class="GtkMenuButton">
                                <property name="icon-name">open-menu-symbolic</property>
                                <property name="menu-model">menu</property>
                                <property name="primary">1</property>
                                <property name="tooltip-text">\(markup(localized("Menu (F10)")))</property>
                                <accessibility><property name="label">\(markup(localized("Menu")))</property></accessibility>
                              </object>
                            </child>
                            \(spinner("sidebar-spinner"))
                          </object>
                        </child>
                        <child><object class="AdwBin" id="sidebar-banners"/></child>
                        <child>
                          <object class="GtkSearchBar" id="search-bar">
                            <property name="key-capture-widget">window</property>
                            <property name="search-mode-enabled" bind-source="search-button" bind-property="active" bind-flags="bidirectional|sync-create">0</property>
                            <property name="child">
                              <object class="GtkSearchEntry" id="search">
                                <property name="hexpand">1</property>
                                <property name="placeholder-text">\(markup(localized("Name, tenant, app or scope")))</property>
                                <accessibility><property name="label">\(markup(localized("Search accounts and tokens")))</property></accessibility>
                              </object>
                            </property>
                          </object>
                        </child>
                        <child>
                          <object class="AdwClamp">
                            <property name="maximum-size">400</property>
                            <property name="visible" bind-source="search-button" bind-property="active" bind-flags="sync-create">0</property>
                            <property name="child">
                              <object class="GtkDropDown" id="filter"><style><class name="group"/></style></object>
                            </property>
                          </object>
                        </child>
                        <child>
                          <object class="AdwClamp">
                            <property name="maximum-size">400</property>
                            <property name="child">
                              <object class="GtkBox">
                                <property name="spacing">12</property>
                                <style><class name="group"/></style>
                                <child>
                                  <object class="GtkLabel">
                                    <property name="label">\(markup(localized("_Group")))</property>
                                    <property name="use-underline">1</property>
                                    <property name="mnemonic-widget">groups</property>
                                    <style><class name="dim-label"/></style>
                                  </object>
                                </child>
                                <child>
                                  <object class="GtkDropDown" id="groups">
                                    <property name="hexpand">1</property>
                                  </object>
                                </child>
                                <child>
                                  <object class="GtkToggleButton" id="by-app">
                                    <property name="icon-name">view-app-grid-symbolic</property>
                                    <property name="tooltip-text">\(markup(localized("Tokens by App")))</property>
                                    <accessibility><property name="label">\(markup(localized("Tokens by App")))</property></accessibility>
                                  </object>
                                </child>
                                <child>
                                  <object class="GtkButton" id="add">
                                    <property name="icon-name">list-add-symbolic</property>
                                    <property name="tooltip-text">\(markup(localized("Add Account (Ctrl+N)")))</property>
                                    <property name="action-name">win.add</property>
                                    <accessibility><property name="label">\(markup(localized("Add Account")))</property></accessibility>
                                  </object>
                                </child>
                              </object>
                            </property>
                          </object>
                        </child>
                        <child>
                          <object class="GtkScrolledWindow" id="accounts-scroll">
                            <property name="vexpand">1</property>
                            <property name="hscrollbar-policy">never</property>
                          </object>
                        </child>
                        <child>
                          <object class="AdwStatusPage" id="status">
                            <property name="vexpand">1</property>
                            <property name="child">
                              <object class="GtkBox">
                                <property name="orientation">vertical</property>
                                <property name="spacing">12</property>
                                <child>
                                  <object class="GtkButton" id="status-button">
                                    <property name="halign">center</property>
                                    <style><class name="pill"/><class name="suggested-action"/></style>
                                  </object>
                                </child>
                                <child>
                                  <object class="GtkBox" id="status-groups">
                                    <property name="orientation">vertical</property>
                                    <property name="spacing">6</property>
                                  </object>
                                </child>
                              </object>
                            </property>
                            <style><class name="compact"/></style>
                          </object>
                        </child>
                      </object>
                    </property>
                  </object>
                </child>
                <child>
                  <object class="AdwLeafletPage">
                    <property name="navigatable">0</property>
                    <property name="child">
                      <object class="GtkSeparator" id="separator"><style><class name="sidebar"/></style></object>
                    </property>
                  </object>
                </child>
                <child>
                  <object class="AdwLeafletPage">
                    <property name="name">content</property>
                    <property name="child">
                      <object class="GtkBox" id="content">
                        <property name="orientation">vertical</property>
                        <property name="hexpand">1</property>
                        <child>
                          <object class="AdwHeaderBar">
                            <binding name="show-start-title-buttons"><lookup name="folded">leaflet</lookup></binding>
                            <property name="title-widget">
                              <object class="AdwWindowTitle" id="title"/>
                            </property>
                            <child type="start">
                              <object class="GtkButton" id="back">
                                <property name="icon-name">go-previous-symbolic</property>
                                <property name="tooltip-text">\(markup(localized("Back (Alt+Left)")))</property>
                                <accessibility><property name="label">\(markup(localized("Back")))</property></accessibility>
                              </object>
                            </child>
                            <child type="end">
                              <object class="GtkButton" id="sign-out">
                                <property name="icon-name">system-log-out-symbolic</property>
                                <property name="visible">0</property>
                              </object>
                            </child>
                            <child type="end">
                              <object class="GtkButton" id="sign-in">
                                <property name="label">\(markup(localized("Sign _In…")))</property>
                                <property name="use-underline">1</property>
                                <property name="visible">0</property>
                                <style><class name="suggested-action"/></style>
                              </object>
                            </child>
                            \(spinner("content-spinner"))
                          </object>
                        </child>
                        <child><object class="AdwBin" id="content-banners"/></child>
                        <child>
                          <object class="GtkScrolledWindow" id="account-scroll">
                            <property name="vexpand">1</property>
                            <property name="hscrollbar-policy">never</property>
                            <property name="child">
                              <object class="AdwClampScrollable" id="tokens">
                                <property name="maximum-size">760</property>
                              </object>
                            </property>
                          </object>
                        </child>
                        <child>
                          <object class="AdwStatusPage" id="signed-out">
                            <property name="vexpand">1</property>
                            <property name="icon-name">avatar-default-symbolic</property>
                            <property name="title">\(markup(localized("No Tokens")))</property>
                            <property name="description">\(markup(localized("No app has tokens of this account now. It stays in the list, so that apps can offer it at the next sign-in.")))</property>
                            <property name="child">
                              <object class="GtkButton" id="sign-in-again">
                                <property name="label">\(markup(localized("Sign _In…")))</property>
                                <property name="use-underline">1</property>
                                <property name="halign">center</property>
                                <style><class name="pill"/></style>
                              </object>
                            </property>
                            <style><class name="compact"/></style>
                          </object>
                        </child>
                        <child>
                          <object class="AdwStatusPage" id="none">
                            <property name="vexpand">1</property>
                            <property name="icon-name">system-users-symbolic</property>
                            <property name="title">\(markup(localized("No Account Selected")))</property>
                            <style><class name="compact"/></style>
                          </object>
                        </child>
                        <child>
                          <object class="AdwPreferencesPage" id="plaintext-page">
                            <property name="vexpand">1</property>
                            <child>
                              <object class="AdwPreferencesGroup" id="plaintext">
                                <property name="title">\(markup(localized("Plaintext Tokens")))</property>
                                <child>
                                  <object class="GtkListBox" id="plaintext-list">
                                    <property name="selection-mode">none</property>
                                    <style><class name="boxed-list"/></style>
                                  </object>
                                </child>
                              </object>
                            </child>
                          </object>
                        </child>
                      </object>
                    </property>
                  </object>
                </child>
              </object>
            </property>
          </object>
        </property>
      </object>
    </interface>
    """

  private static func item(_ label: String, _ action: String, key: String? = nil) -> String {
    let key = key.map { "<attribute name=\"accel\">\($0)</attribute>" } ?? ""
    return """
      <item>
        <attribute name="label">\(markup(label))</attribute>\(key)
        <attribute name="action">win.\(action)</attribute>
      </item>
      """
  }

  private static func spinner(_ name: String) -> String {
    """
    <child type="end">
      <object class="GtkSpinner" id="\(name)">
        <property name="visible">0</property>
        <accessibility><property name="label">\(markup(localized("Working")))</property></accessibility>
      </object>
    </child>
    """
  }

  static let banners = """
    <interface>
      <object class="GtkBox" id="banners">
        <property name="orientation">vertical</property>
        \(banner("trouble", markup(localized("_Details…")), iconButton("trouble-close", "window-close-symbolic", markup(localized("Close the message")))))
        \(banner("plaintext", markup(localized("_Review"))))
      </object>
    </interface>
    """

  private static func banner(_ name: String, _ button: String, _ more: String = "") -> String {
    """
    <child>
      <object class="GtkBox" id="\(name)-bar">
        <property name="accessible-role">alert</property>
        <property name="spacing">12</property>
        <property name="visible">0</property>
        <style><class name="banner"/></style>
        <child><object class="GtkImage"><property name="icon-name">dialog-warning-symbolic</property></object></child>
        \(text("\(name)-text"))
        <child>
          <object class="GtkButton" id="\(name)-button">
            <property name="label">\(button)</property>
            <property name="use-underline">1</property>
            <property name="valign">center</property>
          </object>
        </child>
        \(more)
      </object>
    </child>
    """
  }

  static let accountRow = """
    <interface>
      <object class="GtkBox" id="row">
        <property name="spacing">6</property>
        <style><class name="account"/></style>
        <child>
          <object class="GtkBox">
            <property name="orientation">vertical</property>
            <property name="spacing">2</property>
            <property name="hexpand">1</property>
            <child>
              <object class="GtkLabel" id="title">
                <property name="xalign">0</property>
                <property name="ellipsize">middle</property>
              </object>
            </child>
            <child>
              <object class="GtkLabel" id="subtitle">
                <property name="xalign">0</property>
                <property name="ellipsize">end</property>
                <style><class name="dim-label"/><class name="caption"/></style>
              </object>
            </child>
          </object>
        </child>
        <child>
          <object class="GtkImage" id="mark">
            <property name="icon-name">dialog-warning-symbolic</property>
            <property name="visible">0</property>
            <style><class name="warning"/></style>
          </object>
        </child>
      </object>
    </interface>
    """

  static let tokenRow = """
    <interface>
      <object class="GtkBox" id="row">
        <property name="orientation">vertical</property>
        <property name="spacing">8</property>
        <style><class name="card"/><class name="token"/></style>
        <child>
          <object class="GtkBox">
            <child>
              <object class="GtkBox">
                <property name="orientation">vertical</property>
                <property name="spacing">2</property>
                <property name="hexpand">1</property>
                \(text("title", "heading"))
                \(text("scopes"))
                \(text("app", "dim-label"))
              </object>
            </child>
            \(iconButton("renew", "view-refresh-symbolic", markup(localized("Renew"))))
            \(iconButton("cancel", "process-stop-symbolic", markup(localized("Cancel"))))
            \(iconButton("reveal", "view-reveal-symbolic", markup(localized("Reveal"))))
            \(iconButton("copy", "edit-copy-symbolic", markup(localized("Copy"))))
            \(iconButton("remove", "user-trash-symbolic", markup(localized("Remove this token"))))
          </object>
        </child>
        <child>
          <object class="GtkProgressBar" id="bar">
            <accessibility><property name="label">\(markup(localized("Time left")))</property></accessibility>
          </object>
        </child>
        \(text("left", "caption", "numeric"))
        \(text("secret", "monospace", "secret", wrap: "char"))
        <child>
          <object class="GtkExpander" id="expander">
            <property name="label">\(markup(localized("Details")))</property>
            <accessibility><property name="label">\(markup(localized("Details")))</property></accessibility>
            <child>
              <object class="GtkListBox" id="details">
                <property name="selection-mode">none</property>
                <accessibility><property name="label">\(markup(localized("Details")))</property></accessibility>
                <style><class name="details"/></style>
              </object>
            </child>
            <style><class name="caption"/></style>
          </object>
        </child>
      </object>
    </interface>
    """

  static let detailRow = """
    <interface>
      <object class="GtkListBoxRow" id="row">
        <property name="activatable">0</property>
        <property name="focusable">0</property>
        <property name="child">
          <object class="GtkBox">
            <property name="spacing">6</property>
            <child>
              <object class="GtkBox">
                <property name="orientation">vertical</property>
                <property name="hexpand">1</property>
                \(text("name", "caption-heading"))
                \(text("value"))
              </object>
            </child>
            \(iconButton("copy", "edit-copy-symbolic", markup(localized("Copy"))))
          </object>
        </property>
      </object>
    </interface>
    """

  static let plaintextRow = """
    <interface>
      <object class="GtkListBoxRow" id="row">
        <property name="activatable">0</property>
        <property name="child">
          <object class="GtkBox">
            <property name="orientation">vertical</property>
            <property name="spacing">6</property>
            <style><class name="token"/></style>
            \(text("users", "heading"))
            \(text("about", "dim-label"))
            <child>
              <object class="GtkButton" id="adopt">
                <property name="halign">end</property>
              </object>
            </child>
          </object>
        </property>
      </object>
    </interface>
    """

  static let signIn = """
    <interface>
      <object class="AdwWindow" id="sign-in">
        <property name="title">\(markup(localized("Sign In")))</property>
        <property name="modal">1</property>
        <property name="default-width">420</property>
        <property name="default-height">520</property>
        <property name="width-request">300</property>
        <property name="default-widget">browser</property>
        <property name="content">
          <object class="GtkBox">
            <property name="orientation">vertical</property>
            <child><object class="AdwHeaderBar"/></child>
            <child>
              <object class="GtkScrolledWindow">
                <property name="vexpand">1</property>
                <property name="hscrollbar-policy">never</property>
                <property name="child">
                  <object class="AdwClamp">
                    <property name="maximum-size">420</property>
                    <property name="child">
                      <object class="GtkBox">
                        <property name="orientation">vertical</property>
                        <property name="spacing">18</property>
                        <style><class name="sign-in"/></style>
                        \(centered("heading", "title-2"))
                        <child>
                          <object class="GtkBox" id="choice">
                            <property name="orientation">vertical</property>
                            <property name="spacing">12</property>
                            \(centered("about"))
                            \(centered("error", "error", role: "alert"))
                            <child>
                              <object class="GtkBox" id="client-form">
                                <property name="orientation">vertical</property>
                                <property name="spacing">6</property>
                                \(entry("client", markup(localized("_Client ID"))))
                                \(entry("tenant", markup(localized("_Tenant, if the app has only one"))))
                                \(text("client-help"))
                              </object>
                            </child>
                            \(pill("browser", "suggested-action"))
                            \(pill("code"))
                          </object>
                        </child>
                        <child>
                          <object class="GtkBox" id="progress">
                            <property name="orientation">vertical</property>
                            <property name="spacing">12</property>
                            \(centered("step"))
                            \(centered("page"))
                            \(centered("user-code", "title-1", "monospace"))
                            \(pill("copy"))
                            <child>
                              <object class="GtkSpinner">
                                <property name="spinning">1</property>
                                <property name="height-request">32</property>
                                <accessibility><property name="label">\(markup(localized("Waiting")))</property></accessibility>
                              </object>
                            </child>
                            \(pill("cancel"))
                          </object>
                        </child>
                      </object>
                    </property>
                  </object>
                </property>
              </object>
            </child>
          </object>
        </property>
      </object>
    </interface>
    """

  private static func centered(_ id: String, _ styles: String..., role: String = "label") -> String {
    """
    <child>
      <object class="GtkLabel" id="\(id)">
        <property name="accessible-role">\(role)</property>
        <property name="justify">center</property>
        <property name="wrap">1</property>
        <property name="wrap-mode">word-char</property>
        <attributes><attribute name="insert-hyphens" value="false"/></attributes>
        <style>\(classes(styles))</style>
      </object>
    </child>
    """
  }

  /// A button whose label is set by code, so that it wraps.
  private static func pill(_ id: String, _ styles: String...) -> String {
    """
    <child>
      <object class="GtkButton" id="\(id)">
        <property name="halign">center</property>
        <style><class name="pill"/>\(classes(styles))</style>
      </object>
    </child>
    """
  }

  /// A line of text below its name.
  private static func entry(_ id: String, _ name: String) -> String {
    """
    <child>
      <object class="GtkLabel" id="\(id)-name">
        <property name="label">\(name)</property>
        <property name="use-underline">1</property>
        <property name="mnemonic-widget">\(id)</property>
        <property name="xalign">0</property>
        <property name="wrap">1</property>
      </object>
    </child>
    <child>
      <object class="GtkEntry" id="\(id)">
        <property name="activates-default">1</property>
      </object>
    </child>
    """
  }

  static let about = """
    <interface>
      <object class="AdwAboutWindow" id="about">
        <property name="modal">1</property>
        <property name="application-name">Llavero</property>
        <property name="application-icon">org.llavero.Llavero</property>
        <property name="developer-name">\(markup(localized("The Llavero contributors")))</property>
        <property name="license-type">mit-x11</property>
        <property name="comments">\(markup(localized("Shows the accounts and tokens that apps keep in Microsoft’s unified token cache.")))</property>
      </object>
    </interface>
    """

  static let shortcuts = """
    <interface>
      <object class="GtkShortcutsWindow" id="shortcuts">
        <property name="modal">1</property>
        <child>
          <object class="GtkShortcutsSection">
            <property name="section-name">shortcuts</property>
            <child>
              <object class="GtkShortcutsGroup">
                <property name="title">Llavero</property>
                \(shortcut(localized("Add an account"), "<Control>n"))
                \(shortcut(localized("Import a file"), "<Control>o"))
                \(shortcut(localized("Search"), "<Control>f"))
                \(shortcut(localized("Reload"), "F5"))
                \(shortcut(localized("Sign out or remove the account"), "<Control>Delete"))
                \(shortcut(localized("Back"), "<Alt>Left"))
                \(shortcut(localized("Menu"), "F10"))
                \(shortcut(localized("Keyboard shortcuts"), "<Control>question"))
                \(shortcut(localized("Quit"), "<Control>q"))
              </object>
            </child>
          </object>
        </child>
      </object>
    </interface>
    """

  private static func shortcut(_ title: String, _ key: String) -> String {
    """
    <child>
      <object class="GtkShortcutsShortcut">
        <property name="title">\(markup(title))</property>
        <property name="accelerator">\(markup(key))</property>
      </object>
    </child>
    """
  }

  static let style = """
    listview.tokens { background: none; padding: 12px 12px 24px 12px; }
    listview.tokens > row { background: none; padding: 6px; border-radius: 12px; }
    /* A contrast of 4.5 to 1, which libadwaita's own colors lack. */
    .dim-label, windowtitle .subtitle, text > placeholder { opacity: 0.75; }
    modelbutton > accelerator { color: alpha(currentColor, 0.75); }
    button.suggested-action { background-color: mix(@accent_bg_color, black, 0.15); }
    .group { padding: 6px 12px; }
    .account { padding: 8px 6px; }
    .token { padding: 14px 16px; }
    .sign-in { padding: 12px 18px 24px 18px; }
    .details, .details > row { background: none; }
    .details > row { padding: 3px 0; }
    .secret { padding: 8px 10px; border-radius: 8px; background: alpha(currentColor, 0.07); }
    progressbar.low > trough > progress { background-color: @warning_color; }
    .banner { padding: 10px 14px; background: alpha(@warning_bg_color, 0.25); }
    """

  /// A label of any number of lines.
  private static func text(_ id: String, _ styles: String..., wrap: String = "word-char") -> String {
    """
    <child>
      <object class="GtkLabel" id="\(id)">
        <property name="xalign">0</property>
        <property name="hexpand">1</property>
        <property name="wrap">1</property>
        <property name="wrap-mode">\(wrap)</property>
        <attributes><attribute name="insert-hyphens" value="false"/></attributes>
        <style>\(classes(styles))</style>
      </object>
    </child>
    """
  }

  private static func classes(_ names: [String]) -> String {
    names.map { "<class name=\"\($0)\"/>" }.joined()
  }

  private static func iconButton(_ id: String, _ icon: String, _ name: String) -> String {
    """
    <child>
      <object class="GtkButton" id="\(id)">
        <property name="icon-name">\(icon)</property>
        <property name="valign">center</property>
        <property name="tooltip-text">\(name)</property>
        <accessibility><property name="label">\(name)</property></accessibility>
        <style><class name="flat"/></style>
      </object>
    </child>
    """
  }
}
