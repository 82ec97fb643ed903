"""TutorialApp signs in at the lab, calls Graph and signs out; its window shows what prevents that."""
import os
import subprocess

from desktop import Desktop, Program, enlarge_text, key, lock_keyring, unlock_keyring, wait
from peers import ALICE, Lab, check, configure, finish, llavero, secrets

GROUP = "com.example.office"
CALL, SIGN_OUT, CANCEL, LOG = "Call Microsoft Graph API", "Sign Out", "Cancel", "Log"
BOB = "bob@contoso.test"
# A browser that never finishes the sign-in.
IDLE_BROWSER = {"BROWSER": "true"}
PICTURES = os.environ.get("PICTURES")


def ready(app):
    """Waits until no operation is running."""
    app.wait("it is ready", lambda: app.has(CALL) and not app.has(CANCEL))


def close(app, what):
    app.click("Close")
    check(what, app.ends() == 0, app.errors())
    check("GTK reports no errors", "CRITICAL" not in app.errors(), app.errors())


def picture(desktop, name):
    if PICTURES:
        desktop.picture(f"{PICTURES}/{name}.png")


def story(lab, desktop):
    with Program("TutorialApp") as app:
        app.says("No account is signed in")
        ready(app)
        picture(desktop, "tutorial-app-start")
        check("Sign Out is insensitive before the sign-in", not app.has(SIGN_OUT))

        app.click(CALL)
        log = app.reads(LOG, '"userPrincipalName"')
        check("the browser signs in, and Graph responds", f'"{ALICE}"' in log and "Result from Graph" in log, log)
        check("text in other alphabets is complete", "Alice Álvarez" in log, log)
        check("the account is in the window", ALICE in app.says("Signed in as "))
        ready(app)
        check("Sign Out is sensitive after the sign-in", app.has(SIGN_OUT))
        check("the lab issued tokens once", len(lab.log("token")) == 1, lab.log())
        issued = secrets(GROUP)
        check("they are in the keyring", len(issued) >= 3, len(issued))
        check("none of them is in the window", not any(secret in app.tree() + log for secret in issued))
        picture(desktop, "tutorial-app")

        lab.tell(clearLog={})
        app.click(CALL)
        app.wait("Graph responds again", lambda: app.text(LOG).count('"userPrincipalName"') == 2)
        check("the second call is silent",
              "silently" in app.text(LOG) and [entry["endpoint"] for entry in lab.log()] == ["graph"], lab.log())
        ready(app)

        app.click(SIGN_OUT)
        app.says("No account is signed in")
        ready(app)
        picture(desktop, "tutorial-app-signed-out")
        check("Sign Out is insensitive after the sign-out", not app.has(SIGN_OUT))
        check("and no token is left", not secrets(GROUP))
        close(app, "closing its window ends the program")

    with Program("TutorialApp") as app:
        app.click(CALL)
        app.says(f"Signed in as {ALICE}")
        ready(app)
        close(app, "and also while an account is signed in")
    with Program("TutorialApp") as app:
        app.says(f"Signed in as {ALICE}")
        ready(app)
        check("another start finds the signed-in account", app.has(SIGN_OUT))

        app.click(SIGN_OUT)
        app.says("Sign out completed")
        ready(app)
        close(app, "it ends")


def by_keys():
    with Program("TutorialApp", **IDLE_BROWSER) as app:
        app.wait("the focus is at the start", lambda: app.focused() == CALL)
        key("Return")
        app.says("Sign in in the browser")
        app.wait("the focus is on Cancel", lambda: app.focused() == CANCEL)
        key("Escape")
        app.reads(LOG, "Could not acquire a token")
        ready(app)
        app.wait("the focus is back", lambda: app.focused() == CALL)
        check("keys start and cancel a sign-in", True)
        close(app, "it ends")


def several_accounts(lab, desktop):
    for user in ["bob", "alice"]:
        os.environ["BROWSER_USER"] = user
        llavero("login", group=GROUP)
    with Program("TutorialApp") as app:
        app.says(f"Signed in as {ALICE}")
        ready(app)
        picture(desktop, "tutorial-app-accounts")
        app.tab_to(f"Account: {ALICE}")
        key("space")
        app.appears(BOB, "list item")
        key("Down")
        key("Return")
        app.says(f"Signed in as {BOB}")
        check("of several accounts the first is taken, and the others are offered", True)
        app.click(CALL)
        log = app.reads(LOG, '"userPrincipalName"')
        check("the chosen one is used", f'"{BOB}"' in log, log)
        ready(app)
        width = app.resize(360, 600)
        check("it fits into 360 pixels", width == 360, width)
        picture(desktop, "tutorial-app-folded")
        lab.tell(fault={"target": "graph", "status": 404, "body": '{"error": {"code": "x", "message": "No such user."}}'})
        app.click(CALL)
        text = app.says("Microsoft Graph responded with status 404")
        check("Graph's error is shown in its words", text.endswith(": No such user."), text)
        ready(app)
        app.click(SIGN_OUT)
        app.says(f"Signed in as {ALICE}")
        ready(app)
        check("after the sign-out of one, the other is the current one", not any(BOB in text for text in app.labels()))
        app.click(SIGN_OUT)
        app.says("No account is signed in")
        ready(app)
        close(app, "it ends")
    enlarge_text(2)
    with Program("TutorialApp") as app:
        ready(app)
        width = app.resize(360, 600)
        check("it fits into 360 pixels with text of 2", width == 360, width)
        picture(desktop, "tutorial-app-huge")
    enlarge_text(1)


def cancelled():
    with Program("TutorialApp", **IDLE_BROWSER) as app:
        app.click(CALL)
        app.says("Sign in in the browser")
        check("while the browser is open, other actions are insensitive", not app.has(CALL) and not app.has(SIGN_OUT))
        app.click(CANCEL)
        log = app.reads(LOG, "Could not acquire a token")
        check("a cancelled sign-in is reported", "cancel" in log.lower(), log)
        ready(app)
        check("and begun again", app.has(CALL))
        app.click(CALL)
        app.says("Sign in in the browser")
        close(app, "closing the window in the middle of a sign-in ends the program")


def server_hangs(lab):
    with Program("TutorialApp") as app:
        ready(app)
        lab.tell(clearLog={})
        lab.tell(fault={"target": "token", "delay": 600})
        app.click(CALL)
        wait("the token is asked for", lambda: lab.log("token"))
        check("when the server hangs, the window shows what it waits for",
              app.says("Cancel ends the wait") and app.has(CANCEL))
        app.click(CANCEL)
        app.reads(LOG, "Could not acquire a token")
        ready(app)
        check("the wait can be ended", True)
        app.click(CALL)
        app.says(f"Signed in as {ALICE}")
        ready(app)
        check("and the next call succeeds", '"userPrincipalName"' in app.text(LOG))

        lab.tell(fault={"target": "graph", "delay": 600})
        lab.tell(clearLog={})
        app.click(CALL)
        wait("Graph is asked", lambda: lab.log("graph"))
        app.click(CANCEL)
        check("so can the wait for Graph", app.says("Couldn't get Graph's response"))
        ready(app)
        lab.tell(fault={"target": "graph", "delay": 600})
        lab.tell(clearLog={})
        app.click(CALL)
        wait("Graph is asked", lambda: lab.log("graph"))
        close(app, "closing the window while a server hangs ends the program")
        lab.tell(clearFaults={})


def keyring_is_locked():
    with Program("TutorialApp") as app:
        app.says(f"Signed in as {ALICE}")
        ready(app)
        lock_keyring()
        app.click(SIGN_OUT)
        said = app.says("Couldn't sign out")
        check("a locked keyring is reported in the window", "unlock" in said, said)
        ready(app)
        unlock_keyring()
        app.click(SIGN_OUT)
        app.says("Sign out completed")
        check("and after unlocking it the sign-out succeeds", app.says("No account is signed in"))
        close(app, "it ends")
    lock_keyring()
    with Program("TutorialApp") as app:
        said = app.says("Couldn't query the current account")
        check("at the start, too", "unlock" in said, said)
        unlock_keyring()
        app.click(CALL)
        app.says(f"Signed in as {ALICE}")
        ready(app)
        app.click(SIGN_OUT)
        app.says("Sign out completed")
        close(app, "it ends")


def no_session_bus(desktop):
    without = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"]
    with Program("TutorialApp", without=without, AT_SPI_BUS_ADDRESS=desktop.accessibility_bus()) as app:
        said = app.says("Couldn't query the current account")
        check("a missing session bus is reported in the window", "bus" in said or "keyring" in said, said)
        ready(app)
        app.click(CALL)
        app.wait("it is reported again", lambda: app.text(LOG).count("Couldn't query") == 2)
        ready(app)
        check("the window stays usable", app.has(CALL))
        close(app, "and ends")


def no_display():
    program = [f"{os.environ['DESKTOP_BIN']}/TutorialApp"]
    without = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    for what, environment in {
            "no display": without, "a display that does not exist": {**without, "DISPLAY": f"{os.environ['TMPDIR']}/none"}}.items():
        result = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=180)
        check(f"{what} is an error message and an exit code",
              result.returncode == 1 and result.stderr.startswith("TutorialApp: There is no display"), result)


def no_settings():
    for what, without, environment in [
            ("a missing", ["LLAVERO_CLIENT_ID"], {}), ("an empty", [], {"LLAVERO_CLIENT_ID": ""})]:
        with Program("TutorialApp", without=without, **environment) as app:
            said = app.says("Unable to create the application")
            check(f"{what} client ID is reported in the window", "Set LLAVERO_CLIENT_ID" in said, said)
            check("and its button is insensitive", not app.has(CALL) and not app.has(SIGN_OUT))
            check("it shows once that no account is signed in",
                  sum("account is signed in" in text for text in app.labels()) == 1, app.labels())
            close(app, "it ends")


with Desktop() as desktop, Lab() as lab:
    configure(lab, GROUP)
    no_display()
    no_settings()
    story(lab, desktop)
    by_keys()
    several_accounts(lab, desktop)
    cancelled()
    server_hangs(lab)
    keyring_is_locked()
    no_session_bus(desktop)
finish()
