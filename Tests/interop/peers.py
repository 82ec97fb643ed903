"""What the programs beside this one share: the lab, the tools of the build, and counting what holds."""
import hashlib
import json
import os
import subprocess
import sys

import requests

PLAIN = "c0000000-0000-4000-8000-000000000001"
ALICE = "alice@contoso.test"
CONTOSO = "22222222-2222-2222-2222-222222222222"
GROUP = "org.example.interop"
BIN = os.environ["BIN"]
DIRECTORY = os.path.dirname(os.path.abspath(__file__))

passed = failed = 0


def check(what, holds, detail=None):
    global passed, failed
    print(("ok      " if holds else "FAILED  ") + what + ("" if holds or detail is None else f": {detail}"))
    if holds:
        passed += 1
    else:
        failed += 1


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def token_hash(token):
    return hashlib.sha256(token.encode()).hexdigest()


def llavero(*arguments, stdin="", group=GROUP):
    if group is not None:
        arguments += ("--group", group)
    result = subprocess.run(
        [f"{BIN}/llavero", *arguments], input=stdin, capture_output=True, text=True, timeout=60)
    if result.returncode != 0:
        sys.exit(f"llavero {' '.join(arguments)}: exit code {result.returncode}: {result.stderr}")
    return result.stdout


class Lab:
    def __init__(self, port=0):
        self.process = subprocess.Popen(
            [f"{BIN}/entra-lab", "--json", "--port", str(port)], stdout=subprocess.PIPE, text=True)
        about = json.loads(self.process.stdout.readline())
        self.ca, self.control, self.authority = about["caBundle"], about["control"], about["authority"]
        self.base = self.control.removesuffix("/__ctl")
        os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = self.ca
        os.environ["LLAVERO_CA_BUNDLE"] = self.ca

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)

    def tell(self, **command):
        answer = requests.post(self.control, json=command)
        assert answer.status_code == 200, answer.text

    def log(self, endpoint=None):
        entries = requests.get(self.base + "/__log").json()
        return [entry for entry in entries if endpoint in (None, entry["endpoint"])]


def log_in(lab, user="alice"):
    """Signs in with the tool, for it and for what it is asked by later."""
    os.environ.update(
        LLAVERO_AUTHORITY=lab.authority, LLAVERO_GRAPH_URL=lab.base + "/v1.0", LLAVERO_CLIENT_ID=PLAIN,
        LLAVERO_GROUP=GROUP, BROWSER_USER=user,
        BROWSER=f"{sys.executable} {DIRECTORY}/scripted_browser.py")
    return llavero("login")


class Worker:
    """A running SignInWorker."""

    def __init__(self, action, authority, *arguments, client=PLAIN, group=GROUP, stderr=None, **environment):
        self.process = subprocess.Popen(
            [f"{BIN}/SignInWorker", action, "--authority", authority, "--client", client, "--group", group,
             *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
            env={**os.environ, **environment})

    def line(self):
        """The next line that is the worker's own."""
        while line := self.process.stdout.readline():
            if line.startswith(("{", "ready")):
                return line.strip()
        return ""

    def outcomes(self, timeout=90):
        """What it writes until it ends; after this its status is in process.returncode."""
        output, self.errors = self.process.communicate(timeout=timeout)
        self.output = output
        # GLib's debug messages go to standard output too.
        return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def worker(action, authority, *arguments, **options):
    """The one outcome of an action."""
    return Worker(action, authority, *arguments, **options).outcomes()[-1]


def device_sign_in(lab, authority, *arguments, user="alice", **options):
    """Signs in by a device code that is approved on the control channel."""
    running = Worker("device", authority, *arguments, **options)
    running.code = running.line()
    shown = json.loads(running.code or "{}")
    if "userCode" in shown:
        lab.tell(approveDevice={"userCode": shown["userCode"], "user": user})
    return running
