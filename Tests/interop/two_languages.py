"""One keyring and two languages, with refresh tokens that work once and with such that stay good.

MSAL for Python has a cache of its own, which llavero imports and exports, or shares an item of msal-extensions with Swift.
"""
import os

import msal
from msal_extensions import LibsecretPersistence, PersistedTokenCache

from peers import ALICE, Lab, check, finish, llavero, msal_app, token_hash, worker

SCOPES = ["User.Read"]
KINDS = msal.TokenCache.CredentialType


class Carried:
    """A cache in memory. llavero imports it into a group and exports it from there."""

    options = []

    def __init__(self, name):
        self.group, self.cache = f"org.example.{name}", msal.SerializableTokenCache()

    def write(self):
        llavero("import", "-", stdin=self.cache.serialize(), group=self.group)

    def read(self):
        self.cache = msal.SerializableTokenCache()
        self.cache.deserialize(llavero("export", group=self.group))


class Shared:
    """An item that both read and write, each by itself."""

    def __init__(self, name):
        directory = f"{os.environ['HOME']}/.{name}"
        os.mkdir(directory, 0o700)
        self.group, self.options = f"org.example.{name}", ["--share", f"{directory}/cache"]
        self.cache = PersistedTokenCache(LibsecretPersistence(self.options[1]))

    def write(self):
        pass

    def read(self):
        pass


def secrets(cache, kind=KINDS.REFRESH_TOKEN):
    return [token["secret"] for token in cache.search(kind)]


def rounds(lab, kind, place, rotating):
    lab.tell(reset={})
    lab.tell(configure={"strictRefreshTokens": rotating, "deviceInterval": 1})

    def swift(action, *arguments):
        return worker(action, lab.authority, *arguments, *place.options, group=place.group)

    def sent():
        return [entry["form"].get("refresh_token") for entry in lab.log("token")]

    python = msal_app(lab, place.cache)
    flow = python.initiate_device_flow(SCOPES)
    lab.tell(approveDevice={"userCode": flow["user_code"], "user": "alice"})
    signed_in = python.acquire_token_by_device_flow(flow)
    check(f"{kind}: Python signs in", "access_token" in signed_in, signed_in)
    place.write()

    listed = swift("accounts")
    home = python.get_accounts()[0]["home_account_id"]
    check(f"{kind}: Swift finds Python's account", listed.get("accounts") == [home], listed)
    cached = swift("silent")
    check(f"{kind}: Swift takes Python's access token from the cache",
          cached.get("tokenHash") == token_hash(signed_in["access_token"]) and cached["source"] == "cache", cached)

    tokens = {signed_in["access_token"]}
    for number in (1, 2):
        before, = secrets(place.cache)
        lab.tell(clearLog={})
        renewed = swift("force", "--reveal")
        check(f"{kind}: Swift renews with Python's refresh token, round {number}",
              renewed.get("source") == "network" and sent() == [before], renewed)
        check(f"{kind}: for the same account, round {number}",
              renewed.get("account") == home and renewed.get("username") == ALICE, renewed)
        tokens.add(renewed.get("token"))

        place.read()
        # Python goes on running where it shares the item.
        if python.token_cache is not place.cache:
            python = msal_app(lab, place.cache)
        account, = python.get_accounts()
        mine = secrets(place.cache)
        check(f"{kind}: the cache holds one account and one refresh token, round {number}", len(mine) == 1, len(mine))
        silent = python.acquire_token_silent(SCOPES, account)
        check(f"{kind}: Python takes Swift's access token from the cache, round {number}",
              silent and silent["access_token"] == renewed.get("token"))
        lab.tell(clearLog={})
        again = python.acquire_token_silent_with_error(SCOPES, account, force_refresh=True)
        check(f"{kind}: Python renews with Swift's refresh token, round {number}",
              "access_token" in again and sent() == mine and mine != [before], again)
        tokens.add(again.get("access_token"))
        place.write()

    last = swift("silent", "--reveal")
    check(f"{kind}: Swift takes Python's last access token", last.get("token") == again["access_token"], last)
    check(f"{kind}: every renewal gave another token", len(tokens) == 5, len(tokens))
    newest = secrets(place.cache)
    place.read()
    kept = secrets(place.cache)
    check(f"{kind}: the newest refresh token is in the keyring, alone", kept == newest and len(kept) == 1, len(kept))
    final = swift("force")
    check(f"{kind}: and it works", final.get("source") == "network", final)
    out = swift("signout")
    place.read()
    check(f"{kind}: signing out leaves no token", out.get("accounts") == [] and not any(
        secrets(place.cache, kind) for kind in (KINDS.ACCESS_TOKEN, KINDS.REFRESH_TOKEN, KINDS.ID_TOKEN)), out)
    # A group keeps the account that others may know.
    if isinstance(place, Shared):
        check(f"{kind}: and running Python sees no account", python.get_accounts() == [])


with Lab() as lab:
    rounds(lab, "rotating", Carried("rotating"), rotating=True)
    rounds(lab, "lasting", Carried("lasting"), rotating=False)
    rounds(lab, "shared", Shared("shared"), rotating=True)
finish()
