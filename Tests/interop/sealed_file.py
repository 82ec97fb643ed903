"""Opens the file store of a built llavero, written from CacheFormat.md alone."""
import hashlib
import json
import os
import struct
import subprocess
import tempfile

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from peers import BIN, check, finish

GROUP = "com.example.office"
ACCOUNT = "55555555-6666-4777-8888-999999999999.66666666-7777-4888-8999-aaaaaaaaaaaa"
HOST = "login.microsoftonline.com"
CACHE = {
    "Account": {f"{ACCOUNT}-{HOST}-t": {"home_account_id": ACCOUNT, "environment": HOST, "realm": "t",
                                        "local_account_id": "l", "username": "dora@contoso.example",
                                        "authority_type": "MSSTS"}},
    "RefreshToken": {f"{ACCOUNT}-{HOST}-refreshtoken-c--": {
        "credential_type": "RefreshToken", "secret": "made-up-refresh-token", "home_account_id": ACCOUNT,
        "environment": HOST, "client_id": "c"}},
    "AppMetadata": {f"appmetadata-{HOST}-c": {"client_id": "c", "environment": HOST}},
}


def check_sum(file):
    return hashlib.sha256(file[:-16]).digest()[:16]


def frame(file, magic):
    """Checks what every file has, and returns its header's length field."""
    assert file[:8] == magic
    version, length = struct.unpack_from(">II", file, 8)
    assert length == len(file)
    assert file[-16:] == check_sum(file)
    assert version == 1


def open_keys(file, secret):
    frame(file, b"LLAVEROK")
    source, salt = struct.unpack_from(">I16s", file, 16)
    log_n, r, p = struct.unpack_from(">III", file, 36)
    if source == 1:
        key = hashlib.scrypt(secret, salt=salt, n=1 << log_n, r=r, p=p, dklen=32, maxmem=1 << 30)
    else:
        key = HKDF(hashes.SHA256(), 32, salt, b"llavero keys").derive(secret)
    plain = AESGCM(key).decrypt(file[48:60], file[60:-16], file[:48])
    assert plain and len(plain) % 48 == 0
    return {plain[at:at + 16]: plain[at + 16:at + 48] for at in range(0, len(plain), 48)}


def open_file(file, name, keys):
    """Returns the sequence number and the contents of a sealed file."""
    frame(file, b"LLAVEROS")
    key_id, file_name, group, sequence = struct.unpack_from(">16s16s16sQ", file, 16)
    assert file_name == name
    assert group == hashlib.sha256(GROUP.encode()).digest()[:16]
    plain = AESGCM(keys[key_id]).decrypt(file[72:84], file[84:-16], file[:72] + GROUP.encode())
    size = struct.unpack_from(">I", plain)[0]
    assert len(plain) >= 4096 and len(plain) & (len(plain) - 1) == 0
    assert not any(plain[4 + size:])
    return sequence, plain[4:4 + size]


def read_group(root, secret):
    """Returns the union of a group's documents, after checking each against the manifest."""
    def contents(path):
        with open(os.path.join(root, path), "rb") as file:
            return file.read()

    keys = open_keys(contents("keys"), secret)
    last, manifest = open_file(contents(f"groups/{GROUP}/manifest.sealed"), bytes(16), keys)
    entries = {manifest[at:at + 16]: struct.unpack_from(">Q", manifest, at + 16)[0]
               for at in range(0, len(manifest), 24)}
    assert list(entries) == sorted(entries)
    names = {name for name in os.listdir(os.path.join(root, "groups", GROUP)) if name not in ("lock", "manifest.sealed")}
    assert names == {f"{entry.hex()}.sealed" for entry in entries}
    union = {}
    for entry, expected in entries.items():
        sequence, document = open_file(contents(f"groups/{GROUP}/{entry.hex()}.sealed"), entry, keys)
        assert sequence == expected <= last
        for section, records in json.loads(document).items():
            union.setdefault(section, {}).update(records)
    return union


def main():
    with tempfile.TemporaryDirectory(prefix="llavero-interop-") as home:
        def path(name):
            return os.path.join(home, name)

        def write(name, data):
            with open(os.open(path(name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(data)

        key, passphrase = os.urandom(32), "correct horse ñandú".encode()
        write("key", key)
        write("passphrase", passphrase + b"\n")
        environment = {"PATH": "/usr/bin:/bin", "HOME": home, "XDG_DATA_HOME": path("data")}

        def llavero(*arguments, **options):
            with open(path("passphrase"), "rb") as file:
                os.dup2(file.fileno(), 9)
            return subprocess.run(
                [f"{BIN}/llavero", *arguments, "--store", "file"], env=environment, check=True, pass_fds=[9],
                capture_output=True, text=True, **options).stdout

        in_group = ["--group", GROUP]
        by_key, by_passphrase = ["--key", "file:" + path("key")], ["--key", "passphrase-fd:9"]
        root = path("data/llavero/sealed")
        llavero("import", "-", *in_group, *by_key, input=json.dumps(CACHE))
        exported = json.loads(llavero("export", *in_group, *by_key))
        check("the store gives what was imported", exported["RefreshToken"] == CACHE["RefreshToken"])
        check("a key file opens the store here as well, and every file is as the manifest says",
              read_group(root, key) == exported)

        llavero("rekey", *by_key, "--new-key", by_passphrase[1])
        check("so does the passphrase that took its place", read_group(root, passphrase) == exported)
        check("and in the tool", json.loads(llavero("export", *in_group, *by_passphrase)) == exported)
    finish()


main()
