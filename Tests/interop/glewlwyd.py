"""The client against Glewlwyd: code with PKCE, device code, and refresh tokens that work once."""
import json
import sqlite3
import sys

import requests

from glewlwyd_server import CLIENT, EXPIRATION, INTERVAL, Glewlwyd
from peers import DIRECTORY, Worker, check, finish, free_port, llavero, wait

redirect_uri = f"http://localhost:{free_port()}/callback"
BROWSER = f"{sys.executable} {DIRECTORY}/glewlwyd_browser.py"


def start(server, action, *arguments):
    return Worker(action, server.authority, "--oidc", "--scopes", "mail", "--redirect-uri", redirect_uri,
                  *arguments, client=CLIENT, BROWSER=BROWSER)


def run(server, action, *arguments):
    return start(server, action, *arguments).outcomes()[-1]


def cache():
    return json.loads(llavero("export"))


def refresh_tokens():
    return [token["secret"] for token in cache().get("RefreshToken", {}).values()]


def newest(server, column, table):
    """A column of the newest row."""
    with sqlite3.connect(server.path("database"), timeout=10) as database:
        return database.execute(f"SELECT {column} FROM {table} ORDER BY rowid DESC LIMIT 1").fetchone()[0]


def last_poll(server):
    return newest(server, "gpoda_last_check", "gpo_device_authorization")


def next_poll(server, after):
    return wait("a poll", lambda: (last := last_poll(server)) != after and last)


def renewals(server, kind, account):
    seen = refresh_tokens()
    check(f"{kind}: there is one refresh token", len(seen) == 1, len(seen))
    for number in (1, 2, 3):
        renewed = run(server, "force")
        check(f"{kind}: renewal {number} gives a token to the same account",
              renewed.get("source") == "network" and renewed.get("account") == account, renewed)
        now = refresh_tokens()
        check(f"{kind}: renewal {number} leaves one refresh token, a new one",
              len(now) == 1 and now[0] not in seen, len(now))
        seen += now
    check(f"{kind}: the token is in the cache", run(server, "silent").get("source") == "cache")
    return seen


with Glewlwyd(redirect_uri) as server:
    signed_in = run(server, "interactive")
    check("code with PKCE by form_post gives a token", signed_in.get("source") == "network", signed_in)
    spent = renewals(server, "code", signed_in.get("account"))
    replayed = requests.post(server.authority + "/token", data={
        "client_id": CLIENT, "grant_type": "refresh_token", "refresh_token": spent[0]})
    check("Glewlwyd refuses a refresh token that was spent", replayed.status_code == 400, replayed.text)

    out = run(server, "signout")
    left = cache()
    check("signing out leaves no account of the client and no token", out.get("accounts") == [] and not any(
        left.get(section) for section in ("AccessToken", "RefreshToken", "IdToken")), left)

    running = start(server, "device")
    shown = json.loads(running.line())
    code = shown["verificationURI"].split("code=")[-1] if "code=" in shown["verificationURI"] else shown["userCode"]
    # As if another request had come just before the client's: Glewlwyd then says slow_down of its own accord.
    with sqlite3.connect(server.path("database"), timeout=10) as database:
        database.execute("UPDATE gpo_device_authorization SET gpoda_last_check = strftime('%s', 'now') + 3600")
    first = next_poll(server, last_poll(server))
    page = server.person().get(f"{server.authority}/device", params={"code": code, "g_continue": ""})
    check("the person approves the device code", "deviceComplete" in page.url, page.url)
    outcome = running.outcomes()[-1]
    check("device code gives a token", outcome.get("source") == "network", outcome)
    # By Glewlwyd's own clock, which a busy machine does not delay, in whole seconds. It notes no time of the last poll, but that of
    # the token.
    until_first = first - newest(server, "gpoda_expires_at", "gpo_device_authorization") + EXPIRATION
    waited = newest(server, "gpor_issued_at", "gpo_refresh_token") - last_poll(server)
    check("the first poll came after the interval", until_first >= INTERVAL, until_first)
    check("after slow_down the client waits five seconds more", waited >= INTERVAL + 5, waited)
    renewals(server, "device code", outcome.get("account"))
finish()
