"""Signs in, renews and fails with the most verbose logging, and looks for what must not be seen."""
# Shows .conformance(72).
import glob
import json
import os
import re
import threading

from peers import ALICE, BIN, BROWSER, PLAIN, Lab, Worker, check, device_sign_in, finish, llavero, log_in, secrets

PROGRAMS = [f"{BIN}/{name}" for name in ("Worker", "llavero")]
VERBOSE = {"G_MESSAGES_DEBUG": "all", "G_DBUS_DEBUG": "message,return,error"}
# GIO's own log of D-Bus shows message headers and bodies alike; the bodies are encrypted where secrets travel.


class Watch(threading.Thread):
    """Reads the arguments and environments of all processes of the build, again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen, self.browsers, self.rounds, self.done = set(), set(), 0, threading.Event()

    def run(self):
        while not self.done.wait(0.001):
            self.rounds += 1
            for directory in glob.glob("/proc/[0-9]*"):
                try:
                    with open(directory + "/cmdline", "rb") as file:
                        arguments = file.read().decode(errors="replace")
                    if "interop/browser.py" in arguments:
                        # All users can read what the browser is started with.
                        self.browsers.add(arguments)
                        continue
                    if os.readlink(directory + "/exe") not in PROGRAMS:
                        continue
                    with open(directory + "/environ", "rb") as file:
                        self.seen.add(arguments + "\0" + file.read().decode(errors="replace"))
                except OSError:
                    continue

    def finish(self):
        self.done.set()
        self.join()


heard = []


def listen(running):
    """Takes all that a worker says, and gives its outcomes."""
    outcomes = running.outcomes()
    heard.extend([running.output, running.errors, getattr(running, "code", "")])
    return outcomes[-1] if outcomes else {}


def start(action, lab, *arguments, **environment):
    return Worker(action, lab.authority, "--verbose", *arguments, stderr=-1, **VERBOSE, **environment)


def device(lab):
    return device_sign_in(lab, lab.authority, "--verbose", stderr=-1, **VERBOSE)


def sent(lab):
    """Every secret that the lab was sent or had sent before it was sent back."""
    names = ("code", "code_verifier", "refresh_token", "device_code", "state", "nonce", "access_token")
    values = {}
    for entry in lab.log():
        for name, value in {**entry["query"], **entry["form"]}.items():
            if name in names:
                values.setdefault(name, set()).add(value)
        if "authorization" in entry["headers"]:
            values.setdefault("authorization", set()).add(entry["headers"]["authorization"].split()[-1])
    return values


with Lab() as lab:
    os.environ["BROWSER_USER"] = "alice"
    browser = {"BROWSER": BROWSER}
    watch = Watch()
    watch.start()
    stored = set()

    lab.tell(configure={"deviceInterval": 1})
    check("interactive", listen(start("interactive", lab, **browser)).get("username") == ALICE)
    stored |= set(secrets())
    check("silent, by the refresh token", listen(start("force", lab)).get("source") == "network")
    stored |= set(secrets())
    check("silent, from the cache", listen(start("silent", lab)).get("source") == "cache")
    heard.append(log_in(lab) + llavero("status") + llavero("get", "/me"))
    check("the tool signs in, renews and calls Graph", llavero("token", "--force-refresh").strip() in secrets())
    stored |= set(secrets())
    check("device code", listen(device(lab)).get("username") == ALICE)
    stored |= set(secrets())

    for what, action, settings in [
        ("a nonce that is wrong", "interactive", {"configure": {"idTokenClaims": {"nonce": "other"}}}),
        ("an invalid ID token", "interactive", {"configure": {"tokenResponse": {"id_token": "a.b.c"}}}),
        ("a server that fails", "force", {"fault": {"target": "token", "status": 500, "count": 4}}),
        ("a server that hangs up", "force",
         {"fault": {"target": "token", "connection": "drop", "count": 4, "afterHandling": True}}),
        ("an answer cut short", "force", {"fault": {"target": "token", "connection": "truncate", "count": 4}}),
        ("an answer that is no HTTP", "force", {"fault": {"target": "token", "connection": "garbage", "count": 4}}),
        ("an answer that is no JSON", "interactive", {"fault": {"target": "token", "body": "<html>", "count": 4}}),
        ("a declined scope", "force", {"configure": {"declinedScopes": ["User.Read"]}}),
        ("an account that must act", "force", {"condition": {"user": "alice", "condition": "basicAction"}}),
        ("a refresh token that is bad", "force", {"condition": {"user": "alice", "condition": "badToken"}}),
    ]:
        lab.tell(**settings)
        outcome = listen(start(action, lab, **browser))
        check(f"refused: {what}", "error" in outcome, outcome)
        stored |= set(secrets())
        lab.tell(clearFaults={})
        lab.tell(configure={"idTokenClaims": {}, "tokenResponse": {}, "declinedScopes": []})
        lab.tell(condition={"user": "alice", "condition": None})
    running = start("device", lab)
    running.code = running.line()
    lab.tell(declineDevice={"userCode": json.loads(running.code)["userCode"]})
    check("refused: a device code that was declined", listen(running).get("error") == "user_canceled")
    watch.finish()
    check("device code, again", listen(device(lab)).get("username") == ALICE)
    stored |= set(secrets())
    shown = start("silent", lab, "--reveal").outcomes()[-1].get("token")

    sought = sent(lab)
    for name in ("code", "code_verifier", "refresh_token", "device_code", "state", "nonce"):
        check(f"the lab saw {name}s to look for", bool(sought.get(name)))
    issued = {token_part for token in stored for token_part in [token, token.split(".")[-1]] if len(token_part) > 15}
    check("the keyring held tokens to look for", len(stored) >= 6, len(stored))
    sought["token"] = issued

    text = "\n".join(part or "" for part in heard)
    check("the search finds a token that is shown on purpose", shown in sought["token"])
    print(f"{len(text)} characters of output, {watch.rounds} looks at {len(watch.seen)} processes, "
          f"{sum(map(len, sought.values()))} secrets")
    check("the log says much", len(text) > 3000 and "correlation" in text)
    check("the watch sees arguments", any(PLAIN in seen for seen in watch.seen))
    check("and those of the browser", any("http://localhost:" in seen for seen in watch.browsers))
    for name, values in sorted(sought.items()):
        check(f"no {name} in output, log or error texts", not any(value in text for value in values),
              [text[max(0, text.find(value) - 80):text.find(value)] for value in values if value in text][:3])
        check(f"no {name} in arguments or environments",
              not any(value in seen for value in values for seen in watch.seen | watch.browsers))
    check("no private key anywhere", "PRIVATE KEY" not in text)
    check("no token in the shape of a JWT", not re.search(r"eyJ[\w-]{10,}\.[\w-]+\.", text))
finish()
