"""Watches the system calls of "llavero token" with a stand-in for the identity broker, and with none, without a keyring."""
import os
import re
import subprocess

from peers import BIN, DIRECTORY, check, finish, skip

SESSION = os.environ["TMPDIR"]
LLAVERO = f"{BIN}/llavero"
ORDERS, LOG, TRACE = (f"{SESSION}/{name}" for name in ("broker.json", "broker.log", "trace"))
ENVIRONMENT = os.environ | {
    "LLAVERO_CLIENT_ID": "d7b530a4-7680-4c23-a8bf-c52c121d2e87", "LLAVERO_TEST_BROKER_LIMIT": "300000"}


def token(*arguments, before=()):
    return subprocess.run(
        [*before, LLAVERO, "token", *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


def traced(*arguments):
    result = token(*arguments, before=[
        "strace", "-f", "-qq", "-s", "4096", "-e", "trace=execve,socket,openat,sendmsg", "-o", TRACE])
    with open(TRACE, encoding="utf-8", errors="replace") as file:
        return result, file.read()


def questions(calls):
    """What was asked on the bus about a broker, or of it."""
    return [line for line in calls.splitlines() if "sendmsg" in line and "com.microsoft.identity" in line]


def is_token(result):
    return result.returncode == 0 and result.stdout.startswith("eyJ") and not result.stderr


key = f"{SESSION}/key"
with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
    file.write(os.urandom(32))
result, calls = traced("--store", "file", "--key", "file:" + key)
check("without a broker no account is signed in", result.returncode == 3, result.stderr)
check("and the bus got one request", len(questions(calls)) == 1, questions(calls))
check("and no server any", "AF_INET" not in calls)

with open(ORDERS, "w", encoding="utf-8") as file:
    file.write("{}")
broker = subprocess.Popen(
    [f"{DIRECTORY}/stand_in_broker.py", "--control", ORDERS, "--log", LOG],
    stdout=subprocess.PIPE, text=True)
check("the stand-in has its name", broker.stdout.readline() == "ready\n")

result, calls = traced("--broker", "only")
check("a token without a keyring", is_token(result), result.stderr)
check("the trace has the requests", len(questions(calls)) >= 2, calls[-2000:])
check("no socket to another machine", not re.search(r"AF_INET|AF_NETLINK", calls))
check("no HTTP library and no TLS", not re.search(r"libsoup|libnghttp2|gnutls", calls))
check("no other program", calls.count("execve(") == 1, re.findall(r"execve\(.*", calls))

alone = ["unshare", "--map-current-user", "--net"]
if subprocess.run([*alone, "true"], capture_output=True).returncode == 0:
    result = token("--broker", "only", before=alone)
    check("a token in an empty network namespace", is_token(result), result.stderr)
else:
    skip("a token in an empty network namespace", "no namespace can be made here")

with open(ORDERS, "w", encoding="utf-8") as file:
    file.write('{"do": {"*": "empty"}}')
result, calls = traced("--broker", "only")
check("no token from a failing broker", result.returncode == 1 and not result.stdout, result.stderr)
check("and no socket to another machine either", not re.search(r"AF_INET|AF_NETLINK", calls))
broker.kill()
broker.wait()
finish()
