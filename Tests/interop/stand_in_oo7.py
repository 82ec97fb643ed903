#!/usr/bin/env python3
"""Stands for oo7-daemon (0.7.0-alpha) on the session bus, with what it does otherwise than gnome-keyring.

- Its items and its file are two things. SetSecret and the properties of an item change the item alone: no later write
  brings the change into the file, and a restart forgets it. CreateItem and Delete change both.
- It gives each item the attribute xdg:content-type.
- CreateItem with `replace` takes the place of all items with exactly the same attributes, and the new one has another
  path. For a moment neither is found.
- Delete takes one item off the bus, but out of the file all that have its attributes, and perhaps others.
- A locked collection finds nothing, and a locked item tells neither its attributes nor its label nor its times.
- On a terminal the call of Prompt lasts until the person has answered, and fails without a terminal.

Usage: stand_in_oo7.py DIRECTORY [--locked]

Files in DIRECTORY say what it does: with `oo7-never-prompts` a prompt fails; with `oo7-holds-replacement` the next
item that replaces another is found only after a search without result. The file is `oo7-is-replacing` then.
"""

import base64
import ctypes
import hashlib
import hmac
import json
import os
import secrets
import sys
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

ROOT = "/org/freedesktop/secrets"
SECRET = "org.freedesktop.Secret."
SERVICE, COLLECTION, ITEM = SECRET + "Service", SECRET + "Collection", SECRET + "Item"
CONTENT_TYPE = "xdg:content-type"
CONTENT_TYPES = {
    "text/plain": "text/plain", "text/utf8": "text/plain", "application/json": "text/plain",
    "application/octet-stream": "application/octet-stream",
}
ENCRYPTED = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
# The second Oakley group, RFC 2409 section 6.2.
PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)
METHODS = {
    SERVICE: [
        ("OpenSession", "sv", "vo"), ("SearchItems", "a{ss}", "aoao"), ("Unlock", "ao", "aoo"), ("Lock", "ao", "aoo"),
        ("GetSecrets", "aoo", "a{o(oayays)}"), ("ReadAlias", "s", "o"),
    ],
    COLLECTION: [("SearchItems", "a{ss}", "ao"), ("CreateItem", "a{sv}(oayays)b", "oo")],
    ITEM: [("Delete", "", "o"), ("GetSecret", "o", "(oayays)"), ("SetSecret", "(oayays)", "")],
    SECRET + "Prompt": [("Prompt", "s", ""), ("Dismiss", "", "")],
    "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface": [("UnlockWithMasterPassword", "o(oayays)", "")],
    "org.freedesktop.DBus.Properties": [("Get", "ss", "v"), ("GetAll", "s", "a{sv}"), ("Set", "ssv", "")],
}


class Refusal(Exception):
    """A D-Bus error."""

    def __init__(self, name, message="refused"):
        super().__init__(message)
        self.name = name


def is_locked_error(what):
    return Refusal(SECRET + "Error.IsLocked", what + " is locked.")


def failed(message):
    return Refusal("org.freedesktop.DBus.Error.Failed", message)


def interfaces(*names):
    """Descriptions of interfaces, from their methods' types."""
    def arguments(types, direction):
        rest = types
        while rest:
            end = next(n for n in range(1, len(rest) + 1) if GLib.VariantType.string_is_valid(rest[:n]))
            yield f'<arg type="{rest[:end]}" direction="{direction}"/>'
            rest = rest[end:]

    for name in names:
        methods = "".join(
            f'<method name="{method}">' + "".join(arguments(takes, "in")) + "".join(arguments(gives, "out")) + "</method>"
            for method, takes, gives in METHODS[name])
        yield Gio.DBusNodeInfo.new_for_xml(f'<node><interface name="{name}">{methods}</interface></node>').interfaces[0]


def cipher(key, iv, data, encrypts):
    """AES-128 in CBC mode with PKCS #7 padding."""
    library = ctypes.CDLL("libcrypto.so.3")
    library.EVP_CIPHER_CTX_new.restype = library.EVP_aes_128_cbc.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.EVP_CIPHER_CTX_new())
    kind = ctypes.c_void_p(library.EVP_aes_128_cbc())
    output = ctypes.create_string_buffer(len(data) + 16)
    length, rest = ctypes.c_int(), ctypes.c_int()
    library.EVP_CipherInit_ex(context, kind, None, key, iv, int(encrypts))
    library.EVP_CipherUpdate(context, output, ctypes.byref(length), data, len(data))
    is_whole = library.EVP_CipherFinal_ex(context, ctypes.byref(output, length.value), ctypes.byref(rest))
    library.EVP_CIPHER_CTX_free(context)
    if not is_whole:
        raise failed("Failed to decrypt secret.")
    return output.raw[: length.value + rest.value]


def variant_of_bytes(data):
    return GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes(data), True)


class Session:
    def __init__(self, path, key):
        self.path = path
        self.key = key

    def encode(self, item):
        iv = secrets.token_bytes(16) if self.key else b""
        data = cipher(self.key, iv, item.secret, True) if self.key else item.secret
        return GLib.Variant.new_tuple(
            GLib.Variant("o", self.path), variant_of_bytes(iv), variant_of_bytes(data),
            GLib.Variant("s", item.attributes[CONTENT_TYPE]))


class Item:
    def __init__(self, path, attributes, label, secret, created=None, modified=None):
        self.path = path
        self.attributes = attributes
        self.label = label
        self.secret = secret
        self.created = created or int(time.time())
        self.modified = modified or self.created
        self.is_locked = False

    def has(self, attributes):
        return attributes.items() <= self.attributes.items()

    def properties(self):
        """What the item tells; what it does not is left out."""
        if self.is_locked:
            return {"Locked": GLib.Variant("b", True)}
        return {
            "Locked": GLib.Variant("b", False), "Attributes": GLib.Variant("a{ss}", self.attributes),
            "Label": GLib.Variant("s", self.label), "Created": GLib.Variant("t", self.created),
            "Modified": GLib.Variant("t", self.modified),
        }

    def record(self):
        """The item as it stands in the file."""
        return [
            self.attributes, self.label, base64.b64encode(self.secret).decode(), self.created, self.modified]


class Collection:
    """Items on the bus, and the records of a file where there is one."""

    def __init__(self, name, file=None):
        self.path = f"{ROOT}/collection/{name.lower()}"
        self.label = name
        self.file = file
        self.is_locked = False
        self.items = []
        self.records = []
        self.index = 1
        if file and os.path.exists(file):
            with open(file, encoding="utf-8") as opened:
                self.records = json.load(opened)
        for attributes, label, secret, created, modified in self.records:
            self.items.append(Item(self.next_path(), attributes, label, base64.b64decode(secret), created, modified))

    def next_path(self):
        self.index += 1
        return f"{self.path}/{self.index - 1}"

    def write(self):
        if self.file:
            with open(self.file + ".new", "w", encoding="utf-8") as opened:
                json.dump(self.records, opened)
            os.rename(self.file + ".new", self.file)

    def lock(self, is_locked):
        self.is_locked = is_locked
        for item in self.items:
            item.is_locked = is_locked

    def found(self, attributes):
        return [] if self.is_locked else [item for item in self.items if item.has(attributes)]

    def properties(self):
        return {
            "Items": GLib.Variant("ao", [item.path for item in self.items]), "Label": GLib.Variant("s", self.label),
            "Locked": GLib.Variant("b", self.is_locked), "Created": GLib.Variant("t", 1),
            "Modified": GLib.Variant("t", 1),
        }


class Daemon:
    def __init__(self, directory, is_locked):
        self.directory = directory
        self.connection = Gio.bus_get_sync(Gio.BusType.SESSION)
        self.sessions, self.objects, self.prompts = {}, {}, {}
        self.replacement = None
        file = os.path.join(directory, "data/login.keyring.json")
        self.login = Collection("Login", file)
        self.login.lock(is_locked)
        self.collections = [self.login, Collection("session")]
        self.export(ROOT, self, SERVICE, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")
        self.export(ROOT + "/aliases/default", self.login, COLLECTION)
        for collection in self.collections:
            self.export(collection.path, collection, COLLECTION)
            for item in collection.items:
                self.export(item.path, item, ITEM)

    # Objects

    def export(self, path, thing, *names):
        ids = [
            self.connection.register_object(path, interface, self.called)
            for interface in interfaces(*names, "org.freedesktop.DBus.Properties")]
        self.objects[path] = (thing, ids)

    def withdraw(self, path):
        for number in self.objects.pop(path)[1]:
            self.connection.unregister_object(number)

    def called(self, _connection, _sender, path, interface, method, arguments, invocation):
        name = interface.rsplit(".", 1)[1] + "_" + method
        try:
            thing = self.objects[path][0]
            answer = getattr(self, name)(thing, arguments, invocation)
        except Refusal as refusal:
            invocation.return_dbus_error(refusal.name, str(refusal))
        else:
            if answer is not None:
                invocation.return_value(answer)

    def is_told(self, name):
        return os.path.exists(os.path.join(self.directory, name))

    def properties(self):
        return {"Collections": GLib.Variant("ao", [collection.path for collection in self.collections])}

    def Properties_Get(self, thing, arguments, _):
        properties = thing.properties()
        name = arguments.unpack()[1]
        if name not in properties:
            raise failed(f"Cannot get {name} of a locked object.")
        return GLib.Variant("(v)", (properties[name],))

    def Properties_GetAll(self, thing, _arguments, _):
        return GLib.Variant("(a{sv})", (thing.properties(),))

    def Properties_Set(self, thing, arguments, _):
        _, name, value = arguments.unpack()
        if thing.is_locked:
            raise failed("Cannot set a property of a locked object.")
        if name == "Attributes":
            thing.attributes = {CONTENT_TYPE: thing.attributes[CONTENT_TYPE]} | value
        else:
            setattr(thing, name.lower(), value)
        return GLib.Variant("()", ())

    # The service

    def Service_OpenSession(self, _thing, arguments, _):
        algorithm, theirs = arguments.unpack()
        if algorithm not in ("plain", ENCRYPTED):
            raise Refusal("org.freedesktop.DBus.Error.InvalidArgs", "Invalid algorithm")
        key, ours = None, GLib.Variant("ay", b"")
        if algorithm == ENCRYPTED:
            private = int.from_bytes(secrets.token_bytes(16), "big")
            public = pow(2, private, PRIME)
            shared = pow(int.from_bytes(bytes(theirs), "big"), private, PRIME).to_bytes(128, "big")
            extracted = hmac.digest(bytes(32), shared, hashlib.sha256)
            key = hmac.digest(extracted, b"\x01", hashlib.sha256)[:16]
            ours = variant_of_bytes(public.to_bytes((public.bit_length() + 7) // 8, "big"))
        path = f"{ROOT}/session/s{len(self.sessions)}"
        self.sessions[path] = Session(path, key)
        return GLib.Variant.new_tuple(GLib.Variant.new_variant(ours), GLib.Variant("o", path))

    def session(self, path):
        if path not in self.sessions:
            raise Refusal(SECRET + "Error.NoSession", "The session does not exist.")
        return self.sessions[path]

    def decode(self, secret):
        session, iv, data = (secret.get_child_value(n) for n in range(3))
        kind = secret.get_child_value(3).get_string().split(";")[0].strip().lower()
        if kind not in CONTENT_TYPES:
            raise Refusal("org.freedesktop.DBus.Error.InvalidArgs", "Invalid content type " + kind)
        key = self.session(session.get_string()).key
        iv, data = (value.get_data_as_bytes().get_data() or b"" for value in (iv, data))
        return cipher(key, iv, data, False) if key else data, CONTENT_TYPES[kind]

    def Service_SearchItems(self, _thing, arguments, invocation):
        found = [item for collection in self.collections for item in collection.found(arguments.unpack()[0])]
        invocation.return_value(GLib.Variant("(aoao)", (
            [item.path for item in found if not item.is_locked], [item.path for item in found if item.is_locked])))
        if self.replacement:
            replacement, self.replacement = self.replacement, None
            replacement()

    def Service_ReadAlias(self, _thing, arguments, _):
        is_default = arguments.unpack()[0] in ("default", "login")
        return GLib.Variant("(o)", (self.login.path if is_default else "/",))

    def named(self, paths):
        """The collections that these paths are, or are in."""
        paths = [self.login.path if path.startswith(ROOT + "/aliases/") else path for path in paths]
        return [c for c in self.collections if any((path + "/").startswith(c.path + "/") for path in paths)]

    def Service_Lock(self, _thing, arguments, _):
        paths = arguments.unpack()[0]
        for collection in self.named(paths):
            collection.lock(True)
        return GLib.Variant("(aoo)", (paths, "/"))

    def Service_Unlock(self, _thing, arguments, _):
        paths = arguments.unpack()[0]
        locked = [collection.path for collection in self.named(paths) if collection.is_locked]
        if not locked:
            return GLib.Variant("(aoo)", (paths, "/"))
        prompt = f"{ROOT}/prompt/p{len(self.prompts)}"
        self.prompts[prompt] = locked
        self.export(prompt, prompt, SECRET + "Prompt")
        return GLib.Variant("(aoo)", ([], prompt))

    def Prompt_Prompt(self, prompt, _arguments, _):
        if self.is_told("oo7-never-prompts"):
            raise Refusal("org.freedesktop.zbus.Error", "CLI prompter not available")
        for collection in self.named(self.prompts[prompt]):
            collection.lock(False)
        completed = GLib.Variant("(bv)", (False, GLib.Variant("ao", self.prompts[prompt])))
        self.connection.emit_signal(None, prompt, SECRET + "Prompt", "Completed", completed)
        return GLib.Variant("()", ())

    def InternalUnsupportedGuiltRiddenInterface_UnlockWithMasterPassword(self, _thing, _arguments, _):
        self.login.lock(False)
        return GLib.Variant("()", ())

    def Service_GetSecrets(self, _thing, arguments, _):
        paths, session = arguments.unpack()
        session = self.session(session)
        found = [item for collection in self.collections for item in collection.items if item.path in set(paths)]
        entries = [
            GLib.Variant.new_dict_entry(GLib.Variant("o", item.path), session.encode(item))
            for item in found if not item.is_locked]
        return GLib.Variant.new_tuple(GLib.Variant.new_array(GLib.VariantType("{o(oayays)}"), entries))

    # A collection

    def Collection_SearchItems(self, collection, arguments, _):
        return GLib.Variant("(ao)", ([item.path for item in collection.found(arguments.unpack()[0])],))

    def Collection_CreateItem(self, collection, arguments, invocation):
        properties, replaces = arguments.get_child_value(0).unpack(), arguments.get_child_value(2).get_boolean()
        if collection.is_locked:
            raise Refusal("org.freedesktop.DBus.Error.NotSupported", "The stand-in unlocks by Unlock alone.")
        secret, kind = self.decode(arguments.get_child_value(1))
        attributes = {CONTENT_TYPE: kind} | properties[ITEM + ".Attributes"]
        item = Item(collection.next_path(), attributes, properties[ITEM + ".Label"], secret)
        if replaces:
            collection.records = [record for record in collection.records if record[0] != attributes]
        collection.records.append(item.record())
        collection.write()
        old = [other for other in collection.items if replaces and other.attributes == attributes]
        for other in old:
            collection.items.remove(other)
            self.withdraw(other.path)

        def add():
            collection.items.append(item)
            self.export(item.path, item, ITEM)
            invocation.return_value(GLib.Variant("(oo)", (item.path, "/")))

        if old and self.is_told("oo7-holds-replacement"):
            self.replacement = add
            order = os.path.join(self.directory, "oo7-holds-replacement")
            os.rename(order, os.path.join(self.directory, "oo7-is-replacing"))
        else:
            add()

    # An item

    def Item_Delete(self, item, _arguments, _):
        collection = self.named([item.path])[0]
        if item.is_locked:
            raise Refusal("org.freedesktop.DBus.Error.NotSupported", "The stand-in unlocks by Unlock alone.")
        collection.records = [
            record for record in collection.records if not item.attributes.items() <= record[0].items()]
        collection.write()
        collection.items.remove(item)
        self.withdraw(item.path)
        return GLib.Variant("(o)", ("/",))

    def Item_GetSecret(self, item, arguments, _):
        if item.is_locked:
            raise is_locked_error(item.path)
        return GLib.Variant.new_tuple(self.session(arguments.unpack()[0]).encode(item))

    def Item_SetSecret(self, item, arguments, _):
        secret, kind = self.decode(arguments.get_child_value(0))
        if item.is_locked:
            raise is_locked_error(item.path)
        item.secret = secret
        item.attributes = item.attributes | {CONTENT_TYPE: kind}
        item.modified = int(time.time())
        return GLib.Variant("()", ())


def main():
    daemon = Daemon(sys.argv[1], "--locked" in sys.argv)
    Gio.bus_own_name_on_connection(
        daemon.connection, "org.freedesktop.secrets", Gio.BusNameOwnerFlags.DO_NOT_QUEUE, None,
        lambda *_: sys.exit("The name is taken."))
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
