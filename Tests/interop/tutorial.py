"""GraphApp, typed at in tmux, signs in, calls Graph and signs out at the lab; SignInApp of its group need not ask."""
import json
import os
import re
import subprocess

from peers import ALICE, BIN, Lab, check, configure, finish, secrets
from terminal import Terminal, end_terminals

GROUP = "com.example.office"


class App(Terminal):
    """A running GraphApp."""

    def __init__(self, name, **environment):
        super().__init__(name, f"{BIN}/GraphApp; echo Ended with exit code $?", **environment)
        self.wait(r"\[q\] quit >")

    def type(self, key, until):
        """The screen after a key and Enter, cleared before."""
        self.clear()
        self.keys(key, "Enter")
        return self.wait(re.escape(until))

    def quit(self):
        self.keys("q", "Enter")
        return re.search("Ended with exit code .+", self.wait("Ended with exit code ."))[0]


def story(lab):
    app = App("first")
    shown = app.type("c", until='"userPrincipalName"')
    check("the first call asks the user to sign in", "Sign in in the browser." in shown, shown)
    check("the lab issues tokens once", len(lab.log("token")) == 1, lab.log())
    check("Graph's response is on the screen", "Graph answered 200" in shown and f'"{ALICE}"' in shown, shown)
    check("so is text in other alphabets", "Alice Álvarez" in shown, shown)
    log = [line for line in shown.splitlines() if line.startswith("  MSAL:")]
    check("the log of the library is on the screen", len(log) > 3, shown)
    check("it has no user name", "alice" not in "\n".join(log).lower(), log)
    issued = secrets(GROUP)
    check("the tokens are in the keyring", len(issued) >= 3, len(issued))
    seen = re.sub(r"\s", "", shown)
    check("none of them is on the screen", not any(secret in seen for secret in issued))

    lab.tell(clearLog={})
    shown = app.type("c", until='"userPrincipalName"')
    check("the second call needs no sign-in", "Sign in in the browser." not in shown, shown)
    check("it sends a request to Graph alone", [entry["endpoint"] for entry in lab.log()] == ["graph"], lab.log())

    lab.tell(clearLog={})
    second = subprocess.run(
        [f"{BIN}/SignInApp"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    check("a second app of the group finds the sign-in",
          second.returncode == 0 and second.stdout.startswith(f"Signed in as {ALICE}, for "), second)
    check("no request was sent, not even to the lab", lab.log() == [], lab.log())

    hostile = json.dumps({"error": "\x1b]0;owned\x07\u202egood\u009b2J"}, ensure_ascii=False)
    lab.tell(fault={"target": "graph", "status": 403, "body": hostile})
    shown = app.type("c", until='"error"')
    check("a server's text is shown without control characters",
          "Graph answered 403" in shown and "good" in shown and not re.search("[\x1b\x07\u202e\u009b]", shown), shown)
    lab.tell(fault={"target": "graph", "connection": "drop", "count": 2})
    shown = app.type("c", until="The request failed")
    check("the app survives a broken connection", "The connection broke" in shown, shown)

    shown = app.type("s", until=f"Signed out {ALICE}.")
    check("signing out leaves no token", not secrets(GROUP))

    # Tokens that end so soon are never taken from the cache.
    lab.tell(configure={"tokenLifetime": 60})
    lab.tell(clearLog={})
    shown = app.type("c", until='"userPrincipalName"')
    check("after that the person is asked again",
          "No account is signed in." in shown and len(lab.log("authorize")) > 0, shown)

    lab.tell(condition={"user": "alice", "condition": "badToken"})
    lab.tell(clearLog={})
    shown = app.type("c", until='"userPrincipalName"')
    grants = [entry["form"]["grant_type"] for entry in lab.log("token")]
    check("when the server requires the user, a sign-in follows", "Interaction required." in shown, shown)
    check("with the refresh token first, then in the browser",
          grants == ["refresh_token", "authorization_code"] and len(lab.log("authorize")) > 0, grants)
    app.type("s", until=f"Signed out {ALICE}.")

    shown = app.type("d", until="enter the code")
    code = re.search(r"enter the code (\w+)", shown).group(1)
    lab.tell(approveDevice={"userCode": code, "user": "alice"})
    app.wait('"userPrincipalName"')
    check("a code works, too", True)

    lab.tell(condition={"user": "alice", "condition": "badToken"})
    second = subprocess.Popen(
        ["stdbuf", "--output=L", f"{BIN}/SignInApp"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    shown = second.stdout.readline()
    code = re.search(r"enter the code (\w+)", shown)
    if code:
        lab.tell(approveDevice={"userCode": code.group(1), "user": "alice"})
    shown += second.communicate(timeout=60)[0]
    check("the second app asks when the server requires the user",
          code is not None and second.returncode == 0 and f"Signed in as {ALICE}, for " in shown, shown)
    app.type("s", until=f"Signed out {ALICE}.")
    status = app.quit()
    check("it ends on request", status == "Ended with exit code 0", status)


def broken_off():
    # A browser that shows nothing.
    app = App("second", BROWSER="true")
    app.type("c", until="Sign in in the browser.")
    shown = app.type("x", until="cancel")
    check("a sign-in can be cancelled", "Graph answered" not in shown, shown)
    status = app.quit()
    check("the app continues until it is ended", status == "Ended with exit code 0", status)


with Lab() as lab:
    configure(lab, GROUP)
    os.environ["TERM"] = "xterm-256color"
    lab.tell(configure={"deviceInterval": 1})
    try:
        story(lab)
        broken_off()
    finally:
        end_terminals()
finish()
