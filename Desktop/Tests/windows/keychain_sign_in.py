"""llavero-desktop signs accounts in at the lab, in the browser and with a code, into the group that is shown.

PICTURES names a directory for pictures of all pages.
"""
import os

from desktop import Desktop, enlarge_text, key, type_text
from peers import ALICE, GROUP, PLAIN, Lab, check, configure, finish, llavero
from sample_groups import keychain

PICTURES = os.environ.get("PICTURES")
WIDE, FOLDED = (1040, 680), (360, 680)
# A browser that never finishes the sign-in.
IDLE_BROWSER = {"BROWSER": "true"}
NO_CLIENT = {"LLAVERO_CLIENT_ID": ""}
OTHER = "org.example.sign-in"


def picture(desktop, name):
    if PICTURES:
        desktop.picture(f"{PICTURES}/llavero-desktop-sign-in-{name}.png")


def fits(app, desktop, what):
    """Checks that the dialog can be 360 pixels wide."""
    picture(desktop, what)
    width = app.resize_dialog(*FOLDED)
    check(f"{what} fits into 360 pixels", width == FOLDED[0], width)
    picture(desktop, what + "-folded")


def in_browser(desktop):
    with keychain(OTHER) as app:
        app.says("No Accounts")
        picture(desktop, "empty")
        app.click("Sign In…")
        app.says("Add an Account")
        app.wait("the focus is on the first button", lambda: app.focused() == "Use the Browser")
        check("a sign-in says where the tokens go", app.says(OTHER))
        fits(app, desktop, "choice")
        app.click("Use the Browser")
        app.says(ALICE)
        check("the account is stored in the group that is shown", "alice" in llavero("list", group=OTHER))
        check("the end is announced", app.appears(f"Signed in as {ALICE}."))
        check("the dialog is gone", app.find("Add an Account") is None, app.tree())
        key("ctrl+q")
        check("GTK reports no errors", app.ends() == 0 and app.errors() == "", app.errors())
    llavero("clear", "--all", "--yes", group=OTHER)


def cancelled(desktop):
    with keychain(OTHER, **IDLE_BROWSER) as app:
        app.says("No Accounts")
        key("ctrl+n")
        app.click("Use the Browser")
        app.says("Sign in in the browser that opens")
        app.wait("the focus is on the address", lambda: app.focused() == "Copy the Address")
        fits(app, desktop, "progress")
        app.click("Cancel")
        app.wait("it can begin again", lambda: app.has("Use the Browser"))
        check("one's own Cancel is no error", not any("Cancelled" in text for text in app.labels()), app.labels())
        app.click("Use the Browser")
        app.says("Sign in in the browser that opens")
        key("Escape")
        app.wait("it can begin again", lambda: app.has("Use the Browser"))
        key("Escape")
        app.wait("the dialog closes", lambda: app.find("Add an Account") is None)
        check("Escape ends the sign-in, and then closes the dialog", True)
        key("ctrl+q")
        check("GTK reports no errors", app.ends() == 0 and app.errors() == "", app.errors())


def with_code(lab, desktop):
    lab.tell(configure={"deviceInterval": 1})
    with keychain(OTHER, **NO_CLIENT) as app:
        app.says("No Accounts")
        app.click("Add Account")
        app.says("Register an app")
        app.wait("the focus is on the client ID", lambda: app.focused() == "Client ID")
        fits(app, desktop, "client")
        app.click("Use a Device Code")
        text = app.says("Invalid client ID")
        check("a sign-in without a client says so", "expected a value" in text, text)
        app.wait("the focus is on the client ID", lambda: app.focused() == "Client ID")
        type_text(PLAIN)
        app.click("Use a Device Code")
        app.says("Open this page on any device")
        fits(app, desktop, "code")
        app.click("Copy the Code")
        app.appears("Copied")
        lab.tell(approveDevice={"user": "alice"})
        app.says(ALICE)
        check("a code signs in", True)
        key("ctrl+q")
        check("GTK reports no errors", app.ends() == 0 and app.errors() == "", app.errors())


def refused(lab, desktop):
    """What with_code has left is refused, and signed in again."""
    with keychain(OTHER, **NO_CLIENT) as app:
        app.says(ALICE)
        lab.tell(mfa={"user": "alice", "required": True})
        app.click("Renew")
        app.says("A New Sign-In Is Needed")
        check("the account is marked", app.says("Needs a sign-in · "))
        check("and the token", app.says("Needs a new sign-in") and not any("Can be renewed" in text for text in app.labels()))
        picture(desktop, "marked")
        app.resize(*FOLDED)
        picture(desktop, "marked-folded")
        app.click("Details…")
        app.says("Sign in again here")
        key("Return")
        app.says(f"Sign In {ALICE}")
        check("the app is that of the token", not any("Register an app" in text for text in app.labels()))
        app.click("Use the Browser")
        app.gone("Needs a sign-in")
        check("a sign-in removes the mark, and the error", app.says("Can be renewed") and app.find("Close the message") is None)
        key("ctrl+q")
        check("GTK reports no errors", app.ends() == 0 and app.errors() == "", app.errors())
    llavero("clear", "--all", "--yes", group=OTHER)


def large(desktop):
    enlarge_text(2)
    with keychain(OTHER, **NO_CLIENT) as app:
        app.says("No Accounts")
        key("ctrl+n")
        app.says("Register an app")
        fits(app, desktop, "client-huge")
        app.tab_to("Use a Device Code")
        app.wait("what has the focus is scrolled to", app.focus_on_screen)
        key("Return")
        app.says("Invalid client ID")
        type_text(PLAIN)
        app.click("Use a Device Code")
        app.says("Open this page on any device")
        fits(app, desktop, "code-huge")
        app.tab_to("Cancel")
        app.wait("what has the focus is scrolled to", app.focus_on_screen)
        key("Return")
        app.wait("it can begin again", lambda: app.has("Use a Device Code"))


with Desktop() as desktop, Lab() as lab:
    configure(lab, GROUP)
    in_browser(desktop)
    cancelled(desktop)
    with_code(lab, desktop)
    refused(lab, desktop)
    large(desktop)
finish()
