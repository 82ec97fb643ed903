/// The window's widgets, as GtkBuilder's XML.
enum Interface {
  static let window = """
    <interface>
      <menu id="menu">
        <section>
          <item><attribute name="label">_Reload</attribute><attribute name="action">win.refresh</attribute></item>
          <item><attribute name="label">_Check Setup</attribute><attribute name="action">win.doctor</attribute></item>
        </section>
        <section>
          <item><attribute name="label">_Keyboard Shortcuts</attribute><attribute name="action">win.show-help-overlay</attribute></item>
          <item><attribute name="label">_About Llavero</attribute><attribute name="action">win.about</attribute></item>
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
                  <object class="GtkBox" id="sidebar">
                    <property name="orientation">vertical</property>
                    <property name="width-request">310</property>
                    <property name="hexpand">0</property>
                    <child>
                      <object class="AdwHeaderBar">
                        <binding name="show-end-title-buttons"><lookup name="folded">leaflet</lookup></binding>
                        <property name="title-widget">
                          <object class="AdwWindowTitle" id="store"><property name="title">Llavero</property></object>
                        </property>
                        <child type="start">
                          <object class="GtkToggleButton" id="search-button">
                            <property name="icon-name">system-search-symbolic</property>
                            <property name="tooltip-text">Search (Ctrl+F)</property>
                            <accessibility><property name="label">Search</property></accessibility>
                          </object>
                        </child>
                        <child type="end">
                          <object class="GtkMenuButton">
                            <property name="icon-name">open-menu-symbolic</property>
                            <property name="menu-model">menu</property>
                            <property name="primary">1</property>
                            <property name="tooltip-text">Menu (F10)</property>
                            <accessibility><property name="label">Menu</property></accessibility>
                          </object>
                        </child>
                      </object>
                    </child>
                    <child>
                      <object class="GtkSearchBar" id="search-bar">
                        <property name="key-capture-widget">window</property>
                        <property name="search-mode-enabled" bind-source="search-button" bind-property="active" bind-flags="bidirectional|sync-create">0</property>
                        <property name="child">
                          <object class="GtkSearchEntry" id="search">
                            <property name="hexpand">1</property>
                            <property name="placeholder-text">Name, tenant, client or scope</property>
                            <accessibility><property name="label">Search accounts and tokens</property></accessibility>
                          </object>
                        </property>
                      </object>
                    </child>
                    <child>
                      <object class="GtkBox">
                        <property name="spacing">12</property>
                        <property name="margin-start">12</property>
                        <property name="margin-end">12</property>
                        <property name="margin-top">6</property>
                        <property name="margin-bottom">6</property>
                        <child>
                          <object class="GtkLabel">
                            <property name="label">_Group</property>
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
                      </object>
                    </child>
                    <child>
                      <object class="GtkStack" id="accounts">
                        <property name="vexpand">1</property>
                        <child>
                          <object class="GtkStackPage">
                            <property name="name">list</property>
                            <property name="child">
                              <object class="GtkScrolledWindow" id="accounts-scroll">
                                <property name="hscrollbar-policy">never</property>
                              </object>
                            </property>
                          </object>
                        </child>
                        <child>
                          <object class="GtkStackPage">
                            <property name="name">none</property>
                            <property name="child">
                              <object class="GtkLabel" id="no-accounts">
                                <property name="wrap">1</property>
                                <property name="justify">center</property>
                                <property name="margin-start">24</property>
                                <property name="margin-end">24</property>
                                <style><class name="dim-label"/></style>
                              </object>
                            </property>
                          </object>
                        </child>
                      </object>
                    </child>
                    <child>
                      <object class="GtkButton" id="plaintext-button">
                        <property name="visible">0</property>
                        <property name="use-underline">1</property>
                        <property name="margin-start">12</property>
                        <property name="margin-end">12</property>
                        <property name="margin-top">6</property>
                        <property name="margin-bottom">12</property>
                      </object>
                    </child>
                  </object>
                </child>
                <child>
                  <object class="AdwLeafletPage">
                    <property name="navigatable">0</property>
                    <property name="child">
                      <object class="GtkSeparator"><style><class name="sidebar"/></style></object>
                    </property>
                  </object>
                </child>
                <child>
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
                            <property name="tooltip-text">Back (Alt+Left)</property>
                            <binding name="visible"><lookup name="folded">leaflet</lookup></binding>
                            <accessibility><property name="label">Back</property></accessibility>
                          </object>
                        </child>
                        <child type="end">
                          <object class="GtkBox" id="account-buttons">
                            <property name="spacing">6</property>
                            <property name="visible">0</property>
                            <child>
                              <object class="GtkButton" id="sign-out">
                                <property name="label">Sign _Out…</property>
                                <property name="use-underline">1</property>
                              </object>
                            </child>
                            <child>
                              <object class="GtkButton" id="remove">
                                <property name="label">Re_move…</property>
                                <property name="use-underline">1</property>
                              </object>
                            </child>
                          </object>
                        </child>
                      </object>
                    </child>
                    <child>
                      <object class="GtkBox" id="trouble-bar">
                        <property name="spacing">12</property>
                        <style><class name="trouble"/></style>
                        <child>
                          <object class="GtkImage">
                            <property name="icon-name">dialog-warning-symbolic</property>
                            <accessibility><property name="label">Warning</property></accessibility>
                          </object>
                        </child>
                        <child>
                          <object class="GtkLabel" id="trouble-text">
                            <property name="wrap">1</property>
                            <property name="xalign">0</property>
                            <property name="hexpand">1</property>
                          </object>
                        </child>
                        <child>
                          <object class="GtkButton" id="trouble-button">
                            <property name="use-underline">1</property>
                            <property name="valign">center</property>
                          </object>
                        </child>
                        <child>
                          <object class="GtkButton" id="trouble-close">
                            <property name="icon-name">window-close-symbolic</property>
                            <property name="valign">center</property>
                            <property name="tooltip-text">Close</property>
                            <accessibility><property name="label">Close the message</property></accessibility>
                            <style><class name="flat"/></style>
                          </object>
                        </child>
                      </object>
                    </child>
                    <child>
                      <object class="GtkStack" id="pages">
                        <property name="vexpand">1</property>
                        <child>
                          <object class="GtkStackPage">
                            <property name="name">status</property>
                            <property name="child">
                              <object class="AdwStatusPage" id="status">
                                <property name="icon-name">dialog-password-symbolic</property>
                                <property name="child">
                                  <object class="GtkBox">
                                    <property name="spacing">12</property>
                                    <property name="halign">center</property>
                                    <child>
                                      <object class="GtkButton" id="status-button">
                                        <property name="use-underline">1</property>
                                        <property name="visible">0</property>
                                        <style><class name="pill"/><class name="suggested-action"/></style>
                                      </object>
                                    </child>
                                  </object>
                                </property>
                              </object>
                            </property>
                          </object>
                        </child>
                        <child>
                          <object class="GtkStackPage">
                            <property name="name">account</property>
                            <property name="child">
                              <object class="GtkScrolledWindow" id="account-scroll">
                                <property name="hscrollbar-policy">never</property>
                                <property name="child">
                                  <object class="AdwClampScrollable" id="tokens">
                                    <property name="maximum-size">760</property>
                                  </object>
                                </property>
                              </object>
                            </property>
                          </object>
                        </child>
                        <child>
                          <object class="GtkStackPage">
                            <property name="name">plaintext</property>
                            <property name="child">
                              <object class="AdwPreferencesPage" id="plaintext">
                                <child>
                                  <object class="AdwPreferencesGroup">
                                    <property name="title">Plaintext Tokens</property>
                                    <property name="description">Other programs keep these tokens in files that all your programs can read. Move them to the keyring.</property>
                                    <child>
                                      <object class="GtkListBox" id="plaintext-list">
                                        <property name="selection-mode">none</property>
                                        <style><class name="boxed-list"/></style>
                                      </object>
                                    </child>
                                  </object>
                                </child>
                              </object>
                            </property>
                          </object>
                        </child>
                      </object>
                    </child>
                  </object>
                </child>
              </object>
            </property>
          </object>
        </property>
      </object>
    </interface>
    """

  static let accountRow = """
    <interface>
      <object class="GtkBox" id="row">
        <property name="orientation">vertical</property>
        <property name="spacing">2</property>
        <property name="margin-top">8</property>
        <property name="margin-bottom">8</property>
        <property name="margin-start">6</property>
        <property name="margin-end">6</property>
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
            <property name="spacing">12</property>
            <child>
              <object class="GtkLabel" id="kind">
                <property name="xalign">0</property>
                <property name="hexpand">1</property>
                <property name="ellipsize">end</property>
                <style><class name="heading"/></style>
              </object>
            </child>
            <child>
              <object class="GtkLabel" id="renewal">
                <property name="ellipsize">end</property>
                <style><class name="caption"/><class name="dim-label"/></style>
              </object>
            </child>
          </object>
        </child>
        <child>
          <object class="GtkLabel" id="scopes">
            <property name="xalign">0</property>
            <property name="wrap">1</property>
            <property name="wrap-mode">word-char</property>
            <attributes><attribute name="insert-hyphens" value="false"/></attributes>
          </object>
        </child>
        <child>
          <object class="GtkLabel" id="place">
            <property name="xalign">0</property>
            <property name="wrap">1</property>
            <property name="wrap-mode">word-char</property>
            <attributes><attribute name="insert-hyphens" value="false"/></attributes>
            <property name="selectable">1</property>
            <style><class name="caption"/><class name="dim-label"/></style>
          </object>
        </child>
        <child>
          <object class="GtkBox" id="time">
            <property name="spacing">12</property>
            <child>
              <object class="GtkProgressBar" id="bar">
                <property name="hexpand">1</property>
                <property name="valign">center</property>
                <accessibility><property name="label">Time left</property></accessibility>
              </object>
            </child>
            <child>
              <object class="GtkLabel" id="left">
                <property name="xalign">1</property>
                <property name="width-chars">18</property>
                <style><class name="caption"/><class name="numeric"/></style>
              </object>
            </child>
          </object>
        </child>
        <child>
          <object class="GtkLabel" id="secret">
            <property name="visible">0</property>
            <property name="xalign">0</property>
            <property name="wrap">1</property>
            <property name="wrap-mode">char</property>
            <attributes><attribute name="insert-hyphens" value="false"/></attributes>
            <property name="selectable">1</property>
            <style><class name="monospace"/><class name="secret"/></style>
          </object>
        </child>
        <child>
          <object class="GtkBox">
            <property name="spacing">6</property>
            <child>
              <object class="GtkButton" id="renew">
                <property name="label">Re_new</property>
                <property name="use-underline">1</property>
              </object>
            </child>
            <child>
              <object class="GtkButton" id="cancel">
                <property name="label">_Cancel</property>
                <property name="use-underline">1</property>
                <property name="visible">0</property>
              </object>
            </child>
            <child>
              <object class="GtkButton" id="reveal">
                <property name="label">Re_veal</property>
                <property name="use-underline">1</property>
              </object>
            </child>
            <child>
              <object class="GtkButton" id="copy">
                <property name="label">_Copy</property>
                <property name="use-underline">1</property>
              </object>
            </child>
            <child>
              <object class="GtkLabel" id="note">
                <property name="ellipsize">end</property>
                <style><class name="caption"/><class name="dim-label"/></style>
              </object>
            </child>
            <child>
              <object class="GtkButton" id="remove">
                <property name="icon-name">user-trash-symbolic</property>
                <property name="hexpand">1</property>
                <property name="halign">end</property>
                <property name="tooltip-text">Remove this token…</property>
                <accessibility><property name="label">Remove this token</property></accessibility>
                <style><class name="flat"/></style>
              </object>
            </child>
          </object>
        </child>
      </object>
    </interface>
    """

  static let plaintextRow = """
    <interface>
      <object class="AdwActionRow" id="row">
        <child>
          <object class="GtkButton" id="adopt">
            <property name="label">_Move to Keyring…</property>
            <property name="use-underline">1</property>
            <property name="valign">center</property>
          </object>
        </child>
      </object>
    </interface>
    """

  static let about = """
    <interface>
      <object class="AdwAboutWindow" id="about">
        <property name="modal">1</property>
        <property name="application-name">Llavero</property>
        <property name="application-icon">org.llavero.Llavero</property>
        <property name="license-type">mit-x11</property>
        <property name="comments">Shows the accounts and tokens that apps keep in Microsoft's unified token cache.</property>
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
                <child><object class="GtkShortcutsShortcut"><property name="title">Search</property><property name="accelerator">&lt;Control&gt;f</property></object></child>
                <child><object class="GtkShortcutsShortcut"><property name="title">Reload</property><property name="accelerator">F5</property></object></child>
                <child><object class="GtkShortcutsShortcut"><property name="title">Sign out</property><property name="accelerator">&lt;Control&gt;o</property></object></child>
                <child><object class="GtkShortcutsShortcut"><property name="title">Remove the account</property><property name="accelerator">&lt;Control&gt;Delete</property></object></child>
                <child><object class="GtkShortcutsShortcut"><property name="title">Back</property><property name="accelerator">&lt;Alt&gt;Left</property></object></child>
                <child><object class="GtkShortcutsShortcut"><property name="title">Keyboard shortcuts</property><property name="accelerator">&lt;Control&gt;question</property></object></child>
                <child><object class="GtkShortcutsShortcut"><property name="title">Quit</property><property name="accelerator">&lt;Control&gt;q</property></object></child>
              </object>
            </child>
          </object>
        </child>
      </object>
    </interface>
    """

  static let style = """
    listview.tokens { background: none; padding: 12px 12px 24px 12px; }
    listview.tokens > row { background: none; padding: 6px; border-radius: 12px; }
    .token { padding: 14px 16px; }
    .secret { padding: 8px 10px; border-radius: 8px; background: alpha(currentColor, 0.07); }
    progressbar.low > trough > progress { background-color: @warning_color; }
    .trouble { padding: 10px 14px; background: alpha(@warning_bg_color, 0.25); }
    """
}
