"""llavero-desktop in each of its languages: no text stays English, and all fits in 360 pixels.

The first language is made here: each text has marks around it, so that one without them does not come from the catalogues.

PICTURES names a directory for pictures of all pages.
"""
import gettext
import os
import re
import subprocess
import time

from desktop import SHARE, Desktop, key, lock_keyring, unlock_keyring
from peers import GROUP, Lab, check, configure, finish
from sample_groups import DATA, PEOPLE, SCOPES, group, keychain, make_unreadable, plaintext_cache

PICTURES = os.environ.get("PICTURES")
WIDE, FOLDED = (1040, 680), (360, 680)
LOCALES = {"de": "de_DE", "es": "es_ES", "fr": "fr_FR", "pt": "pt_BR"}
ONE, EMPTY = "org.example.office", "org.example.empty"
ACCOUNT = PEOPLE[0][1]
# For private use, as ISO 639 has it.
MARKED = "qaa"
# What is not the window's: data, details of the libraries, and the texts of GTK and libadwaita.
OTHERS = {"Llavero", "Azure CLI", "Azure Resource Manager", "Microsoft Graph", *SCOPES[0].split(), *(name for name, _ in PEOPLE),
          "The cache cannot be read: the text is not a JSON object",
          "(None)", "Alt", "Close", "Ctrl", "Delete", "Maximize", "Minimize", "No Results Found", "Search Results", "Shortcuts",
          "Try a different search"}


def make_locales():
    """Makes the locales that the system may lack, and returns their directory."""
    directory = f"{os.environ['TMPDIR']}/locales"
    os.mkdir(directory)
    for process in [subprocess.Popen(["localedef", "--no-archive", "-i", name, "-f", "UTF-8", f"{directory}/{name}.UTF-8"])
                    for name in LOCALES.values()]:
        assert process.wait() == 0
    return directory


def make_marked_catalogue():
    """Adds a catalogue in which each text has marks around it to those that are tried."""
    target = f"{SHARE}/locale/{MARKED}/LC_MESSAGES"
    os.makedirs(target, exist_ok=True)
    marked = subprocess.run(["msgfilter", f"--input={DATA}/../po/de.po", "--keep-header", "sed", "s/.*/⟦&⟧/"],
                            stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["msgfmt", "-", f"--output-file={target}/llavero.mo"], input=marked, check=True)


def unmarked(text):
    """A text without what has marks around it, also inside of other marks."""
    inner = re.sub("⟦[^⟦⟧]*⟧", "", text)
    return text if inner == text else unmarked(inner)


def is_text(part):
    """Whether a part of a widget's name is in words of the window."""
    return part.strip(" .") not in OTHERS and any(
        re.fullmatch("(?!Gtk|Adw)[A-Za-z]*[a-z]{2}[.,:…]?", word) for word in part.split())


class Language:
    """The window in a language."""

    def __init__(self, name, locales):
        self.name = name
        self.environment = {"LC_ALL": f"{LOCALES.get(name, 'C')}.UTF-8", "LANGUAGE": name, "LOCPATH": locales}
        self.catalogue = gettext.translation("llavero", f"{SHARE}/locale", [name])
        self.english = {text.replace("_", "") for text in self.catalogue._catalog
                        if isinstance(text, str) and text and self.say(text) != text.replace("_", "")}

    def say(self, text):
        """The name of a widget that has an English text."""
        return self.catalogue.gettext(text).replace("_", "")

    def keychain(self, name, **environment):
        return keychain(name, **self.environment, **environment)

    def look(self, app, page):
        """Checks a page for English texts."""
        if PICTURES:
            desktop.picture(f"{PICTURES}/llavero-desktop-{self.name}-{page}.png")
        names = {widget.get_name() or "" for widget in app.widgets()}
        if self.name == MARKED:
            left = {part for name in names for part in re.split(", | · |\n", unmarked(name)) if is_text(part)}
        else:
            left = {part for name in names for part in re.split(": | · ", name)} & self.english
        check(f"{self.name}, {page}: nothing is English", not left, left)

    def fold(self, app, page, resize=None):
        """Checks that a page fits in 360 pixels."""
        width = (resize or app.resize)(*FOLDED)
        check(f"{self.name}, {page} fits in 360 pixels", width == FOLDED[0], width)
        self.look(app, page + "-folded")


def accounts(language):
    say = language.say
    with group(ONE) as name, language.keychain(name) as app:
        app.says(ACCOUNT)
        app.click(say("Details"))
        app.says(say("Client ID"))
        end = time.time() + 2640
        month = subprocess.run(["date", f"--date=@{end}", "+%B"], env=os.environ | language.environment, stdout=subprocess.PIPE, text=True)
        minutes = language.catalogue.ngettext("%d minute left", "%d minutes left", 40).replace("%d", "4[0-4]")
        labels = app.labels()
        check(f"{language.name}: the month has its name there", any(month.stdout.strip() in label for label in labels), labels)
        check(f"{language.name}: a number has the plural", any(re.match(minutes, label) for label in labels), labels)
        language.look(app, "accounts")
        for keys, shown, page in [("ctrl+Delete", "_Remove Account", "sign-out"), ("F10", "_Check Setup", "menu"),
                                  ("ctrl+question", "Quit", "shortcuts")]:
            key(keys)
            app.appears(say(shown))
            language.look(app, page)
            key("Escape")
            app.wait(f"{page} closes", lambda: app.find(say(shown)) is None)
        language.fold(app, "accounts")
        app.tab_to(ACCOUNT)
        key("Return")
        app.says(say("Can be renewed"))
        language.fold(app, "account")
        key("ctrl+Delete")
        app.appears(say("_Remove Account"))
        language.look(app, "sign-out-folded")
        key("Escape")
        app.wait("the question closes", lambda: app.find(say("_Remove Account")) is None)
        key("ctrl+q")
        check(f"{language.name}: GTK reports no errors", app.ends() == 0 and app.errors() == "", app.errors())


def sign_in(language):
    say = language.say
    with language.keychain(EMPTY) as app:
        app.says(say("No Accounts"))
        language.look(app, "empty")
        key("ctrl+n")
        app.says(say("Add an Account"))
        language.look(app, "sign-in")
        language.fold(app, "sign-in", app.resize_dialog)
        app.click(say("Use a _Device Code"))
        app.appears(say("C_opy the Code"))
        language.look(app, "code-folded")
        app.resize_dialog(420, 520)
        language.look(app, "code")


def troubles(language):
    say = language.say
    with group(ONE) as name:
        make_unreadable(name, "boris")
        with language.keychain(name) as app:
            app.says(say("Something Is Damaged"))
            app.click(say("_Details…"))
            app.appears(say("_Close"))
            language.look(app, "damaged")
            app.click(say("_Remove…"))
            app.says(say("Remove Unreadable Entries?"))
            language.look(app, "remove-unreadable")
    with group(ONE) as name:
        lock_keyring()
        with language.keychain(name) as app:
            app.says(say("The Keyring Is Locked"))
            language.look(app, "locked")
            language.fold(app, "locked")
        unlock_keyring()


def plaintext(language):
    say = language.say
    with group(ONE) as name:
        path = plaintext_cache()
        with language.keychain(name) as app:
            app.click(say("_Review"))
            app.says("Azure CLI")
            language.look(app, "plaintext")
            language.fold(app, "plaintext")
            app.click(say("_Move to Keyring…"))
            app.says(say("Move These Tokens to the Keyring?"))
            language.look(app, "move-folded")
        os.remove(path)


with Desktop() as desktop, Lab() as lab:
    configure(lab, GROUP)
    locales = make_locales()
    make_marked_catalogue()
    for name in [MARKED, *LOCALES]:
        language = Language(name, locales)
        # German is the longest.
        for pages in [accounts, sign_in, troubles, plaintext] if PICTURES or name in (MARKED, "de") else [accounts]:
            pages(language)
finish()
