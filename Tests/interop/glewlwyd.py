"""The client against Glewlwyd: code with PKCE, device code, and refresh tokens that work once."""
import json
import sqlite3
import sys
import time

import requests

from glewlwyd_server import CLIENT, INTERVAL, Glewlwyd
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


def last_poll(server):
    with sqlite3.connect(server.path("database"), timeout=10) as database:
        return database.execute("SELECT gpoda_last_check FROM gpo_device_authorization "
                                "ORDER BY gpoda_id DESC LIMIT 1").fetchone()[0]


def next_poll(server, after):
    wait("a poll", lambda: last_poll(server) != after)
    return time.monotonic()


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
    started = time.monotonic()
    code = shown["verificationURI"].split("code=")[-1] if "code=" in shown["verificationURI"] else shown["userCode"]
    # As if another request had come just before the client's: Glewlwyd then says slow_down of its own accord.
    with sqlite3.connect(server.path("database"), timeout=10) as database:
        database.execute("UPDATE gpo_device_authorization SET gpoda_last_check = strftime('%s', 'now') + 3600")
    first = next_poll(server, last_poll(server))
    page = server.person().get(f"{server.authority}/device", params={"code": code, "g_continue": ""})
    check("the person approves the device code", "deviceComplete" in page.url, page.url)
    outcome = running.outcomes()[-1]
    waited = time.monotonic() - first
    check("device code gives a token", outcome.get("source") == "network", outcome)
    # Limits below alone: on a busy machine anything may take longer.
    check("the first poll came after the interval", first - started > INTERVAL - 0.5, first - started)
    check("after slow_down the client waits five seconds more", waited > INTERVAL + 4.5, waited)
    renewals(server, "device code", outcome.get("account"))
finish()
