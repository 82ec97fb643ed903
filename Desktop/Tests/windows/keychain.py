"""llavero-desktop: what it shows of a keyring, its actions, and how it reports problems."""
# Shows .fault("crashed"), .fault("hidden characters") and .fault("wrong passphrase").
import json
import os
import re
import signal
import socket
import subprocess
import time

from desktop import (SHARE, Desktop, Program, announcements, key, lock_keyring, stopped_keyring, type_text, unlock_keyring,
                     wait)
from peers import ALICE, GROUP, Lab, check, finish, keyring_process, llavero, log_in
from sample_groups import (CLIENTS, DATA, HOST, PEOPLE, SCOPES, TENANT, cache, empty_bus, etcd, group, keychain,
                           make_unreadable, passphrase_store, plaintext_cache, secret)


def clipboard():
    """The formats that the clipboard offers, and its text; empty where it has none."""
    def ask(*what):
        command = ["xclip", "-selection", "clipboard", "-out", *what]
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    return ask("-target", "TARGETS").split(), ask()


def fits(app, what):
    """Checks that the window can be 360 pixels wide. GTK gives no widget less than its minimum."""
    width = app.resize(360, 700)
    check(f"{what} fits into 360 pixels", width == 360, width)


def large_text():
    """The variable for a directory where GTK finds a font of one and a half times the size."""
    directory = f"{os.environ['TMPDIR']}/large"
    os.makedirs(f"{directory}/gtk-4.0", exist_ok=True)
    with open(f"{directory}/gtk-4.0/settings.ini", "w") as file:
        file.write("[Settings]\ngtk-font-name=Sans 16.5\n")
    return {"XDG_CONFIG_HOME": directory}


def narrow():
    name = "org.example.a-very-long-name-of-a-department.of-a-subsidiary.of-a-company"
    people = [(f"Person with a rather long name {i}", f"person.with.a.rather.long.name.{i}@subsidiary.contoso.example")
              for i in range(30)]
    heights = []
    for text, variables in [("", {}), (" with large text", large_text())]:
        with group(name, cache(people)), keychain(name, **variables) as app:
            # Not that of a token, which libadwaita 1.2 gives a size of its own.
            heights.append(app.height(people[0][1]))
            app.says("minutes left")
            app.click("Details")
            app.says("Tenant")
            fits(app, "a list with long names" + text)
            app.tab_to("person")
            key("Return")
            app.wait("the account is shown", lambda: app.focused() == "Back")
            check("an account is opened by keys" + text, True)
            # From the account's page.
            key("ctrl+f")
            type_text("zzz")
            shown = app.says("No account or token has")
            check("a search without a match says so in a narrow window" + text, "zzz" in shown, shown)
        with keychain("org.example.nothing", **variables) as app:
            app.says("No Accounts")
            fits(app, "an empty group" + text)
    check("large text is larger", heights[1] > 1.3 * heights[0], heights)


def listing(desktop):
    with group("org.example.office") as name:
        for scheme, suffix in [("default", ""), ("prefer-dark", "~dark")]:
            with keychain(name, ADW_DEBUG_COLOR_SCHEME=scheme) as app:
                app.says("minutes left")
                shown = app.labels()
                check("accounts are shown by their names", all(person in shown for pair in PEOPLE for person in pair), shown)
                check("a token's API and permissions are shown",
                      {"Microsoft Graph", "User.Read Mail.Read", SCOPES[2], "Azure Resource Manager", "user_impersonation"}
                      <= set(shown), shown)
                check("an app is shown by its name, and by its client ID without one", {"Azure CLI", CLIENTS[1]} <= set(shown), shown)
                check("the time left is shown, and which tokens can be renewed",
                      any("minutes left · Can be renewed" in text for text in shown)
                      and "Expired 2 hours ago · Cannot be renewed" in shown, shown)
                check("what only some need is not shown", not any(TENANT in text and CLIENTS[0] in text for text in shown), shown)
                app.click("Details")
                app.says("Account ID")
                shown = app.labels()
                check("it is shown on request",
                      {TENANT, CLIENTS[0], HOST, SCOPES[0].replace(" ", "\n"), f"alice.{TENANT}"} <= set(shown), shown)
                check("and when a token expires, to the minute",
                      re.fullmatch(r"\d+ \w+ \d{4}, \d\d:\d\d", shown[shown.index("Expires") + 1]), shown)
                app.click("Copy Account ID")
                app.says("Copied.")
                app.click("Dismiss")
                app.gone("Copied.")
                check("each detail can be copied", wait("the clipboard", lambda: clipboard()[1]) == f"alice.{TENANT}", clipboard())
                check("no token is shown", not any("opaque-" in text for text in shown), shown)
                named = [widget for widget in app.widgets() if "button" in widget.get_role_name()]
                check("every button has a name", all(widget.get_name() or widget.get_child_count() for widget in named),
                      [app.tree()])
                app.click("Close")
                check("closing the window ends the program", app.ends() == 0, app.errors())
                check("GTK reports no errors", app.errors() == "", app.errors())


def hidden_characters():
    """Names with characters that cannot be seen, in the list, the details and the question."""
    hidden = "\u202e\u2066\u200b\n"
    people = [("Alice", "alice@contoso.com"), (f"Al{hidden}ice", f"al{hidden}ice@contoso.com")]
    with group("org.example.hidden", cache(people)) as name, keychain(name) as app:
        app.says("alice@contoso.com")
        shown = "al\ufffd\ufffd\ufffd\ufffdice@contoso.com"
        app.tab_to("alice@contoso.com")
        key("Down")
        app.wait("the account is shown", lambda: app.labels().count(shown) == 2)
        app.click("Details")
        app.says("Tenant")
        app.click("Sign Out…")
        app.says(f"Sign Out {shown}?")
        said = [widget.get_name() + (widget.get_description() or "") for widget in app.widgets()]
        check("hidden characters are shown in list, details and question",
              not any(character in text for text in said for character in hidden[:3]), said)


def other_processes():
    with group("org.example.follow") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        llavero("import", "-", stdin=cache([("Zoë Zimmer", "zoe@contoso.com")]), group=name)
        app.says("zoe@contoso.com")
        check("an account that another process adds appears", True)
        llavero("clear", "--account", "boris@contoso.com", "--yes", group=name)
        app.gone("boris@contoso.com")
        check("one that another process removes disappears", "alice@contoso.com" in app.labels(), app.labels())


def other_machines():
    name = "org.example.machines"
    with etcd() as (settings, watches):
        llavero("import", "-", stdin=cache(), group=name, **settings)
        with keychain(name, **settings) as app:
            app.says("alice@contoso.com")
            check("what another machine does right after the start is not missed", watches() == 1, watches())
            llavero("import", "-", stdin=cache([("Zoë Zimmer", "zoe@contoso.com")]), group=name, **settings)
            app.says("zoe@contoso.com")
            check("an account that it adds appears", True)


def reveal_and_copy():
    with group("org.example.secrets", cache(PEOPLE[:1])) as name, keychain(name) as app:
        app.click("Reveal")
        token = app.says("opaque-alice-")
        check("a token is shown on request", token == secret("alice", 0), token)
        for _ in range(8):
            key("Tab")
            key("ctrl+a")
        selected = subprocess.run(["xclip", "-selection", "primary", "-out"], capture_output=True, text=True, timeout=120)
        check("it cannot be selected, which would pass it on", "opaque" not in selected.stdout, selected.stdout)
        app.click("Hide")
        app.gone("opaque-")
        check("it is hidden on request", True)
        app.click("Reveal")
        app.says("opaque-alice-")
        began = time.monotonic()
        # Half a minute for both.
        app.click("Copy")
        app.says("Copied")
        formats, text = wait("the clipboard", lambda: (found := clipboard())[1] and found)
        check("a token is in the clipboard when it is copied", text == secret("alice", 0), text)
        check("clipboard histories are asked to ignore it", "x-kde-passwordManagerHint" in formats, formats)
        app.gone("opaque-")
        check("it is hidden after half a minute, and not before", time.monotonic() - began > 25)
        wait("an empty clipboard", lambda: not clipboard()[1])
        check("the clipboard is cleared", True)

        app.click("Copy")
        wait("the clipboard", lambda: clipboard()[1])
        app.click("Close")
        check("the program ends with a token in the clipboard", app.ends() == 0, app.errors())
        check("the clipboard is cleared by then", clipboard()[1] == "")
        check("no token is in its log", "opaque" not in app.errors(), app.errors())


def questions():
    with group("org.example.questions") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        app.click("Sign Out…")
        text = app.says("You stay signed in in the browser")
        check("before signing out the consequences are shown",
              f"tokens of Azure CLI, {CLIENTS[1]} from the group" in text, text)
        check("those of the removal of the account, too", "also removes it from the list" in text, text)
        app.click("Cancel")
        app.gone("You stay signed in")
        check("nothing is removed without confirmation", "alice" in llavero("list", group=name))
        app.click("Sign Out…")
        app.says("You stay signed in")
        app.click("Sign Out")
        text = app.says("No app has tokens of this account")
        check("an account without tokens is explained", "at the next sign-in" in text, text)
        records = [record for record in json.loads(llavero("list", "--json", group=name))["records"]
                   if record.get("home_account_id") == f"alice.{TENANT}"]
        check("signing out removes the tokens and keeps the account",
              [record["type"] for record in records] == ["Account"], records)
        app.click("Remove…")
        app.says("You stay signed in")
        check("without tokens there is no choice", app.find("Sign Out") is None)
        app.click("Remove Account")
        app.gone("alice@contoso.com")
        check("removing removes the account", "alice" not in llavero("list", group=name))
        check("the others stay", "boris" in llavero("list", group=name))
        with stopped_keyring():
            app.click("Sign Out…")
            app.says("You stay signed in")
            app.click("Remove Account")
            app.gone("You stay signed in")
            key("ctrl+q")
            app.gone("boris@contoso.com")
        check("a confirmed removal ends before the program", app.ends() == 0, app.errors())
        check("it was made", "boris" not in llavero("list", group=name), llavero("list", group=name))


def keyboard():
    with group("org.example.keys") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        key("ctrl+f")
        type_text("carla")
        app.gone("boris@contoso.com")
        check("a search shows only its matches", "carla.nunez@fabrikam.com" in app.labels(), app.labels())
        key("Escape")
        app.says("boris@contoso.com")
        subprocess.run(["xdotool", "key", "ctrl+f", "type", "zzz"], check=True)
        text = app.says("No account or token has")
        check("a search without a match says so", "zzz" in text, text)
        key("Escape")
        app.says("boris@contoso.com")
        key("ctrl+Delete")
        app.says("You stay signed in")
        key("Escape")
        app.gone("You stay signed in")
        check("keys open and cancel the dialog", True)
        check("the group's button has a name", app.find("Group: org.example.keys", "push button") is not None, app.tree())
        app.tab_to("Group: ")
        key("space")
        check("the rows of the groups have names", app.appears("org.example.keys", "list item"))
        key("Escape")
        seen = []
        for _ in range(12):
            key("Tab")
            seen.append(app.wait("the focus moves", lambda: app.focused() not in ["", *seen[-1:]] and app.focused()))
        check("Tab passes through the buttons of the tokens, and one account",
              seen.count("Renew") == 2 and sum("@" in name for name in seen) == 1, seen)
        app.wait("a later token has the focus", lambda: key("Tab") or "Refresh token" in app.focused_row())
        app.point_at("alice@contoso.com")
        app.wait("the account has the focus", lambda: "alice" in app.focused())
        app.tab_to("Sign Out…")
        key("Tab")
        row = app.wait("the focus enters the tokens", app.focused_row)
        check("Tab enters the tokens at the first, wherever the focus was before", row.startswith("Microsoft Graph, User.Read"), row)
        key("F10")
        app.click("About Llavero")
        version = llavero("--version").strip()
        app.appears(version)
        check("About has the version", True)
        key("Escape")
        app.wait("About closes", lambda: app.find(version) is None)
        key("ctrl+question")
        app.says("Sign out or remove the account")
        key("Escape")
        app.gone("Sign out or remove the account")
        check("a key shows the shortcuts", True)
        key("ctrl+q")
        check("a key ends the program", app.ends() == 0, app.errors())


def search():
    with group("org.example.search") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        key("ctrl+f")
        type_text("boris files")
        app.gone("alice@contoso.com")
        app.wait("the account is shown", lambda: SCOPES[2] in app.labels())
        check("a search finds tokens", "Azure Resource Manager" not in app.labels(), app.labels())
        key("Down")
        app.wait("Down leads to what is found", lambda: "boris" in app.focused())
        # Closes the search.
        app.click("Search")
        app.says("alice@contoso.com")
        app.click("Search")
        app.tab_to("Show: All")
        key("space")
        key("Down")
        key("Return")
        app.appears("Show: Expired")
        app.gone("minutes left")
        check("a filter shows what has expired", app.says("Expired 2 hours ago"))
        key("space")
        key("Down")
        key("Return")
        check("without a match it says so", app.says("No account or token matches the search"))
        app.click("Search")
        check("with the search its filter ends", app.says("minutes left"))


def by_app():
    with group("org.example.apps") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        app.click("Tokens by App")
        app.says("4 accounts")
        app.wait("the tokens of the first app", lambda: {"Azure CLI", "alice@contoso.com", "boris@contoso.com"} <= set(app.labels()))
        check("an app has the tokens of all accounts, by their names", app.find("Sign Out…") is None)
        fits(app, "the list of apps")
        app.resize(1040, 680)
        app.click("Tokens by App")
        app.gone("4 accounts")
        check("the list of accounts comes back", app.find("Sign Out…") is not None)


def groups_change():
    """While their list is open."""
    with group("org.example.one") as name, group("org.example.two", cache(PEOPLE[1:2])), keychain(name) as app:
        app.says("carla.nunez@fabrikam.com")
        app.tab_to("Group: ")
        key("space")
        app.wait("the row of the group has the focus", lambda: app.focused_row() == name)
        with group("org.example.new"):
            app.says("org.example.new")
            key("Down")
            app.wait("that of the next has it", lambda: app.focused_row() == "org.example.two")
            key("Return")
            app.gone("carla.nunez@fabrikam.com")
            check("another group, which comes before, leaves the choice as it was", app.says("boris@contoso.com"))


def kept():
    """Size and group over starts."""
    kept = {"XDG_STATE_HOME": f"{os.environ['TMPDIR']}/kept"}
    with group("org.example.one"), group("org.example.two", cache(PEOPLE[1:2])):
        with keychain("org.example.nothing", **kept) as app:
            app.click("org.example.two", "push button")
            app.says("boris@contoso.com")
            app.resize(700, 600)
            key("ctrl+q")
            check("the program ends", app.ends() == 0 and app.errors() == "", app.errors())
        with keychain(None, **kept) as app:
            app.says("boris@contoso.com")
            check("the group of the last start is shown", app.find("alice@contoso.com") is None)
            check("in a window of the same size", app.size() == (700, 600), app.size())
        with keychain("org.example.one", **kept) as app:
            check("the setting goes before", app.says("alice@contoso.com"))
        with open(f"{kept['XDG_STATE_HOME']}/llavero/window", "w") as file:
            file.write("[state]\nwidth=-7\nheight=many\ngroup=\n")
        with keychain(None, **kept) as app:
            app.click("org.example.two", "push button")
            app.says("boris@contoso.com")
            key("ctrl+q")
            check("a file that is broken is ignored", app.ends() == 0 and app.errors() == "", app.errors())
        with keychain(None, XDG_STATE_HOME="/proc/nonexistent") as app:
            app.click("org.example.two", "push button")
            app.says("boris@contoso.com")
            key("ctrl+q")
            check("a directory that cannot be written is ignored", app.ends() == 0 and app.errors() == "", app.errors())


def plaintext():
    name = "org.example.adopt"
    path = plaintext_cache()
    with keychain(name) as app:
        app.says("Plaintext tokens of other programs (1 file)")
        app.click("Review")
        text = app.says(path)
        fits(app, "the page of plaintext tokens")
        check("what moving the tokens changes is shown", "az login" in text and any("removes the file" in t for t in app.labels()), text)
        app.click("Move to Keyring…")
        text = app.says("is then overwritten and removed")
        check("before a file is removed that is shown", path in text, text)
        app.click("Move")
        app.says("alice@contoso.com")
        wait("the file is removed", lambda: not os.path.exists(path))
        check("the tokens are in the group and not in the file", "alice" in llavero("list", group=name))
    llavero("clear", "--all", "--yes", group=name)


def import_file():
    name = "org.example.file"
    path = f"{os.environ['TMPDIR']}/exported.json"

    def choose(file):
        key("ctrl+o")
        app.appears("Import a Token Cache")
        # Opens a line for the path.
        type_text(file)
        key("Return")

    with keychain(name) as app:
        app.says("No Accounts")
        with open(path, "w") as file:
            file.write("{ no cache")
        choose(path)
        app.says("Not Imported")
        app.click("Details…")
        text = app.says("Choose a file in which")
        check("a file that is no cache is reported, and what to choose", path in text, text)
        key("Escape")
        with open(path, "w") as file:
            file.write(cache(PEOPLE[:1]))
        choose(path)
        app.says("is then overwritten and removed")
        app.click("Import and Keep the File")
        app.says("alice@contoso.com")
        check("a chosen file is imported", os.path.exists(path) and app.says("and kept the file"))
        with open(path, "w") as file:
            file.write(cache(PEOPLE[1:2]))
        choose(path)
        app.says("is then overwritten and removed")
        app.click("Move")
        app.says("boris@contoso.com")
        wait("the file is removed", lambda: not os.path.exists(path))
        check("or moved", "alice" in llavero("list", group=name))
    llavero("clear", "--all", "--yes", group=name)


def close_during_renewal(lab, app):
    """Closes the window while the lab holds its response back. It is hidden until the renewal has ended."""
    lab.tell(clearLog={})
    app.click("Renew")
    wait("the renewal's request", lambda: lab.log("token"))
    app.says("Renewing…")
    key("ctrl+q")
    app.gone("Renewing…")


def renewal():
    before_lab = dict(os.environ)
    with Lab() as lab:
        log_in(lab)
        before = json.loads(llavero("export"))["AccessToken"]
        with keychain() as app:
            app.says(ALICE)
            with announcements() as announced:
                app.click("Renew")
                app.says("Renewed.")
                check("what succeeded is announced to screen readers", wait("the announcement", lambda: "Renewed." in announced()))
            check("it has the role of an alert", app.find("Renewed.", "alert") is not None, app.tree())
            app.click("Dismiss")
            app.gone("Renewed.")
            after = json.loads(llavero("export"))["AccessToken"]
            check("a token is renewed", {r["secret"] for r in before.values()} != {r["secret"] for r in after.values()})
            lab.tell(fault={"target": "token", "status": 503, "count": 2})
            app.click("Renew")
            app.says("The Server Has a Problem")
            app.click("Renew")
            app.says("Renewed.")
            app.gone("The Server Has a Problem")
            check("the next action takes the place of an error", True)
            lab.tell(configure={"strictRefreshTokens": True})
            lab.tell(fault={"target": "token", "delay": 600, "afterHandling": True})
            before = llavero("export")
            close_during_renewal(lab, app)
            with keychain() as second:
                check("a second start shows the window again", second.ends() == 0 and app.says("Renewing…"), second.errors())
            app.click("Close")
            app.gone("Renewing…")
            lab.tell(endDelays={})
            check("a renewal ends before the program, also after a second close",
                  app.ends() == 0 and llavero("export") != before, app.errors())
        with keychain() as app:
            lab.tell(fault={"target": "token", "status": 503, "delay": 600})
            # The request is repeated once.
            lab.tell(fault={"target": "token", "status": 503})
            close_during_renewal(lab, app)
            lab.tell(endDelays={})
            app.says("The Server Has a Problem")
            check("a renewal that fails in the hidden window brings it back", True)
            app.click("Close")
            check("its error does not keep the program from ending", app.ends() == 0, app.errors())
        with keychain() as app:
            lab.tell(condition={"user": "alice", "condition": "badToken"})
            app.click("Renew")
            app.says("A New Sign-In Is Needed")
            check("a refused renewal is reported", True)
            app.click("Close the message")
            app.gone("A New Sign-In Is Needed")
    llavero("clear", "--all", "--yes")
    os.environ.clear()
    os.environ.update(before_lab)


def hanging_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
        with group("org.example.hangs", cache(PEOPLE[:1], host)) as name:
            with keychain(name, LLAVERO_AUTHORITY=f"https://{host}/{TENANT}") as app:
                app.click("Renew")
                app.says("Renewing…")
                app.click("Reveal")
                app.says("opaque-alice-")
                check("the window stays usable while a server hangs", True)
                app.click("Cancel")
                app.gone("Renewing…")
                check("the wait can be cancelled, which is no error", app.find("Close the message") is None)
                app.click("Renew")
                app.says("Renewing…")
                key("ctrl+f")
                type_text("ali")
                server.close()
                app.says("No Response From the Server")
                type_text("zzz")
                text = app.says("No account or token has")
                check("an error leaves the focus in a search that is being typed", "alizzz" in text, text)
                app.click("Close")
                check("it does not keep the program from ending", app.ends() == 0, app.errors())


def damage():
    with group("org.example.damaged") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        make_unreadable(name, "boris")
        key("F5")
        text = app.says("Something Is Damaged")
        check("damage is reported", "alice@contoso.com" in app.labels() and "boris" not in text, text)
        fits(app, "a group with damage")
        app.click("Details…")
        app.says("It was left as it is")
        app.click("Remove…")
        text = app.says("This cannot be undone")
        check("before it is removed, what and from when is shown",
              "The tokens of boris@contoso.com, last written on " in text and "will be removed" in text, text)
        make_unreadable(name, "carla.nunez")
        app.click("Remove")
        text = app.says("The tokens of carla.nunez@fabrikam.com")
        check("what became unreadable since is asked for, too", "The tokens of boris@contoso.com" in text, text)
        lock_keyring()
        app.click("Remove")
        app.appears("Close the message")
        shown = app.labels()
        check("a keyring that was locked since is reported",
              "The Keyring Is Locked" in shown and not any("Nothing is unreadable" in text for text in shown), shown)
        unlock_keyring()
        app.says("Something Is Damaged")
        app.click("Details…")
        app.click("Remove…")
        app.says("This cannot be undone")
        app.click("Remove")
        app.gone("Something Is Damaged")
        check("it is removed, and the rest stays", "alice" in llavero("list", group=name))


def locked():
    with group("org.example.locked") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        lock_keyring()
        key("F5")
        app.says("The Keyring Is Locked")
        check("a locked keyring is reported", not any("alice" in text for text in app.labels()), app.labels())
        fits(app, "a locked keyring")
        app.click("Unlock")
        # No program can show the keyring's prompt.
        app.says("Not Confirmed")
        app.wait("the focus is on the error", lambda: app.focused() == "Details…")
        description = app.find("Details…").get_description()
        check("a screen reader announces the error", description.startswith("Not Confirmed. The keyring's prompt"), description)
        app.click("Details…")
        app.says("prompt")
        key("Escape")
        app.gone("prompt was dismissed")
        check("a prompt that cannot be shown is reported, too", True)
        unlock_keyring()
        app.says("alice@contoso.com")
        app.gone("Not Confirmed")
        check("it notices that the keyring was unlocked, and the error goes", app.find("Close the message") is None)
        make_unreadable(name, "boris")
        key("F5")
        app.says("Something Is Damaged")
        description = app.find("Details…").get_description()
        check("a screen reader announces each problem by its own text", description.startswith("Something Is Damaged. "), description)


def other_group():
    with group("org.example.full") as full, keychain("org.example.nothing") as app:
        app.says("No Accounts in This Group")
        app.click(full, "push button")
        app.says("alice@contoso.com")
        check("a group without accounts offers those that have some", app.find(f"Group: {full}") is not None)


def keyring_hangs_and_ends():
    with group("org.example.ends") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        with stopped_keyring():
            key("F5")
            app.appears("Working")
        app.wait("the spinner ends", lambda: app.find("Working") is None)
        check("a spinner shows a reading that takes long", True)
        began, former = time.monotonic(), keyring_process()
        os.kill(int(former.split()[1].strip(",)")), signal.SIGKILL)
        # The bus starts another when the window reads.
        wait("the window reads", lambda: (now := keyring_process()) and now != former)
        check("a keyring that ends is noticed at once, not at the next look", time.monotonic() - began < 45)


def passphrase():
    name = "org.example.passphrase"
    with passphrase_store(name, "right") as settings, keychain(name, **settings) as app:
        app.says("The Store Is Locked")
        app.click("Unlock")
        app.says("opens this store")
        # The button of the page below cannot be used meanwhile.
        check("an empty passphrase cannot be sent", not app.has("Unlock"))
        key("Return")
        type_text("x")
        app.wait("the passphrase can be sent", lambda: app.has("Unlock"))
        key("Escape")
        app.gone("opens this store")
        check("one's own Cancel is no error", app.find("Close the message") is None, app.labels())
        app.click("Unlock")
        app.says("opens this store")
        type_text("wrong")
        key("Return")
        app.says("The passphrase is wrong")
        check("a wrong passphrase is asked for again, without an error behind", app.find("Close the message") is None)
        type_text("right")
        key("Return")
        app.says("alice@contoso.com")
        check("the right one opens the store", True)


def unavailable(desktop):
    accessibility = desktop.accessibility_bus()
    # The tool borrows its tokens; the window shows the store.
    with keychain(AT_SPI_BUS_ADDRESS=accessibility, DBUS_SESSION_BUS_ADDRESS="unix:path=/proc/nonexistent",
                  LLAVERO_FROM="unix:/proc/nonexistent") as app:
        app.says("No Session Bus")
        app.click("Check Setup")
        text = app.says("DBUS_SESSION_BUS_ADDRESS is not reachable")
        check("without a bus the window and its check report that", "Use the bus of your session" in text, text)
    with empty_bus() as address, keychain(AT_SPI_BUS_ADDRESS=accessibility, DBUS_SESSION_BUS_ADDRESS=address) as app:
        app.says("No Keyring")
        text = app.says("gnome-keyring")
        check("without a keyring it advises what to install", "Install" in text and "llavero setup" in text, text)
        fits(app, "the page without a keyring")
    with keychain("mail") as app:
        text = app.says("Invalid LLAVERO_GROUP")
        check("so is an invalid setting", "com.example.shared" in text, text)
    with keychain("org.example.crash", SWIFT_BACKTRACE="enable=yes") as app:
        app.says("No Accounts")
        app.process.send_signal(signal.SIGQUIT)
        check("a crash prints no memory", app.ends() == -signal.SIGQUIT and app.errors() == "", app.errors())
    with Program("llavero-desktop", without=["DISPLAY"]) as app:
        check("without a display it ends with a message", app.ends() == 1 and "no display" in app.errors(), app.errors())


def metadata():
    with open(f"{SHARE}/org.llavero.Llavero.metainfo.xml") as file:
        text = file.read().replace("@HOMEPAGE@", "https://example.com")
    pictures = re.findall("/([^/]+)</image>", text)
    documentation = os.listdir(f"{DATA}/../../Documentation/Llavero.docc")
    check("the metadata's pictures are those of the documentation", pictures and set(pictures) <= set(documentation), pictures)
    for command in [["desktop-file-validate", f"{SHARE}/org.llavero.Llavero.desktop"],
                    ["appstreamcli", "validate", "--no-net", "/dev/stdin"]]:
        run = subprocess.run(command, input=text, capture_output=True, text=True)
        check(f"{command[0]} reports no problems", run.returncode == 0 and "hint" not in run.stdout, run.stdout + run.stderr)


CHECKS = [narrow, hidden_characters, other_processes, other_machines, reveal_and_copy, questions, keyboard, search, by_app,
          groups_change, kept, plaintext, import_file, renewal, hanging_server, damage, locked, other_group,
          keyring_hangs_and_ends, passphrase]

metadata()
with Desktop() as desktop:
    listing(desktop)
    for checks in CHECKS:
        print(f"-- {checks.__name__}")
        checks()
    unavailable(desktop)
finish()
