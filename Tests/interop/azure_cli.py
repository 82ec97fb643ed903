"""Azure CLI keeps its token cache, plaintext and encrypted; llavero lists, changes, adopts and uses it."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys

from azure.cli.core.auth.persistence import load_persisted_token_cache, load_secret_store

from peers import BIN, CONTOSO, Lab, check, finish, skip
from tokens import CLIENT, HOME, add, token_response

DIRECTORY = f"{os.environ['HOME']}/.azure"
os.mkdir(DIRECTORY, 0o700)


def run(*arguments, stdin="", code=0):
    result = subprocess.run([f"{BIN}/llavero", *arguments], input=stdin, capture_output=True, text=True, timeout=300)
    check(f"llavero {' '.join(arguments)} ends with {code}", result.returncode == code, result.stderr)
    return result


def secrets(cache):
    return {token["secret"] for token in cache.search(cache.CredentialType.ACCESS_TOKEN)}


def fill(cache, name):
    add(cache, CLIENT, HOME, "User.Read", token_response(
        f"0a0a0a0a-1111-4111-8111-{len(name):012}", f"{name}@contoso.example", HOME, "User.Read", name))


for encrypted, name in ((True, "azure-cli-encrypted"), (False, "azure-cli")):
    group = f"org.example.{name}"
    cache = load_persisted_token_cache(f"{DIRECTORY}/msal_token_cache", encrypted)
    fill(cache, "ann")
    run("import", name, "--group", group)
    run("import", "-", "--group", group, stdin=json.dumps({"RefreshToken": {"k": {
        "credential_type": "RefreshToken", "secret": "rt-new", "home_account_id": f"x.{HOME}", "client_id": CLIENT,
        "environment": "login.microsoftonline.com"}}}))
    run("export", name, "--group", group)
    check(f"{name}: Azure CLI finds its own token", secrets(cache) == {"at-ann"}, secrets(cache))
    check(f"{name}: and the new one", "rt-new" in {
        token["secret"] for token in cache.search(cache.CredentialType.REFRESH_TOKEN)})
    fill(cache, "barbara")
    run("import", name, "--group", group)
    tokens = json.loads(run("export", "--group", group).stdout)
    check(f"{name}: what it writes then is added", len(tokens["AccessToken"]) == 2 and len(tokens["RefreshToken"]) == 3)

run("adopt", "azure-cli", "--yes", "--group", "org.example.adopted")
check("Azure CLI has no plaintext cache", not os.path.exists(f"{DIRECTORY}/msal_token_cache.json")
      and secrets(load_persisted_token_cache(f"{DIRECTORY}/msal_token_cache", False)) == set())

# Service principals go into the same item.
principals = load_secret_store(f"{DIRECTORY}/service_principal_entries", True)
principals.save([{"client_id": CLIENT, "tenant": HOME, "client_secret": "s3cret"}])
refused = run("export", "azure-cli-encrypted", "--group", "org.example.adopted", code=1)
check("service principals in the place of the cache are left", principals.load()[0]["client_secret"] == "s3cret")
check("and the error reports it, without secrets", "service principals" in refused.stderr and "s3cret" not in refused.stderr)


# The program itself, signed in at the lab.
AZURE_CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
SCOPE = "https://management.azure.com/.default"
AZ = [f"{os.path.dirname(sys.executable)}/az"]
shutil.rmtree(DIRECTORY)
os.environ |= {"AZURE_CORE_COLLECT_TELEMETRY": "no", "AZURE_CORE_INSTANCE_DISCOVERY": "no"}


def az(*arguments):
    return subprocess.run([*AZ, *arguments], capture_output=True, text=True, timeout=120)


def az_token():
    result = az("account", "get-access-token", "--scope", SCOPE)
    return json.loads(result.stdout)["accessToken"] if result.returncode == 0 else result.stderr


def az_login(lab):
    lab.tell(addApp={"name": "azure-cli", "clientID": AZURE_CLI, "familyID": "1", "redirectURIs": ["http://localhost"]})
    az("cloud", "register", "--name", "lab", "--skip-endpoint-discovery", "--endpoint-active-directory", lab.base,
       *(word for name in ("resource-manager", "management", "active-directory-resource-id")
         for word in (f"--endpoint-{name}", "https://management.azure.com/")))
    az("cloud", "set", "--name", "lab")
    running = subprocess.Popen(
        [*AZ, "login", "--use-device-code", "--tenant", CONTOSO, "--skip-subscription-discovery",
         "--allow-no-subscriptions"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in running.stderr:
        if code := re.search("enter the code ([A-Z0-9]+)", line):
            lab.tell(approveDevice={"userCode": code[1], "user": "alice"})
    check("az signs in", running.wait(120) == 0)


# At another port than that of HTTPS, the two name the cloud differently.
try:
    socket.create_server(("127.0.0.1", 443)).close()
except OSError as error:
    skip("Azure CLI signs in at the lab, and shares its cache", f"port 443: {error.strerror}")
    finish()
with Lab(port=443) as lab:
    az_login(lab)
    token = az_token()
    check("az has a token", token.count(".") == 2, token)
    os.environ |= {"LLAVERO_CLIENT_ID": AZURE_CLI, "LLAVERO_AUTHORITY": f"{lab.base}/{CONTOSO}"}
    group = ("--group", "org.example.az")
    lab.tell(clearLog={})
    run("import", "azure-cli", *group)
    check("llavero returns the token of az", run("token", "--scope", SCOPE, *group).stdout.strip() == token)
    run("adopt", "azure-cli", "--yes", *group)
    check("az has lost what was adopted", "az login" in az_token())
    run("export", "azure-cli", *group)
    check("az finds its token again", az_token() == token)
    check("no token was requested", not lab.log("token"))
finish()
