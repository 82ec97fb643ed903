"""llavero-desktop and TutorialApp under a Wayland compositor."""
from desktop import Program, WaylandDesktop, key, type_text
from peers import check, finish, llavero
from sample_groups import cache, group, keychain

with WaylandDesktop(), group("org.example.one") as one, group("org.example.two", cache([("Zoë Zimmer", "zoe@contoso.com")])):
    with keychain(one) as app:
        app.says("boris@contoso.com")
        check("the window shows the group's accounts", "Microsoft Graph" in app.labels(), app.labels())
        key("ctrl+Delete")
        app.says("You stay signed in in the browser")
        key("Escape")
        app.gone("You stay signed in in the browser")
        check("a key cancels the dialog", "alice" in llavero("list", group=one))
        key("ctrl+f")
        # The next wtype has another keymap; keys before the window has it are lost.
        app.wait("the search has the focus", lambda: app.focused() == "Search accounts and tokens")
        type_text("carla")
        app.gone("boris@contoso.com")
        check("the keyboard searches", "carla.nunez@fabrikam.com" in app.labels(), app.labels())
        key("Escape")
        app.says("boris@contoso.com")
        app.tab_to("Group: " + one)
        key("space")
        app.says("org.example.two")
        key("Down")
        key("Return")
        app.says("zoe@contoso.com")
        check("the keyboard chooses another group", "alice@contoso.com" not in app.labels(), app.labels())
        key("ctrl+q")
        check("a key ends the program", app.ends() == 0, app.errors())
        check("GTK reports no errors", app.errors() == "", app.errors())
    with Program("TutorialApp", without=["LLAVERO_CLIENT_ID"]) as app:
        app.says("No account is signed in")
        app.click("Close")
        check("TutorialApp starts and ends", app.ends() == 0, app.errors())
        check("GTK reports no errors about it", app.errors() == "", app.errors())
finish()
