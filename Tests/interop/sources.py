"""Other programs' caches: what the real libraries write llavero reads, changes and writes back, and they find it all."""
import base64
import hashlib
import json
import os
import stat
import subprocess
import sys

import msal
import secretstorage
from azure.identity import TokenCachePersistenceOptions
from azure.identity._persistent_cache import _load_persistent_cache
from msal_extensions import FilePersistence, LibsecretPersistence, PersistedTokenCache

from peers import BIN, DIRECTORY, check, finish, llavero
from tokens import CLIENT, HOME, add, token_response

HOMEDIR = os.environ["HOME"]
KINDS = msal.TokenCache.CredentialType


def run(*arguments, stdin=""):
    return llavero(*arguments, stdin=stdin, group=None)


def exported(group):
    return json.loads(run("export", "--group", group))


def uid(number):
    return f"0a0a0a0a-1111-4111-8111-{number:012}"


def fill(cache, numbers, prefix="token"):
    for number in numbers:
        add(cache, CLIENT, HOME, "User.Read",
            token_response(uid(number), f"user{number}@contoso.example", HOME, "User.Read", f"{prefix}{number}"))


def serialized(numbers, prefix="swift"):
    cache = msal.SerializableTokenCache()
    fill(cache, numbers, prefix)
    return cache.serialize()


def secrets(cache, kind=KINDS.ACCESS_TOKEN):
    return {token["secret"] for token in cache.search(kind)}


def records(document):
    return sum(len(section) for section in document.values() if isinstance(section, dict))


def there_and_back(name, options, cache, again):
    """A library wrote; llavero takes it, adds an account and writes back; the library finds everything."""
    group = "org.example." + hashlib.sha256(repr((name, options)).encode()).hexdigest()[:8]
    fill(cache, [1, 2])
    before = json.loads(cache.serialize())
    preview = json.loads(run("import", name, *options, "--group", group, "--dry-run", "--json"))
    check(f"{name}: a preview counts every record", preview["saved"] == records(before) == len(preview["records"]))
    check(f"{name}: and imports none", exported(group) == {})
    report = json.loads(run("import", name, *options, "--group", group, "--json"))
    check(f"{name}: llavero imports every record", report["saved"] == records(before))
    check(f"{name}: as it was", exported(group) == before)
    run("import", "-", "--group", group, stdin=serialized([3]))
    preview = json.loads(run("export", name, *options, "--group", group, "--dry-run", "--json"))
    check(f"{name}: a preview of the export tells the new account alone",
          {r.get("username") for r in preview["records"]} == {"user3@contoso.example"}, preview)
    report = json.loads(run("export", name, *options, "--group", group, "--json"))
    check(f"{name}: llavero writes it", report["saved"] == preview["saved"] > 0, report)
    expected = {"at-token1", "at-token2", "at-swift3"}
    check(f"{name}: the running program finds it all", secrets(cache) == expected, secrets(cache))
    check(f"{name}: a new one too", secrets(again()) == expected)
    fill(cache, [4])
    check(f"{name}: and what it writes then loses nothing", secrets(again()) == expected | {"at-token4"})
    check(f"{name}: refresh tokens neither",
          secrets(again(), KINDS.REFRESH_TOKEN) == {"rt-token1", "rt-token2", "rt-swift3", "rt-token4"})
    report = json.loads(run("import", name, *options, "--group", group, "--json"))
    check(f"{name}: nor does the way back", report["saved"] > 0 and len(exported(group)["AccessToken"]) == 4)


def persisted(persistence):
    return lambda: PersistedTokenCache(persistence())


locations = {"plain": f"{HOMEDIR}/.one/cache", "named": f"{HOMEDIR}/.two/cache"}
for directory in (".one", ".two", ".azure", ".live"):
    os.mkdir(f"{HOMEDIR}/{directory}", 0o700)
new = persisted(lambda: LibsecretPersistence(locations["plain"]))
there_and_back("msal-extensions", ["--location", locations["plain"]], new(), new)
new = persisted(lambda: LibsecretPersistence(locations["named"], "com.example.mine", {"app": "mine", "kind": "tokens"}))
there_and_back(
    "msal-extensions",
    ["--location", locations["named"], "--schema", "com.example.mine", "--attribute", "app=mine", "--attribute",
     "kind=tokens"], new(), new)
for name, cae in (("azure-identity-python", False), ("azure-identity-python-cae", True)):
    new = lambda: _load_persistent_cache(TokenCachePersistenceOptions(), cae)
    there_and_back(name, [], new(), new)
encrypted = f"{HOMEDIR}/.azure/msal_token_cache.bin"
new = persisted(lambda: LibsecretPersistence(encrypted, "my_schema_name", {"my_attr1": "foo", "my_attr2": "bar"}))
there_and_back("azure-cli-encrypted", [], new(), new)
signal = f"{HOMEDIR}/.azure/msal_token_cache.sig"
new = persisted(lambda: LibsecretPersistence(signal, "Microsoft Azure CLI", {"type": "Token cache"}))
there_and_back("azure-cli-keyring", [], new(), new)
plaintext = f"{HOMEDIR}/.azure/msal_token_cache.json"
new = persisted(lambda: FilePersistence(plaintext))
there_and_back("azure-cli", [], new(), new)

# What cannot be had from PyPI is made as it is documented.
connection = secretstorage.dbus_init()
collection = secretstorage.get_default_collection(connection)
ID = "Microsoft.Developer.IdentityService"
made = {
    "azure-identity-dotnet": ("msal.cache.nocae", {"xdg:schema": "msal.cache", "MsalClientID": ID, ID: "1.0.0.0"}, True,
                              [".local/.IdentityService/msal.cache"], ""),
    "azure-identity-java": ("MSALCache.nocae", {"xdg:schema": "msal.cache", "MsalClientID": ID}, True,
                            [".IdentityService/msal.cache.nocae"], ""),
    "azure-identity-node": (f"{ID}/MSALCache", {"xdg:schema": "org.freedesktop.Secret.Generic", "service": ID,
                                                "account": "MSALCache"}, False,
                            [".IdentityService/msal.cache.nocae"], "{}"),
    "git-credential-manager-apps": ("AppCache", {"xdg:schema": "app.cache", "MsalClientID": "GitCredentialManager.MSAL",
                                                 "GitCredentialManager.MSAL": "1.0.0.0"}, True,
                                    [".gcm/msal/app.cache"], ""),
    "azureauth": ("MSAL token cache", {"xdg:schema": "com.microsoft.identity.tokencache", "Version": "1",
                                       "ProductGroup": "Microsoft Develoepr Tools"}, True, [], ""),
}


def decoded(item, is_base64):
    secret = item.get_secret()
    return json.loads(base64.b64decode(secret, validate=True) if is_base64 else secret)


items = {}
for name, (label, attributes, is_base64, signals, contents) in made.items():
    text = serialized([1, 2], "token").encode()
    items[name] = collection.create_item(label, attributes, base64.b64encode(text) if is_base64 else text)
for name, (label, attributes, is_base64, signals, contents) in made.items():
    group, item = "org.example.made-" + name, items[name]
    before = decoded(item, is_base64)
    run("import", name, "--group", group)
    check(f"{name}: llavero imports it as it was", exported(group) == before)
    run("import", "-", "--group", group, stdin=serialized([3]))
    signals = [f"{HOMEDIR}/{path}" for path in signals]
    for path in filter(os.path.exists, signals):
        os.utime(path, (1, 1))
    run("export", name, "--group", group)
    after = decoded(item, is_base64)
    check(f"{name}: nothing is lost", all(before[section].items() <= after[section].items() for section in before))
    check(f"{name}: the new account is there", records(after) > records(before) and len(after["Account"]) == 3)
    check(f"{name}: the item is the same but for its secret",
          item.get_label() == label and item.get_attributes() == attributes
          and item.get_secret_content_type() == "text/plain")
    for path in signals:
        check(f"{name}: {path} says so", os.stat(path).st_mtime > 1)
        if not path.endswith(".nocae"):
            check(f"{name}: and is closed to others", stat.S_IMODE(os.stat(path).st_mode) & 0o77 == 0)
all_items = [item.get_attributes() for item in collection.get_all_items()]
check("no item is there twice", len(all_items) == len({json.dumps(a, sort_keys=True) for a in all_items}))

# Plaintext caches and abandoned locks.
os.chmod(plaintext, 0o644)
with open(plaintext + ".lockfile", "w") as file:
    # More than the number of any process of Linux.
    file.write("4194305 python")
listed = {source["name"]: source for source in json.loads(run("adopt", "--json"))["sources"]}
check("llavero lists them all",
      set(listed) >= {*made, "azure-cli", "azure-cli-encrypted", "azure-identity-python", "azure-identity-python-cae"},
      set(listed))
check("and how many accounts they have", listed["azure-identity-python"]["account_count"] == 4
      and listed["azureauth"]["account_count"] == 3)
check("it shows the plaintext caches", [name for name in listed if not listed[name]["is_encrypted"]] == ["azure-cli"])
kinds = [finding["kind"] for finding in listed["azure-cli"]["findings"]]
check("their file modes and abandoned locks", kinds == ["stale_lock", "plaintext", "readable_by_others"], kinds)
run("doctor", "--fix", "--offline")
check("--fix closes the file and removes the lock",
      stat.S_IMODE(os.stat(plaintext).st_mode) == 0o600 and not os.path.exists(plaintext + ".lockfile"))
with open(plaintext) as file:
    known = json.load(file)
run("adopt", "azure-cli", "--keep", "--group", "org.example.adopted")
with open(plaintext) as file:
    check("adopt --keep leaves the file", json.load(file) == known)
report = json.loads(run("adopt", "--all", "--yes", "--json", "--group", "org.example.adopted"))["adopted"]
check("adopt removes it", [a["removed"] for a in report] == [True] and not os.path.exists(plaintext))
check("and the keyring has it all", exported("org.example.adopted") == known)

# The fall-back of azure-identity: plaintext in the file that also is the signal.
fallback = f"{HOMEDIR}/.IdentityService/msal.cache.nocae"
with open(fallback, "w") as file:
    file.write(serialized([7], "fallback"))
report = json.loads(run("adopt", "--all", "--yes", "--json", "--group", "org.example.fallback"))["adopted"]
check("the fall-back file is emptied, not removed",
      [a["name"] for a in report] == ["azure-identity-python-file"] and os.path.getsize(fallback) == 0
      and stat.S_IMODE(os.stat(fallback).st_mode) == 0o600, report)
check("its tokens are in the keyring", "at-fallback7" in str(exported("org.example.fallback")))
check("azure-identity goes on with its item", "at-token1" in secrets(_load_persistent_cache(TokenCachePersistenceOptions(), False)))

WRITER = """
import sys
from msal_extensions import LibsecretPersistence, PersistedTokenCache
from tokens import CLIENT, HOME, add, token_response
location, count = sys.argv[1], int(sys.argv[2])
cache = PersistedTokenCache(LibsecretPersistence(location))
for number in range(count):
    response = token_response(f"0b0b0b0b-2222-4222-8222-{number % 4:012}", f"p{number % 4}@contoso.example", HOME, f"api://python/{number}", f"python{number}")
    del response["refresh_token"], response["id_token"]
    add(cache, CLIENT, HOME, f"api://python/{number}", response)
    print(number, flush=True)
"""
HOLDER = """
import signal, sys
from msal_extensions import CrossPlatLock
with CrossPlatLock(sys.argv[1]):
    print("holding", flush=True)
    signal.pause()
"""


def python(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-B", "-c", program, *arguments], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": DIRECTORY})


def kill_holder(location):
    """A Python program takes the lock and is killed while it has it."""
    holder = python(HOLDER, location + ".lockfile")
    held = holder.stdout.readline()
    holder.kill()
    holder.wait()
    check("a Python program was killed inside its lock", held == "holding\n" and os.path.exists(location + ".lockfile"))


class Sharing:
    """A Python and a Swift program that write to one item at the same time."""

    count = 30

    def __init__(self, name):
        self.name, self.location = name, f"{HOMEDIR}/.live/{name}"

    def start(self):
        self.writer = python(WRITER, self.location, str(self.count))
        self.swift = subprocess.Popen(
            [f"{BIN}/Worker", "share", self.location, "swift", str(self.count), "4"], stdout=subprocess.PIPE, text=True)

    def verify(self):
        ended = (self.swift.wait(timeout=300), self.writer.wait(timeout=300))
        check(f"{self.name}: both programs end well", ended == (0, 0), ended)
        found = secrets(PersistedTokenCache(LibsecretPersistence(self.location)))
        check(f"{self.name}: {2 * self.count} tokens are there", len(found) == 2 * self.count, len(found))
        check(f"{self.name}: each as it was written", {f"at-python{n}" for n in range(self.count)} <= found
              and len([s for s in found if s.startswith("access.swift-")]) == self.count)
        check(f"{self.name}: no lock is left", not os.path.exists(self.location + ".lockfile"))


undisturbed, killed = Sharing("undisturbed"), Sharing("killed")
undisturbed.start()
# LibsecretPersistence begins with a trial of an item that all programs share.
undisturbed.writer.stdout.readline()
kill_holder(killed.location)
killed.start()
for _ in range(killed.count // 4):
    killed.writer.stdout.readline()
check("both programs are at work", (killed.swift.poll(), killed.writer.poll()) == (None, None))
kill_holder(killed.location)
undisturbed.verify()
killed.verify()
finish()
