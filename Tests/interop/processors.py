"""The tool for arm64, which qemu-user runs, and the one for this processor work on the same stores, and one lends to the other.

The arguments are the command that runs the one for arm64 (Tests/distributions arm64).
"""
import concurrent.futures
import json
import os
import platform
import subprocess
import sys
import tempfile

from peers import BIN, PLAIN, Lab, check, configure, finish, wait

HOST = "login.microsoftonline.com"
ARM = "arm64"
COMMANDS = {platform.machine(): [f"{BIN}/llavero"], ARM: sys.argv[1:]}
EACH = 16


def account(number):
    """The name of an account, and a cache with it alone."""
    home, name = f"{number:08x}-6666-4777-8888-999999999999.tenant", f"user{number}@contoso.example"
    common = {"home_account_id": home, "environment": HOST}
    return name, {
        "Account": {f"{home}-{HOST}-tenant": {
            **common, "realm": "tenant", "local_account_id": f"{number}", "username": name, "authority_type": "MSSTS"}},
        "RefreshToken": {f"{home}-{HOST}-refreshtoken-{PLAIN}--": {
            **common, "credential_type": "RefreshToken", "secret": f"made-up {number} ñ", "client_id": PLAIN}},
    }


def new_key(path):
    """A source of a key, in a file."""
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(os.urandom(32))
    return f"file:{path}"


class Tool:
    """The tool of a processor, on one store and group."""

    def __init__(self, processor, group, settings):
        self.processor, self.command = processor, COMMANDS[processor]
        self.environment = {**os.environ, "LLAVERO_GROUP": group, **settings}

    def run(self, *arguments, stdin="", environment=None):
        return subprocess.run(
            [*self.command, *arguments], env=environment or self.environment, input=stdin, capture_output=True, text=True,
            timeout=600)

    def output(self, *arguments, stdin=""):
        """What it prints; nothing when it fails, which is printed here."""
        result = self.run(*arguments, stdin=stdin)
        if result.returncode != 0:
            print(f"{self.processor} {' '.join(arguments)}: exit code {result.returncode}: {result.stderr}")
            return ""
        return result.stdout

    def cache(self):
        return json.loads(self.output("export") or "null")

    def start(self, *arguments):
        return subprocess.Popen([*self.command, *arguments], env=self.environment, stdout=subprocess.PIPE, text=True)


def records(writer, reader, say):
    name, cache = account(1)
    _, other = account(2)
    both = {section: {**cache[section], **other[section]} for section in cache}
    writer.output("import", "-", stdin=json.dumps(both))
    exported = reader.cache()
    check(say("import", "export"), exported == both, exported)
    here, there = writer.output("list", "--json"), reader.output("list", "--json")
    check(say("list", "list"), here == there and name in here, (here, there))
    writer.output("clear", "--account", name, "--yes")
    exported = reader.cache()
    check(say("clear", "export"), exported == other, exported)


def rekey(writer, reader, say, key):
    old, cache = dict(reader.environment), reader.cache()
    writer.output("rekey", "--new-key", key)
    for tool in (writer, reader):
        tool.environment["LLAVERO_KEY"] = key
    exported = reader.cache()
    check(say("rekey", "export"), exported == cache and cache, exported)
    result = reader.run("export", environment=old)
    check(say("rekey", "the old key opens nothing"), result.returncode != 0 and not result.stdout, result.stderr)


def sign_in(lab, writer, reader, say):
    writer.output("clear", "--all", "--yes")
    process = writer.start("login", "--device-code")
    wait("a device code", lambda: approve(lab))
    process.communicate(timeout=600)
    first, second = writer.output("token"), reader.output("token")
    check(say("sign-in with a device code", "token"), process.returncode == 0 and first and first == second)
    renewed = reader.output("token", "--force-refresh")
    check(say("token", "renewal"), renewed not in ("", second) and renewed == writer.output("token"))
    return renewed


def approve(lab):
    try:
        lab.tell(approveDevice={"user": "alice"})
        return True
    except AssertionError:
        return False


def loan(lender, borrower, say, token, path):
    with lender.start("lend", "--scope", "User.Read", "--socket", path) as process:
        wait("the loan's socket", lambda: os.path.exists(path) or process.poll() is not None)
        alone = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LLAVERO_FROM": f"unix:{path}"}
        result = borrower.run("token", "--scope", "User.Read", environment=alone)
        check(say("lend", "borrow"), token and result.stdout == token, result.stderr)
        process.terminate()


def both_at_once(tools, say):
    accounts = [account(number) for number in range(10, 10 + EACH * len(tools))]

    def write(index):
        tools[index % len(tools)].output("import", "-", stdin=json.dumps(accounts[index][1]))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(len(accounts))))
    for tool in tools:
        missing = [name for name, _ in accounts if name not in tool.output("list", "--json")]
        check(say(f"{len(accounts)} imports of both at once", f"{tool.processor} lists all"), not missing, missing)


with tempfile.TemporaryDirectory() as directory, Lab() as lab:
    lab.tell(configure={"deviceInterval": 1})
    configure(lab)
    for store in ("encrypted files", "keyring"):
        settings = {"LLAVERO_STORE": "keyring"}
        if store != "keyring":
            settings = {"LLAVERO_STORE": f"file:{directory}/store", "LLAVERO_KEY": new_key(f"{directory}/key")}
        for writing, reading in (COMMANDS, reversed(COMMANDS)):
            group = f"org.example.{writing}"
            writer, reader = Tool(writing, group, settings), Tool(reading, group, settings)

            def say(what, then):
                return f"{store}: {writing} {what}, {reading} {then}"

            records(writer, reader, say)
            if store != "keyring":
                settings = {**settings, "LLAVERO_KEY": new_key(f"{directory}/key-{writing}")}
                rekey(writer, reader, say, settings["LLAVERO_KEY"])
            token = sign_in(lab, writer, reader, say)
            loan(writer, reader, say, token, f"{directory}/loan-{store[:4]}-{writing}")
        both_at_once([Tool(processor, "org.example.both", settings) for processor in COMMANDS],
                     lambda what, then: f"{store}: {what}, {then}")
finish()
