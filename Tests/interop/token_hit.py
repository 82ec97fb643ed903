"""Watches the system calls of "llavero token"."""
import re
import subprocess
import tempfile

from peers import BIN, GROUP, Lab, check, finish, llavero, log_in


def trace(*arguments):
    with tempfile.NamedTemporaryFile("r") as file:
        result = subprocess.run(
            ["strace", "-f", "-qq", "-e", "trace=execve,socket,openat", "-o", file.name, f"{BIN}/llavero", "token",
             "--group", GROUP, *arguments], capture_output=True, text=True)
        return result, file.read()


with Lab() as lab:
    log_in(lab)
    asked = len(lab.log())
    result, calls = trace()
    check("the token is there", result.returncode == 0 and result.stdout.count("\n") == 1, result.stderr)
    check("the watch sees the keyring's socket", "AF_UNIX" in calls)
    check("no socket to another machine", not re.search(r"AF_INET|AF_NETLINK", calls))
    check("no HTTP library and no TLS", not re.search(r"libsoup|libnghttp2|gnutls", calls))
    check("no other program", calls.count("execve(") == 1, re.findall(r"execve\(.*", calls))
    check("the server was not asked", len(lab.log()) == asked)
    result, calls = trace("--force-refresh")
    check("a renewal does all that", result.returncode == 0 and "AF_INET" in calls and "libsoup" in calls, result.stderr)
finish()
