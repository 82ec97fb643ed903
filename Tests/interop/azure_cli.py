"""Azure CLI's own code keeps its token cache, in clear and encrypted; llavero lists, changes and adopts it."""
import json
import os
import subprocess

from azure.cli.core.auth.persistence import load_persisted_token_cache, load_secret_store

from peers import BIN, check, finish
from tokens import CLIENT, HOME, add, token_response

DIRECTORY = f"{os.environ['HOME']}/.azure"
os.mkdir(DIRECTORY, 0o700)


def run(*arguments, stdin="", code=0):
    result = subprocess.run([f"{BIN}/llavero", *arguments], input=stdin, capture_output=True, text=True, timeout=60)
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
    run("import", "--from", name, "--group", group)
    run("import", "-", "--group", group, stdin=json.dumps({"RefreshToken": {"k": {
        "credential_type": "RefreshToken", "secret": "rt-new", "home_account_id": f"x.{HOME}", "client_id": CLIENT,
        "environment": "login.microsoftonline.com"}}}))
    run("export", "--to", name, "--group", group)
    check(f"{name}: Azure CLI finds its own token", secrets(cache) == {"at-ann"}, secrets(cache))
    check(f"{name}: and the new one", "rt-new" in {
        token["secret"] for token in cache.search(cache.CredentialType.REFRESH_TOKEN)})
    fill(cache, "barbara")
    run("import", "--from", name, "--group", group)
    tokens = json.loads(run("export", "--group", group).stdout)
    check(f"{name}: what it writes then is added", len(tokens["AccessToken"]) == 2 and len(tokens["RefreshToken"]) == 3)

run("adopt", "azure-cli", "--yes", "--group", "org.example.adopted")
check("Azure CLI has nothing in clear", not os.path.exists(f"{DIRECTORY}/msal_token_cache.json")
      and secrets(load_persisted_token_cache(f"{DIRECTORY}/msal_token_cache", False)) == set())

# Service principals go into the same item.
principals = load_secret_store(f"{DIRECTORY}/service_principal_entries", True)
principals.save([{"client_id": CLIENT, "tenant": HOME, "client_secret": "s3cret"}])
refused = run("export", "--to", "azure-cli-encrypted", "--group", "org.example.adopted", code=1)
check("service principals in the place of the cache are left", principals.load()[0]["client_secret"] == "s3cret")
check("and the error says so, without them", "service principals" in refused.stderr and "s3cret" not in refused.stderr)
finish()
