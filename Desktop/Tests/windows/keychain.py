"""llavero-desktop: what it shows of a keyring, its actions, and how it reports problems."""
import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager

import gi
from desktop import Desktop, Program, lock_keyring, unlock_keyring, wait
from peers import ALICE, BIN, GROUP, Lab, check, finish, llavero, log_in

gi.require_version("Secret", "1")
from gi.repository import Secret  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.realpath(f"{HERE}/../../data")
HOST = "login.microsoftonline.com"
TENANT = "contoso.example"
CLIENTS = ["04b07795-8ddb-461a-bbee-02f9e1bf7b46", "11111111-2222-4333-8444-555555555555"]
PEOPLE = [
    ("Alice Álvarez", "alice@contoso.com"), ("Boris Schmidt", "boris@contoso.com"),
    ("Carla Núñez", "carla.nunez@fabrikam.com"), ("Đorđe Petrović", "djordje@fabrikam.com"),
]
SCOPES = ["User.Read Mail.Read openid profile", "https://management.azure.com/user_impersonation", "Files.ReadWrite.All"]


def secret(person, number):
    return f"opaque-{person}-{number}." + "Zx9" * 60


def cache(people=PEOPLE, host=HOST):
    """A serialized cache: each person has three access tokens of two clients, and a refresh token of the first."""
    now = int(time.time())
    document = {"AccessToken": {}, "RefreshToken": {}, "Account": {}}
    for name, username in people:
        person = username.split("@")[0]
        account = f"{person}.{TENANT}"
        common = {"home_account_id": account, "environment": host}
        document["Account"][f"{account}-{host}-{TENANT}"] = common | {
            "realm": TENANT, "local_account_id": person, "username": username, "name": name,
            "authority_type": "MSSTS"}
        for number, (scopes, left) in enumerate(zip(SCOPES, [2640, -9000, 420])):
            client = CLIENTS[number % 2]
            document["AccessToken"][f"{account}-{host}-accesstoken-{client}-{TENANT}-{scopes}".lower()] = common | {
                "credential_type": "AccessToken", "client_id": client, "realm": TENANT, "target": scopes,
                "secret": secret(person, number), "cached_at": str(now + left - 3600),
                "expires_on": str(now + left), "extended_expires_on": str(now + left)}
        document["RefreshToken"][f"{account}-{host}-refreshtoken-{CLIENTS[0]}--"] = common | {
            "credential_type": "RefreshToken", "client_id": CLIENTS[0], "secret": secret(person, "refresh")}
    return json.dumps(document)


def keychain(group=GROUP, **environment):
    # The icon is not installed.
    return Program(
        "llavero-desktop", LLAVERO_GROUP=group,
        **{"XDG_DATA_DIRS": f"{DATA}:{os.environ['XDG_DATA_DIRS']}", "PATH": f"{BIN}:{os.environ['PATH']}",
           **environment})


@contextmanager
def group(name, document=None):
    """A group of its own, which is emptied at the end."""
    llavero("import", "-", stdin=document or cache(), group=name)
    yield name
    llavero("clear", "--all", "--yes", group=name)


def silent(app, part):
    return app.wait(f'"{part}" leaves the screen', lambda: not any(part in text for text in app.labels()))


def clipboard():
    """The formats that the clipboard offers, and its text; empty where it has none."""
    def ask(*what):
        command = ["xclip", "-selection", "clipboard", "-out", *what]
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    return ask("-target", "TARGETS").split(), ask()


def key(*keys):
    subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)


def picture(desktop, name):
    if os.environ.get("PICTURES"):
        time.sleep(1)  # For what still moves.
        desktop.picture(f"{os.environ['PICTURES']}/{name}.png")


def listing(desktop):
    with group("org.example.office") as name:
        for scheme, suffix in [("default", ""), ("prefer-dark", "~dark")]:
            with keychain(name, ADW_DEBUG_COLOR_SCHEME=scheme) as app:
                app.says("minutes left")
                picture(desktop, "llavero-desktop" + suffix)
                shown = app.labels()
                check("accounts are shown by their names", all(person in shown for pair in PEOPLE for person in pair), shown)
                check("scopes are shown", all(any(scopes in text.replace("  ", " ") for text in shown) for scopes in SCOPES), shown)
                check("tenants and clients are shown", any(TENANT in text and CLIENTS[1] in text for text in shown), shown)
                check("the time left is shown", any("left" in text for text in shown) and "Expired 2 hours ago" in shown, shown)
                check("it is shown which tokens can be renewed", {"Can be renewed", "Cannot be renewed"} <= set(shown), shown)
                check("no token is shown", not any("opaque-" in text for text in shown), shown)
                named = [widget for widget in app.widgets() if "button" in widget.get_role_name()]
                check("every button has a name", all(widget.get_name() or widget.get_child_count() for widget in named),
                      [app.tree()])
                app.click("Close")
                check("closing the window ends the program", app.ends() == 0, app.errors())
                check("GTK reports no errors", app.errors() == "", app.errors())


def other_processes():
    with group("org.example.follow") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        llavero("import", "-", stdin=cache([("Zoë Zimmer", "zoe@contoso.com")]), group=name)
        app.says("zoe@contoso.com")
        check("an account that another process adds appears", True)
        llavero("clear", "--account", "boris@contoso.com", "--yes", group=name)
        silent(app, "boris@contoso.com")
        check("one that another process removes disappears", "alice@contoso.com" in app.labels(), app.labels())


def reveal_and_copy():
    with group("org.example.secrets", cache(PEOPLE[:1])) as name, keychain(name) as app:
        app.click("Reveal")
        token = app.says("opaque-alice-")
        check("a token is shown on request", token == secret("alice", 0), token)
        app.click("Hide")
        silent(app, "opaque-")
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
        silent(app, "opaque-")
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
        text = app.says("is signed out there")
        check("before signing out the consequences are shown",
              "2 applications" in text and "are removed from the group" in text and "stays in the list" in text, text)
        app.click("Cancel")
        silent(app, "is signed out there")
        check("nothing is removed without confirmation", "alice" in llavero("list", group=name))
        app.click("Sign Out…")
        app.says("is signed out there")
        app.click("Sign Out")
        app.says("No Tokens")
        records = [record for record in json.loads(llavero("list", "--json", group=name))["records"]
                   if record.get("home_account_id") == f"alice.{TENANT}"]
        check("signing out removes the tokens and keeps the account",
              [record["type"] for record in records] == ["Account"], records)
        app.click("Remove…")
        app.says("Each of them has to sign in again")
        app.click("Remove")
        silent(app, "alice@contoso.com")
        check("removing removes the account", "alice" not in llavero("list", group=name))
        check("the others stay", "boris" in llavero("list", group=name))


def keyboard():
    with group("org.example.keys") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        key("ctrl+f")
        subprocess.run(["xdotool", "type", "carla"], check=True)
        silent(app, "boris@contoso.com")
        check("a search shows only its matches", "carla.nunez@fabrikam.com" in app.labels(), app.labels())
        key("Escape")
        app.says("boris@contoso.com")
        key("ctrl+o")
        app.says("is signed out there")
        key("Escape")
        silent(app, "is signed out there")
        check("keys open and cancel the dialog", True)
        key("ctrl+q")
        check("a key ends the program", app.ends() == 0, app.errors())


def plaintext():
    name = "org.example.adopt"
    home = os.environ["HOME"]
    os.makedirs(f"{home}/.azure", mode=0o700)
    path = f"{home}/.azure/msal_token_cache.json"
    with open(path, "w", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
        file.write(cache(PEOPLE[:1]))
    with keychain(name) as app:
        app.click("Plaintext Tokens (1)")
        app.says("Azure CLI")
        app.click("Move to Keyring…")
        text = app.says("is overwritten and removed")
        check("before a file is removed the consequences are shown", "az login" in text, text)
        app.click("Move")
        app.says("alice@contoso.com")
        wait("the file is removed", lambda: not os.path.exists(path))
        check("the tokens are in the group and not in the file", "alice" in llavero("list", group=name))
    llavero("clear", "--all", "--yes", group=name)


def renewal():
    before_lab = dict(os.environ)
    with Lab() as lab:
        log_in(lab)
        before = json.loads(llavero("export"))["AccessToken"]
        with keychain() as app:
            app.says(ALICE)
            app.click("Renew")
            app.says("Renewed.")
            after = json.loads(llavero("export"))["AccessToken"]
            check("a token is renewed", {r["secret"] for r in before.values()} != {r["secret"] for r in after.values()})
            lab.tell(condition={"user": "alice", "condition": "badToken"})
            app.click("Renew")
            app.says("A New Sign-In Is Needed")
            check("a refused renewal is reported", True)
            app.click("Close the message")
            silent(app, "A New Sign-In Is Needed")
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
                app.says("cancelled")
                check("the wait can be cancelled", True)
                app.click("Close")
                check("it does not keep the program from ending", app.ends() == 0, app.errors())


def damage():
    with group("org.example.damaged") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION, None)
        items = service.search_sync(None, {"group": name}, Secret.SearchFlags.ALL | Secret.SearchFlags.LOAD_SECRETS, None)
        broken = next(item for item in items if b"boris" in item.get_secret().get())
        broken.set_secret_sync(Secret.Value.new("{ no cache", -1, "text/plain"), None)
        key("F5")
        text = app.says("Something Is Damaged")
        check("damage is reported", "alice@contoso.com" in app.labels() and "boris" not in text, text)
        app.click("Remove Unreadable Entries…")
        app.says("This cannot be undone")
        app.click("Remove")
        silent(app, "Something Is Damaged")
        check("it is removed, and the rest stays", "alice" in llavero("list", group=name))


def locked():
    with group("org.example.locked") as name, keychain(name) as app:
        app.says("alice@contoso.com")
        lock_keyring()
        key("F5")
        app.says("The Keyring Is Locked")
        check("a locked keyring is reported", not any("alice" in text for text in app.labels()), app.labels())
        app.click("Unlock")
        # No program can show the keyring's prompt.
        app.says("prompt")
        check("a prompt that cannot be shown is reported, too", True)
        unlock_keyring()
        app.says("alice@contoso.com")
        check("it notices that the keyring was unlocked", True)


@contextmanager
def empty_bus():
    """A session bus on which there is no keyring, and none can be started."""
    path = f"{os.environ['TMPDIR']}/empty-bus"
    with open(path + ".conf", "w") as file:
        file.write(
            f"<busconfig><type>session</type><listen>unix:path={path}</listen><policy context='default'>"
            "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/><allow own='*'/>"
            "</policy></busconfig>")
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={path}.conf", "--nofork"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait("a bus", lambda: os.path.exists(path))
    yield f"unix:path={path}"
    bus.terminate()
    bus.wait()


def unavailable(desktop):
    accessibility = desktop.accessibility_bus()
    with keychain(AT_SPI_BUS_ADDRESS=accessibility, DBUS_SESSION_BUS_ADDRESS="unix:path=/proc/nonexistent") as app:
        app.says("No Session Bus")
        app.click("Check Setup")
        text = app.says("DBUS_SESSION_BUS_ADDRESS is not reachable")
        check("without a bus the window and its check report that", "dbus-run-session" in text, text)
    with empty_bus() as address, keychain(AT_SPI_BUS_ADDRESS=accessibility, DBUS_SESSION_BUS_ADDRESS=address) as app:
        app.says("No Keyring")
        text = app.says("gnome-keyring")
        check("without a keyring it advises what to install", "Install" in text, text)
    with keychain("mail") as app:
        text = app.says("Invalid LLAVERO_GROUP")
        check("so is an invalid setting", "com.example.shared" in text, text)
    with Program("llavero-desktop", without=["DISPLAY"]) as app:
        check("without a display it ends with a message", app.ends() == 1 and "no display" in app.errors(), app.errors())


def metadata():
    for command in [["desktop-file-validate", f"{DATA}/org.llavero.Llavero.desktop"],
                    ["appstreamcli", "validate", "--no-net", f"{DATA}/org.llavero.Llavero.metainfo.xml"]]:
        run = subprocess.run(command, capture_output=True, text=True)
        check(f"{command[0]} reports no problems", run.returncode == 0 and "hint" not in run.stdout, run.stdout + run.stderr)


CHECKS = [other_processes, reveal_and_copy, questions, keyboard, plaintext, renewal, hanging_server, damage,
          locked]

metadata()
with Desktop() as desktop:
    listing(desktop)
    for checks in CHECKS:
        print(f"-- {checks.__name__}")
        checks()
    unavailable(desktop)
finish()
