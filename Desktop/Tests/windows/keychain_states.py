"""Each state of llavero-desktop's window: what it shows, and that it fits in 360 pixels, also with larger text.

PICTURES names a directory for pictures of all of them.
"""
# Shows .fault("nothing to show").
import os
from contextlib import contextmanager

from desktop import Desktop, enlarge_text, key, lock_keyring, unlock_keyring
from peers import check, finish
from sample_groups import PEOPLE, cache, empty_bus, group, keychain, make_unreadable, plaintext_cache

PICTURES = os.environ.get("PICTURES")
ONE, LONG = "org.example.office", "com.example.department-of-administration.shared-accounts"
WIDE, FOLDED = (1040, 680), (360, 680)


def long_names():
    first = ["Anastasia", "Bartholomew", "Cassiopeia", "Dietlinde", "Ekaterina", "Francesca"]
    last = ["Featherstonehaugh-Cholmondeley", "Konstantinopolitanska", "Papadimitrakopoulou", "Schwarzenberger", "Wijayasuriya"]
    return [(f"{name} {family}", f"{name}.{family}@administration.department.example.com".lower())
            for name in first for family in last]


@contextmanager
def one():
    with group(ONE, cache(PEOPLE[:1])) as name:
        yield name, {}


@contextmanager
def four():
    with group(ONE) as name:
        yield name, {}


@contextmanager
def many():
    with group(LONG, cache(long_names())) as name:
        yield name, {}


@contextmanager
def expired():
    with group(ONE, cache(PEOPLE[:1], seconds=(-4000, -9000, -300000))) as name:
        yield name, {}


@contextmanager
def empty():
    yield ONE, {}


@contextmanager
def elsewhere():
    with group(LONG):
        yield ONE, {}


@contextmanager
def unreadable():
    with group(ONE, cache(PEOPLE[:1])) as name:
        make_unreadable(name, "alice")
        yield name, {}


@contextmanager
def no_folder():
    yield ONE, {"LLAVERO_STORE": "file:/media/stick/tokens", "LLAVERO_KEY": "file:/media/stick/key"}


@contextmanager
def locked():
    with group(ONE) as name:
        lock_keyring()
        yield name, {}
        unlock_keyring()


@contextmanager
def no_keyring():
    with empty_bus() as address:
        yield ONE, {"DBUS_SESSION_BUS_ADDRESS": address, "AT_SPI_BUS_ADDRESS": desktop.accessibility_bus()}


@contextmanager
def damaged():
    with group(ONE) as name:
        make_unreadable(name, "boris")
        yield name, {}


@contextmanager
def plaintext():
    with group(ONE) as name:
        path = plaintext_cache()
        yield name, {}
        os.remove(path)


# What each shows, and the account to look at in a narrow window.
STATES = {
    "": (four, "minutes left", "alice@contoso.com"),
    "-one": (one, "minutes left", "alice@contoso.com"),
    "-many": (many, "minutes left", long_names()[0][1]),
    "-expired": (expired, "Expired ", "alice@contoso.com"),
    "-empty": (empty, "No Accounts", None),
    "-elsewhere": (elsewhere, "No Accounts in This Group", None),
    "-unreadable": (unreadable, "Entries Cannot Be Read", None),
    "-no-folder": (no_folder, "The Folder Is Missing", None),
    "-locked": (locked, "The Keyring Is Locked", None),
    "-no-keyring": (no_keyring, "No Keyring", None),
    "-damaged": (damaged, "Something Is Damaged", "alice@contoso.com"),
    "-plaintext": (plaintext, "Plaintext tokens of other programs", "alice@contoso.com"),
}

# The button to click in a wide window, what it then shows, and the key to leave it.
BUTTONS = {
    "": ("Sign Out…", "You stay signed in in the browser", "Escape"),
    "-damaged": ("Details…", "It was left as it is", "Escape"),
    "-plaintext": ("Review", "Azure CLI", None),
}


# The button that asks before something is lost, what the question says, and what stays.
SIGN_OUT = ("Sign Out…", "You stay signed in in the browser", "Can be renewed")
QUESTIONS = {
    "": SIGN_OUT,
    "-many": SIGN_OUT,
    "-plaintext": ("Move to Keyring…", "is then overwritten and removed", "Azure CLI"),
}


def press_enter(app, state, what, suffix=""):
    """Enter answers no question with what cannot be undone, however its buttons are laid out."""
    button, question, rest = QUESTIONS[state]
    for width in [WIDE[0], 620, FOLDED[0]]:
        present = app.resize(width, WIDE[1])
        app.click(button)
        app.says(question)
        app.wait("the safe button has the focus", lambda: app.focused() in ("Cancel", "_Cancel"))
        check(f"{what}: the question is on the screen at {width} pixels",
              present == width and app.focus_on_screen(), present)
        picture(f"{state}-question-{width}{suffix}")
        key("Return")
        app.gone(question)
        check(f"{what}: Enter keeps everything at {width} pixels", app.says(rest))


def picture(name):
    if PICTURES:
        desktop.picture(f"{PICTURES}/llavero-desktop{name}.png")


# Of a label in each state, as examined last.
heights = {}


def examine(state, what, large=False):
    start, text, account = STATES[state]
    suffix = "-large" if large else ""
    with start() as (name, environment), keychain(name, **environment) as app:
        app.says(text)
        height = app.height(account or text)
        if large:
            check(f"{what}: larger text is larger", height > 1.3 * heights[state], (heights[state], height))
        heights[state] = height
        picture(state + suffix)
        width = app.resize(*FOLDED)
        check(f"{what} fits in 360 pixels" + (" with larger text" if large else ""), width == FOLDED[0], width)
        app.says(text)
        picture(state + "-folded" + suffix)
        if account:
            app.tab_to(account)
            key("Return")
            app.says("Can be renewed")
            picture(state + "-folded-account" + suffix)
            width = app.resize(*FOLDED)
            check(f"{what}: so does the account", width == FOLDED[0], width)
        if state in BUTTONS:
            button, shown, leave = BUTTONS[state]
            app.resize(*WIDE)
            app.click(button)
            app.says(shown)
            picture(f"{state}-page{suffix}")
            if leave:
                key(leave)
                app.gone(shown)
        if state in QUESTIONS:
            press_enter(app, state, what, suffix)
        key("ctrl+q")
        check(f"{what}: GTK reports no errors", app.ends() == 0 and app.errors() == "", app.errors())
    if PICTURES and not large:
        with start() as (name, environment), keychain(name, ADW_DEBUG_COLOR_SCHEME="prefer-dark", **environment) as app:
            app.says(text)
            picture(state + "~dark")


with Desktop() as desktop:
    for state, (start, *_) in STATES.items():
        examine(state, start.__name__)
    enlarge_text(1.5)
    for state, (start, *_) in STATES.items():
        examine(state, start.__name__, large=True)
    enlarge_text(2)
    for state in QUESTIONS:
        start, _, account = STATES[state]
        with start() as (name, environment), keychain(name, **environment) as app:
            if state == "-plaintext":
                app.click("Review")
            else:
                app.tab_to(account)
                key("Return")
            press_enter(app, state, start.__name__ + " with text of 2", "-huge")
            key("ctrl+q")
            check("GTK reports no errors", app.ends() == 0 and app.errors() == "", app.errors())
finish()
