"""TutorialApp signs in at the lab, calls Graph and signs out; and says in its window what keeps it from that."""
import os
import subprocess

from desktop import Desktop, Program, lock_keyring, unlock_keyring, wait
from peers import ALICE, Lab, check, configure, finish, secrets

GROUP = "com.example.office"
CALL, SIGN_OUT, CANCEL, LOG = "Call Microsoft Graph API", "Sign Out", "Cancel", "Log"
# A browser in which nobody does anything.
NOBODY = {"BROWSER": "true"}
PICTURES = os.environ.get("PICTURES")


def ready(app):
    """Waits until nothing is under way."""
    app.wait("it is ready", lambda: app.has(CALL) and not app.has(CANCEL))


def close(app, what):
    app.click("Close")
    check(what, app.ends() == 0, app.errors())
    check("GTK has nothing to complain about", "CRITICAL" not in app.errors(), app.errors())


def picture(desktop, name):
    if PICTURES:
        desktop.picture(f"{PICTURES}/{name}.png")


def story(lab, desktop):
    with Program("TutorialApp") as app:
        app.says("Nobody is signed in")
        ready(app)
        picture(desktop, "tutorial-app-start")
        check("nobody can sign out before somebody signed in", not app.has(SIGN_OUT))

        app.click(CALL)
        log = app.reads(LOG, '"userPrincipalName"')
        check("the browser signs in, and Graph answers", f'"{ALICE}"' in log and "Result from Graph" in log, log)
        check("its text of other alphabets is whole", "Alice Álvarez" in log, log)
        check("the account is in the window", ALICE in app.says("Signed in as "))
        ready(app)
        check("who is signed in can sign out", app.has(SIGN_OUT))
        check("the lab gave tokens, once", len(lab.log("token")) == 1, lab.log())
        issued = secrets(GROUP)
        check("they are in the keyring", len(issued) >= 3, len(issued))
        check("none of them is in the window", not any(secret in app.tree() + log for secret in issued))
        picture(desktop, "tutorial-app")

        lab.tell(clearLog={})
        app.click(CALL)
        app.wait("Graph answers again", lambda: app.text(LOG).count('"userPrincipalName"') == 2)
        check("the second call asks nobody",
              "silently" in app.text(LOG) and [entry["endpoint"] for entry in lab.log()] == ["graph"], lab.log())
        ready(app)

        app.click(SIGN_OUT)
        app.says("Nobody is signed in")
        ready(app)
        picture(desktop, "tutorial-app-signed-out")
        check("after signing out nobody can again", not app.has(SIGN_OUT))
        check("and no token is left", not secrets(GROUP))
        close(app, "closing its window ends the program")

    with Program("TutorialApp") as app:
        app.click(CALL)
        app.says(f"Signed in as {ALICE}")
        ready(app)
        close(app, "and while somebody is signed in, too")
    with Program("TutorialApp") as app:
        app.says(f"Signed in as {ALICE}")
        ready(app)
        check("another start finds who is signed in", app.has(SIGN_OUT))

        app.click(SIGN_OUT)
        app.says("Sign out completed")
        ready(app)
        close(app, "it ends")


def broken_off():
    with Program("TutorialApp", **NOBODY) as app:
        app.click(CALL)
        app.says("Sign in in the browser")
        check("while the browser is open, nothing else can be begun", not app.has(CALL) and not app.has(SIGN_OUT))
        app.click(CANCEL)
        log = app.reads(LOG, "Could not acquire a token")
        check("a sign-in can be cancelled, which is said", "cancel" in log.lower(), log)
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
        check("when the server hangs, the window says what it waits for",
              app.says("Cancel ends the wait") and app.has(CANCEL))
        app.click(CANCEL)
        app.reads(LOG, "Could not acquire a token")
        ready(app)
        check("the wait can be ended", True)
        app.click(CALL)
        app.says(f"Signed in as {ALICE}")
        ready(app)
        check("and the next call is answered", '"userPrincipalName"' in app.text(LOG))

        lab.tell(fault={"target": "graph", "delay": 600})
        lab.tell(clearLog={})
        app.click(CALL)
        wait("Graph is asked", lambda: lab.log("graph"))
        app.click(CANCEL)
        check("so it is when Graph hangs", app.says("Couldn't get Graph's answer"))
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
        check("a locked keyring is a sentence in the window", "unlock" in said, said)
        ready(app)
        unlock_keyring()
        app.click(SIGN_OUT)
        app.says("Sign out completed")
        check("and once it is unlocked all goes on", app.says("Nobody is signed in"))
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
        check("no session bus is a sentence in the window", "bus" in said or "keyring" in said, said)
        ready(app)
        app.click(CALL)
        app.wait("it is said again", lambda: app.text(LOG).count("Couldn't query") == 2)
        ready(app)
        check("which stays usable", app.has(CALL))
        close(app, "and ends")


def no_display():
    program = [f"{os.environ['DESKTOP_BIN']}/TutorialApp"]
    without = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    for what, environment in {
            "no display": without, "a display that is not there": {**without, "DISPLAY": f"{os.environ['TMPDIR']}/none"}}.items():
        result = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=180)
        check(f"{what} is a sentence and an exit code",
              result.returncode == 1 and result.stderr.startswith("TutorialApp: There is no display"), result)


def no_settings():
    with Program("TutorialApp", without=["LLAVERO_CLIENT_ID"]) as app:
        said = app.says("Unable to create the application")
        check("no client id is a sentence in the window", "Set LLAVERO_CLIENT_ID" in said, said)
        app.click(CALL)
        check("which stays usable", app.says("There is no application"))
        close(app, "it ends")


with Desktop() as desktop, Lab() as lab:
    configure(lab, GROUP)
    no_display()
    no_settings()
    story(lab, desktop)
    broken_off()
    server_hangs(lab)
    keyring_is_locked()
    no_session_bus(desktop)
finish()
