"""GraphApp, typed at in tmux, signs in, calls Graph and signs out at the lab; SignInApp of its group need not ask."""
import json
import os
import re
import subprocess
import sys
import time

from peers import ALICE, BIN, DIRECTORY, PLAIN, Lab, check, finish, llavero

GROUP = "com.example.office"
PROMPT = "[q] quit >"
SOCKET = os.environ["TMPDIR"] + "/tmux"


def tmux(*arguments):
    return subprocess.run(
        ["tmux", "-S", SOCKET, "-f", "/dev/null", *arguments], capture_output=True, text=True, check=True).stdout


class App:
    """A running GraphApp, with what its terminal shows."""

    def __init__(self, name, **environment):
        self.name = name
        variables = [word for item in environment.items() for word in ("-e", "=".join(item))]
        # The terminal stays when the program has ended, so that it can still be read.
        command = f"{BIN}/GraphApp; echo Ended with exit code $?; exec cat"
        tmux("new-session", "-d", "-s", name, "-x", "120", "-y", "200", *variables, command)
        self.wait(PROMPT)

    def text(self):
        return tmux("capture-pane", "-p", "-J", "-t", self.name)

    def wait(self, what):
        deadline = time.monotonic() + 60
        while what not in self.text():
            if time.monotonic() > deadline:
                check(f"the terminal shows \"{what}\"", False, self.text())
                finish()
            time.sleep(0.05)
        return self.text()

    def type(self, key, until):
        """Types a key and Enter on a cleared screen.

        Returns what there is to see when `until` is."""
        tmux("send-keys", "-t", self.name, "-R", ";", "clear-history", "-t", self.name)
        tmux("send-keys", "-t", self.name, key, "Enter")
        return self.wait(until)

    def quit(self):
        tmux("send-keys", "-t", self.name, "q", "Enter")
        return re.search("Ended with exit code .+", self.wait("Ended with exit code")).group(0)


def secrets():
    cache = json.loads(llavero("export", group=GROUP))
    return [record["secret"] for section in cache.values() for record in section.values() if record.get("secret")]


def story(lab):
    app = App("first")
    shown = app.type("c", until='"userPrincipalName"')
    check("the first call asks the person to sign in", "Sign in in the browser." in shown, shown)
    check("the lab gives tokens, once", len(lab.log("token")) == 1, lab.log())
    check("Graph's answer is on the screen", "Graph answered 200" in shown and f'"{ALICE}"' in shown, shown)
    check("so is its text of other alphabets", "Alice Álvarez" in shown, shown)
    log = [line for line in shown.splitlines() if line.startswith("  MSAL:")]
    check("the log of the library is on the screen", len(log) > 3, shown)
    check("it names nobody", "alice" not in "\n".join(log).lower(), log)
    issued = secrets()
    check("the tokens are in the keyring", len(issued) >= 3, len(issued))
    seen = re.sub(r"\s", "", shown)
    check("none of them is on the screen", not any(secret in seen for secret in issued))

    lab.tell(clearLog={})
    shown = app.type("c", until='"userPrincipalName"')
    check("the second call signs nobody in", "Sign in in the browser." not in shown, shown)
    check("it asks Graph alone", [entry["endpoint"] for entry in lab.log()] == ["graph"], lab.log())

    lab.tell(clearLog={})
    second = subprocess.run(
        [f"{BIN}/SignInApp"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    check("a second app of the group finds the sign-in",
          second.returncode == 0 and second.stdout.startswith(f"Signed in as {ALICE}, for "), second)
    check("nobody was asked, not even the lab", lab.log() == [], lab.log())

    hostile = json.dumps({"error": "\x1b]0;owned\x07\u202egood\u009b2J"}, ensure_ascii=False)
    lab.tell(fault={"target": "graph", "status": 403, "body": hostile})
    shown = app.type("c", until='"error"')
    check("what a server says is shown without what a terminal obeys",
          "Graph answered 403" in shown and "good" in shown and not re.search("[\x1b\x07\u202e\u009b]", shown), shown)
    lab.tell(fault={"target": "graph", "connection": "drop"})
    shown = app.type("c", until="The request failed")
    check("a connection that breaks is an error that the app survives", "connectionLost" in shown, shown)

    shown = app.type("s", until=f"Signed out {ALICE}.")
    check("signing out leaves no token", not secrets())

    # Tokens that end so soon are never taken from the cache.
    lab.tell(configure={"tokenLifetime": 60})
    lab.tell(clearLog={})
    shown = app.type("c", until='"userPrincipalName"')
    check("after that the person is asked again",
          "Nobody is signed in." in shown and len(lab.log("authorize")) > 0, shown)

    lab.tell(condition={"user": "alice", "condition": "badToken"})
    lab.tell(clearLog={})
    shown = app.type("c", until='"userPrincipalName"')
    grants = [entry["form"]["grant_type"] for entry in lab.log("token")]
    check("when the server wants the person, they are asked", "Interaction required." in shown, shown)
    check("by the refresh token first, then in the browser",
          grants == ["refresh_token", "authorization_code"] and len(lab.log("authorize")) > 0, grants)
    app.type("s", until=f"Signed out {ALICE}.")

    shown = app.type("d", until="enter the code")
    code = re.search(r"enter the code (\w+)", shown).group(1)
    lab.tell(approveDevice={"userCode": code, "user": "alice"})
    app.wait('"userPrincipalName"')
    check("a code works, too", True)
    app.type("s", until=f"Signed out {ALICE}.")
    status = app.quit()
    check("it ends when it is told to", status == "Ended with exit code 0", status)


def broken_off():
    # A browser that shows nothing.
    app = App("second", BROWSER="true")
    app.type("c", until="Sign in in the browser.")
    shown = app.type("x", until="cancel")
    check("a sign-in can be broken off", "Graph answered" not in shown, shown)
    status = app.quit()
    check("the app lives on, until it is ended", status == "Ended with exit code 0", status)


with Lab() as lab:
    os.environ.update(
        TERM="xterm-256color", LLAVERO_AUTHORITY=lab.authority, LLAVERO_CLIENT_ID=PLAIN,
        LLAVERO_GRAPH_URL=lab.base + "/v1.0", BROWSER=f"{sys.executable} {DIRECTORY}/scripted_browser.py",
        BROWSER_USER="alice")
    lab.tell(configure={"deviceInterval": 1})
    try:
        story(lab)
        broken_off()
    finally:
        tmux("kill-server")
finish()
