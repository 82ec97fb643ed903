"""One keyring and two languages, with refresh tokens that work once and with such that stay good."""
import json
import sys

import msal

from peers import ALICE, PLAIN, Lab, check, finish, llavero, token_hash, worker

SCOPES = ["User.Read"]


def app(lab, cache):
    # With discovery on, a silent call that finds nothing asks login.microsoftonline.com for aliases.
    return msal.PublicClientApplication(
        PLAIN, authority=lab.authority, token_cache=cache, instance_discovery=False)


def refresh_tokens(cache):
    return list(cache.search(cache.CredentialType.REFRESH_TOKEN))


def rounds(lab, rotating):
    group = "org.example.rotating" if rotating else "org.example.lasting"
    kind = "rotating" if rotating else "lasting"
    lab.tell(reset={})
    lab.tell(configure={"strictRefreshTokens": rotating, "deviceInterval": 1})

    cache = msal.SerializableTokenCache()
    python = app(lab, cache)
    flow = python.initiate_device_flow(SCOPES)
    lab.tell(approveDevice={"userCode": flow["user_code"], "user": "alice"})
    signed_in = python.acquire_token_by_device_flow(flow)
    check(f"{kind}: Python signs in", "access_token" in signed_in, signed_in)
    llavero("import", "-", stdin=cache.serialize(), group=group)

    listed = worker("accounts", lab.authority, group=group)
    home = python.get_accounts()[0]["home_account_id"]
    check(f"{kind}: Swift finds Python's account", listed.get("accounts") == [home], listed)
    cached = worker("silent", lab.authority, group=group)
    check(f"{kind}: Swift takes Python's access token from the cache",
          cached.get("tokenHash") == token_hash(signed_in["access_token"]) and cached["source"] == "cache", cached)

    tokens = {signed_in["access_token"]}
    for number in (1, 2):
        before = refresh_tokens(cache)[0]["secret"]
        lab.tell(clearLog={})
        renewed = worker("force", lab.authority, "--reveal", group=group)
        sent = [entry["form"].get("refresh_token") for entry in lab.log("token")]
        check(f"{kind}: Swift renews with Python's refresh token, round {number}",
              renewed.get("source") == "network" and sent == [before], renewed)
        check(f"{kind}: for the same account, round {number}",
              renewed.get("account") == home and renewed.get("username") == ALICE, renewed)
        tokens.add(renewed.get("token"))

        exported = llavero("export", group=group)
        cache = msal.SerializableTokenCache()
        cache.deserialize(exported)
        python = app(lab, cache)
        account, = python.get_accounts()
        check(f"{kind}: the cache holds one account and one refresh token, round {number}",
              len(refresh_tokens(cache)) == 1, exported)
        silent = python.acquire_token_silent(SCOPES, account)
        check(f"{kind}: Python takes Swift's access token from the cache, round {number}",
              silent and silent["access_token"] == renewed.get("token"))
        lab.tell(clearLog={})
        mine = refresh_tokens(cache)[0]["secret"]
        again = python.acquire_token_silent_with_error(SCOPES, account, force_refresh=True)
        sent = [entry["form"].get("refresh_token") for entry in lab.log("token")]
        check(f"{kind}: Python renews with Swift's refresh token, round {number}",
              "access_token" in again and sent == [mine] and mine != before, again)
        tokens.add(again.get("access_token"))
        llavero("import", "-", stdin=cache.serialize(), group=group)

    last = worker("silent", lab.authority, "--reveal", group=group)
    check(f"{kind}: Swift takes Python's last access token", last.get("token") == again["access_token"], last)
    check(f"{kind}: every renewal gave another token", len(tokens) == 5, len(tokens))
    stored = json.loads(llavero("export", group=group))
    newest, = refresh_tokens(cache)
    kept = [token["secret"] for token in stored["RefreshToken"].values()]
    check(f"{kind}: the newest refresh token is in the keyring, alone", kept == [newest["secret"]], len(kept))
    final = worker("force", lab.authority, group=group)
    check(f"{kind}: and it works", final.get("source") == "network", final)
    out = worker("signout", lab.authority, group=group)
    left = json.loads(llavero("export", group=group))
    check(f"{kind}: signing out leaves no token", out.get("accounts") == []
          and not any(left.get(section) for section in ("AccessToken", "RefreshToken", "IdToken")), left)


# MSAL for Python knows clouds by their host without a port, so the lab takes the port that needs none.
with Lab(port=443) as lab:
    if lab.base != "https://localhost":
        sys.exit(f"The lab is at {lab.base}, where the two name the cloud differently.")
    for rotating in (True, False):
        rounds(lab, rotating)
finish()
