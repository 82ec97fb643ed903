"""Sample groups in the keyring, and llavero-desktop with them."""
import json
import os
import pty
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress

import gi
from desktop import Program, wait
from peers import BIN, GROUP, free_port, llavero

gi.require_version("Secret", "1")
from gi.repository import Secret  # noqa: E402

DATA = os.path.realpath(f"{os.path.dirname(os.path.abspath(__file__))}/../../data")
HOST = "login.microsoftonline.com"
TENANT = "contoso.example"
CLIENTS = ["04b07795-8ddb-461a-bbee-02f9e1bf7b46", "11111111-2222-4333-8444-555555555555"]
PEOPLE = [
    ("Alice Álvarez", "alice@contoso.com"), ("Boris Schmidt", "boris@contoso.com"),
    ("Carla Núñez", "carla.nunez@fabrikam.com"), ("Đorđe Petrović", "djordje@fabrikam.com"),
]
SCOPES = ["User.Read Mail.Read openid profile", "https://management.azure.com/user_impersonation", "Files.ReadWrite.All"]


def secret(person, number):
    return f"opaque-{person}-{number}." + "Zx9" * 60


def cache(people=PEOPLE, host=HOST, seconds=(2640, -9000, 420)):
    """A serialized cache: each person has three access tokens of two clients, with the seconds left, and a refresh token of the
    first."""
    now = int(time.time())
    document = {"AccessToken": {}, "RefreshToken": {}, "Account": {}}
    for name, username in people:
        person = username.split("@")[0]
        account = f"{person}.{TENANT}"
        common = {"home_account_id": account, "environment": host}
        document["Account"][f"{account}-{host}-{TENANT}"] = common | {
            "realm": TENANT, "local_account_id": person, "username": username, "name": name,
            "authority_type": "MSSTS"}
        for number, (scopes, left) in enumerate(zip(SCOPES, seconds)):
            client = CLIENTS[number % 2]
            document["AccessToken"][f"{account}-{host}-accesstoken-{client}-{TENANT}-{scopes}".lower()] = common | {
                "credential_type": "AccessToken", "client_id": client, "realm": TENANT, "target": scopes,
                "secret": secret(person, number), "cached_at": str(now + left - 3600),
                "expires_on": str(now + left), "extended_expires_on": str(now + left)}
        document["RefreshToken"][f"{account}-{host}-refreshtoken-{CLIENTS[0]}--"] = common | {
            "credential_type": "RefreshToken", "client_id": CLIENTS[0], "secret": secret(person, "refresh")}
    return json.dumps(document)


def keychain(group=GROUP, **environment):
    """The window, with nothing kept from those before. The icon is not installed."""
    variables = {} if group is None else {"LLAVERO_GROUP": group}
    return Program(
        "llavero-desktop", without=["LLAVERO_GROUP"], **variables,
        **{"XDG_STATE_HOME": tempfile.mkdtemp(), "XDG_DATA_DIRS": f"{DATA}:{os.environ['XDG_DATA_DIRS']}", "PATH": f"{BIN}:{os.environ['PATH']}",
           **environment})


@contextmanager
def group(name, document=None):
    """A group of its own, which is emptied at the end."""
    llavero("import", "-", stdin=document or cache(), group=name)
    yield name
    llavero("clear", "--all", "--yes", group=name)


@contextmanager
def passphrase_store(name, passphrase):
    """The settings of a store of files with a group, which a passphrase opens."""
    directory = f"{os.environ['TMPDIR']}/passphrase"
    file = f"{directory}.json"
    with open(file, "w") as cache_file:
        cache_file.write(cache())
    settings = {"LLAVERO_STORE": f"file:{directory}", "LLAVERO_KEY": "passphrase"}
    process, terminal = pty.fork()
    if process == 0:
        os.execve(f"{BIN}/llavero", ["llavero", "import", file, "--group", name], os.environ | settings)
    with suppress(OSError):  # The end of a terminal is an error.
        while text := os.read(terminal, 1000):
            # What is typed before it asks is discarded.
            if text.endswith(b": "):
                os.write(terminal, passphrase.encode() + b"\n")
    assert os.waitpid(process, 0)[1] == 0
    yield settings
    shutil.rmtree(directory)


@contextmanager
def etcd():
    """The settings of a store in an etcd of its own, and a function that counts etcd's watches."""
    directory = f"{os.environ['TMPDIR']}/etcd"
    client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    os.mkdir(directory)
    with open(f"{directory}/key", "wb", opener=lambda file, flags: os.open(file, flags, 0o600)) as key:
        key.write(os.urandom(32))
    process = subprocess.Popen(
        ["etcd", "--data-dir", f"{directory}/data", "--listen-client-urls", client, "--advertise-client-urls", client,
         "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"],
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def watches():
        with suppress(OSError), urllib.request.urlopen(f"{client}/metrics") as answer:
            return int(re.search(r"^etcd_debugging_mvcc_watcher_total (\d+)", answer.read().decode(), re.M)[1])

    wait("etcd", lambda: watches() is not None)
    yield {"LLAVERO_STORE": f"etcd+{client}/windows", "LLAVERO_KEY": f"file:{directory}/key"}, watches
    process.terminate()
    process.wait()
    shutil.rmtree(directory)


def make_unreadable(name, part):
    """Damages the shard of a group that contains a text."""
    service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION, None)
    items = service.search_sync(None, {"group": name}, Secret.SearchFlags.ALL | Secret.SearchFlags.LOAD_SECRETS, None)
    broken = next(item for item in items if part.encode() in item.get_secret().get())
    broken.set_secret_sync(Secret.Value.new("{ no cache", -1, "text/plain"), None)


def plaintext_cache(people=PEOPLE[:1]):
    """Writes a cache of the Azure CLI in the home directory, and returns its path."""
    path = f"{os.environ['HOME']}/.azure/msal_token_cache.json"
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "w", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
        file.write(cache(people))
    return path


@contextmanager
def empty_bus():
    """A session bus on which there is no keyring, and none can be started."""
    path = f"{os.environ['TMPDIR']}/empty-bus"
    with open(path + ".conf", "w") as file:
        file.write(
            f"<busconfig><type>session</type><listen>unix:path={path}</listen><policy context='default'>"
            "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/><allow own='*'/>"
            "</policy></busconfig>")
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={path}.conf", "--nofork"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait("a bus", lambda: os.path.exists(path))
    yield f"unix:path={path}"
    bus.terminate()
    bus.wait()
