"""What the programs beside this one share: the lab, the tools of the build, and counting what holds."""
import hashlib
import json
import os
import random
import socket
import subprocess
import sys
import time

import requests

PLAIN = "c0000000-0000-4000-8000-000000000001"
ALICE = "alice@contoso.test"
CONTOSO = "22222222-2222-2222-2222-222222222222"
GROUP = "org.example.interop"
BIN = os.environ["BIN"]
DIRECTORY = os.path.dirname(os.path.abspath(__file__))
# What signs in without a window.
BROWSER = f"{sys.executable} -S {DIRECTORY}/browser.py"

passed = failed = 0


def check(what, holds, detail=None):
    global passed, failed
    print(("ok      " if holds else "FAILED  ") + what + ("" if holds or detail is None else f": {detail}"))
    if holds:
        passed += 1
    else:
        failed += 1


def skip(what, why):
    """Says what cannot be checked here. CI expects everything."""
    print(f"skipped {what}: {why}")
    if "CI" in os.environ:
        check(what, False, why)


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def wait(what, condition):
    """The value of a condition as soon as it is true. The limit is for what hangs, not for what is slow."""
    deadline = time.monotonic() + 180
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Waited in vain: {what}")
        time.sleep(0.02)
    return value


def keyring_process():
    """The process of the keyring, which the bus starts again when it has ended."""
    return subprocess.run(
        ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
         "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.freedesktop.secrets"], capture_output=True, text=True).stdout


def free_port():
    """A port of 127.0.0.1 that is free and that the kernel gives to no program that leaves the choice to it."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    while True:
        port = random.randrange(first // 2, first)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def token_hash(token):
    return hashlib.sha256(token.encode()).hexdigest()


def llavero(*arguments, stdin="", group=GROUP, **environment):
    if group is not None:
        arguments += ("--group", group)
    result = subprocess.run(
        [f"{BIN}/llavero", *arguments], input=stdin, capture_output=True, text=True, timeout=300,
        env=os.environ | environment)
    if result.returncode != 0:
        sys.exit(f"llavero {' '.join(arguments)}: exit code {result.returncode}: {result.stderr}")
    return result.stdout


def secrets(group=GROUP):
    """Every token in the keyring."""
    cache = json.loads(llavero("export", group=group))
    return [record["secret"] for section in cache.values() for record in section.values() if record.get("secret")]


class Lab:
    def __init__(self, port=0):
        self.process = subprocess.Popen(
            [f"{BIN}/entra-lab", "--json", "--port", str(port)], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"entra-lab did not start at port {port}.")
        about = json.loads(line)
        self.ca, self.control, self.authority = about["caBundle"], about["control"], about["authority"]
        self.base = self.control.removesuffix("/__ctl")
        os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = self.ca
        os.environ["LLAVERO_CA_BUNDLE"] = os.environ["LAB_CA_BUNDLE"] = self.ca

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


def configure(lab, group=GROUP):
    """Lets the programs that are started from now on sign in at the lab, as Alice unless BROWSER_USER says otherwise."""
    os.environ.update(
        LLAVERO_AUTHORITY=lab.authority, LLAVERO_GRAPH_URL=lab.base + "/v1.0", LLAVERO_CLIENT_ID=PLAIN,
        LLAVERO_GROUP=group, BROWSER_USER="alice", BROWSER=BROWSER)


def log_in(lab):
    """Signs in with the tool, for it and for what it is asked by later."""
    configure(lab)
    return llavero("login")


class Worker:
    """A running Worker that signs in."""

    def __init__(self, action, authority, *arguments, client=PLAIN, group=GROUP, stderr=None, **environment):
        self.process = subprocess.Popen(
            [f"{BIN}/Worker", "sign-in", action, "--authority", authority, "--client", client, "--group", group,
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


def msal_app(lab, cache, client=PLAIN, authority=None, **options):
    """An application of MSAL for Python."""
    import msal
    # With discovery on, a silent call that finds nothing asks login.microsoftonline.com for aliases.
    app = msal.PublicClientApplication(
        client, authority=authority or lab.authority, token_cache=cache, instance_discovery=False, **options)
    # It names a cloud by its host alone, which is the same as long as the port is that of HTTPS.
    app.authority.instance = lab.base.removeprefix("https://")
    return app


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
