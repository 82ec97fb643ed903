"""Borrows what "llavero lend" lends, in places that have nothing else."""
import json
import os
import subprocess
import tempfile
import time

from azure.core.exceptions import ClientAuthenticationError
from azure.identity import CredentialUnavailableError, DefaultAzureCredential, ManagedIdentityCredential

from peers import ALICE, BIN, GROUP, Lab, check, finish, free_port, llavero, log_in, skip
from ssh_server import SSHServer

ARM = "https://management.azure.com/.default"
VAULT = "https://vault.azure.net/.default"
OTHER_USER = 165536
LLAVERO = f"{BIN}/llavero"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


class Loan:
    """A running "llavero lend", which has said what the borrower sets."""

    def __init__(self, directory, *arguments, **environment):
        self.log = open(f"{directory}/lend.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [LLAVERO, "lend", *arguments, "--group", GROUP], stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, **environment})
        wanted = {"IDENTITY_ENDPOINT", "IDENTITY_HEADER"} if "--port" in arguments else {"LLAVERO_FROM"}
        self.settings = {}
        while not wanted <= set(self.settings):
            line = self.process.stdout.readline()
            assert line, self.said()
            name, separator, value = line.strip().removeprefix("export ").partition("=")
            if separator:
                self.settings[name] = value

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.terminate()
        self.process.wait(120)


def run(*command, before=(), timeout=300, **environment):
    """Runs a command with nothing in its environment but what is named."""
    return subprocess.run(
        [*before, *command], env={"PATH": SYSTEM_PATH, **environment}, capture_output=True, text=True,
        timeout=timeout)


def borrowed(result, token):
    return result.returncode == 0 and result.stdout.strip() == token and not result.stderr


def over_ssh(directory, loan, token):
    """The lender is on one side of the connection, and the borrower on the other."""
    own = loan.settings["LLAVERO_FROM"].removeprefix("unix:")
    there, here = f"{directory}/there.sock", f"{directory}/here.sock"
    alone = f"env -i LLAVERO_FROM=unix:{there}"
    with SSHServer(directory) as server:
        host = server.host
        for attempt in ("", " a second time, where a socket is left from the first"):
            result = run(*server.command("-R", f"{there}:{own}", host, f"{alone} {LLAVERO} token --scope {ARM}"))
            check("ssh -R: a token on the other side" + attempt, borrowed(result, token), result.stderr)
        result = run(*server.command("-R", f"{there}:{own}", host, f"{alone} {LLAVERO} status --json"))
        check("ssh -R: the lent account is shown", result.returncode == 0 and ALICE in result.stdout, result.stderr)
        result = run(*server.command("-R", f"{there}:{own}", host, f"{alone} {LLAVERO} token --scope {VAULT}"))
        check("ssh -R: no token for a scope that is not lent", result.returncode == 1 and not result.stdout, result.stderr)
        result = run(LLAVERO, "token", "--json", "--scope", ARM, LLAVERO_FROM=f"unix:{there}")
        check("a socket whose connection has ended lends nothing",
              result.returncode == 4 and "no_broker" in result.stderr, result.stderr)
        # The other way: the command there ends with its input.
        with subprocess.Popen(
                server.command("-L", f"{here}:{own}", host, "echo ready; cat"), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True) as connection:
            check("ssh -L: the connection is open", connection.stdout.readline() == "ready\n")
            result = run(LLAVERO, "token", "--scope", ARM, LLAVERO_FROM=f"unix:{here}")
            check("ssh -L: a token on this side", borrowed(result, token), result.stderr)
            result = run(LLAVERO, "doctor", LLAVERO_FROM=f"unix:{here}")
            check("ssh -L: doctor finds no problems", result.returncode == 0 and "answers" in result.stdout, result.stdout)
            connection.communicate(timeout=120)


def sandbox(directory):
    """A sandbox in which there are the system's libraries, the tool, and the socket's directory: no network, no bus, no
    home, no /tmp."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--proc", "/proc", "--ro-bind", "/usr",
               "/usr"]
    for name in ("lib", "lib64", "bin"):
        if os.path.islink(f"/{name}"):
            command += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            command += ["--ro-bind", f"/{name}", f"/{name}"]
    libraries = set()
    command += ["--ro-bind", f"{BIN}/llavero", "/tool/llavero"]
    for line in run("ldd", f"{BIN}/llavero").stdout.splitlines():
        path = line.partition("=> ")[2].partition(" (")[0]
        if path.startswith("/") and not path.startswith(("/usr", "/lib")):
            libraries.add(os.path.dirname(path))
    for path in sorted(libraries):
        command += ["--ro-bind", path, path]
    return [*command, "--bind", directory, "/loan", "--setenv", "LLAVERO_FROM", "unix:/loan/loan.sock"]


def in_a_sandbox(directory, token):
    alone = sandbox(directory)
    if run(*alone, "/usr/bin/true").returncode != 0:
        skip("the sandbox", "no namespace can be made here")
        return
    result = run("/tool/llavero", "token", "--scope", ARM, before=alone)
    check("bwrap: a token with the socket alone", borrowed(result, token), result.stderr)
    result = run("/usr/bin/sh", "-c", "ls -d /home /tmp /run /etc; ls /sys/class/net", before=alone)
    check("bwrap: there is nothing else", not result.stdout, result.stdout)
    result = run("/tool/llavero", "status", "--json", before=alone)
    check("bwrap: the lent account is shown", result.returncode == 0 and ALICE in result.stdout, result.stderr)
    result = run("/tool/llavero", "doctor", before=alone)
    check("bwrap: doctor finds no problems", result.returncode == 0, result.stdout + result.stderr)
    result = run("/tool/llavero", "token", "--scope", VAULT, before=alone)
    check("bwrap: no token for a scope that is not lent", result.returncode == 1 and not result.stdout, result.stderr)
    for command in ("login", "list", "export"):
        result = run("/tool/llavero", command, before=alone)
        check(f"bwrap: {command} reports that there is no store",
              result.returncode == 2 and "borrowed" in result.stderr, result.stderr)


def by_another_user(path, token):
    if os.getuid() != 0:
        skip("another user", "only root can become one")
        return
    other_user = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]
    ask = ["curl", "-q", "--silent", "--max-time", "300", "--unix-socket", path, "--get", "--data-urlencode",
           f"scope={ARM}", "--data", "api-version=2019-08-01", "http://localhost/token"]
    check("this user gets a token with the same command", token in run(*ask).stdout)
    result = run(*ask, before=other_user)
    check("another user, or their container, cannot reach the socket", result.returncode == 7, result.stdout)
    os.chmod(path, 0o666)
    result = run(*ask, before=other_user)
    os.chmod(path, 0o600)
    check("and gets no token even if the file mode permits it",
          "access_denied" in result.stdout and "access_token" not in result.stdout, result.stdout)


def by_curl(path, token):
    def ask(target, *more):
        return run("curl", "-q", "--silent", "--max-time", "300", "--unix-socket", path, *more, f"http://localhost{target}")

    answer = json.loads(
        ask("/token", "--get", "--data-urlencode", f"scope={ARM}", "--data", "api-version=2019-08-01").stdout)
    check("curl gets the token", answer["access_token"] == token)
    check("with its expiry in digits", isinstance(answer["expires_on"], str) and int(answer["expires_on"]) > time.time())
    check("without a refresh token", not {"refresh_token", "id_token", "client_info"} & set(answer), sorted(answer))
    check("curl reads the terms", ARM in json.loads(ask("/loan").stdout)["scopes"])
    refusal = json.loads(
        ask("/token", "--get", "--data-urlencode", f"scope={VAULT}", "--data", "api-version=2019-08-01").stdout)
    check("curl gets invalid_scope for other scopes", refusal["error"] == "invalid_scope", refusal)


def by_the_azure_sdk(directory, token):
    with Loan(directory, "--scope", ARM, "--port", str(free_port())) as loan:
        os.environ.update(loan.settings)
        try:
            for credential in (ManagedIdentityCredential(), DefaultAzureCredential()):
                name = type(credential).__name__
                got = credential.get_token(ARM)
                check(f"{name} gets the token", got.token == token)
                check(f"{name} reads its expiry", 0 < got.expires_on - time.time() <= 86400, got.expires_on)
                check(f"{name} reads the longer form too", credential.get_token_info(ARM).token == token)
                try:
                    credential.get_token(VAULT)
                    check(f"{name} gets no token that is not lent", False)
                except (ClientAuthenticationError, CredentialUnavailableError) as error:
                    check(f"{name} gets no token that is not lent", True)
                    check(f"{name} shows no token", token not in str(error))
            os.environ["IDENTITY_HEADER"] = "guessed"
            try:
                ManagedIdentityCredential().get_token(ARM)
                check("without the secret there is no token", False)
            except (ClientAuthenticationError, CredentialUnavailableError):
                check("without the secret there is no token", True)
        finally:
            for name in loan.settings:
                os.environ.pop(name, None)


def by_many_at_once(directory, loan, lab):
    """As terraform does, which starts a process for each resource."""
    shims = tempfile.mkdtemp(dir=directory)
    for program in ("az", "azd"):
        llavero("shim", "install", program, "--directory", shims, group=None)
    asked = len(lab.log("token"))
    processes = [
        subprocess.Popen(
            [f"{shims}/az", "account", "get-access-token", "--output", "json", "--resource", "https://vault.azure.net"],
            env={"PATH": SYSTEM_PATH, **loan.settings}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(10)]
    ends = [process.communicate(timeout=300) for process in processes]
    check("ten stand-ins for az at once succeed", all(process.returncode == 0 for process in processes),
          [errors for _, errors in ends])
    tokens = {json.loads(output)["accessToken"] for output, _ in ends if output}
    check("they get one token", len(tokens) == 1)
    check("with one request to the server", len(lab.log("token")) - asked == 1, len(lab.log("token")) - asked)
    result = run(f"{shims}/azd", "auth", "token", "--output", "json", "--scope", VAULT, **loan.settings)
    check("azd's stand-in gets it, too", result.returncode == 0 and json.loads(result.stdout)["token"] in tokens,
          result.stderr)


with Lab() as lab, tempfile.TemporaryDirectory(dir="/tmp", prefix="llavero-borrow-") as directory:
    log_in(lab)
    token = llavero("token", "--scope", ARM).strip()
    os.chmod(directory, 0o755)
    shared = f"{directory}/loan"
    os.mkdir(shared, 0o755)
    path = f"{shared}/loan.sock"
    with Loan(directory, "--scope", ARM, "--socket", path) as loan:
        check("the lender prints the borrower's settings", loan.settings["LLAVERO_FROM"] == f"unix:{path}", loan.settings)
        by_curl(path, token)
        over_ssh(directory, loan, token)
        in_a_sandbox(shared, token)
        by_another_user(path, token)
        check("the lender's output has no token", token not in loan.said())
        loan.end()
        result = run(LLAVERO, "token", "--json", "--scope", ARM, **loan.settings)
        check("after the loan there is no lender", result.returncode == 4 and "no_broker" in result.stderr, result.stderr)
    by_the_azure_sdk(directory, token)
    with Loan(directory, "--scope", VAULT, "--socket", path) as loan:
        by_many_at_once(directory, loan, lab)
finish()
