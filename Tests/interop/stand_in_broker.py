#!/usr/bin/python3
"""Stands in for the identity broker on the session bus, in any of its four kinds, and misbehaves as it is told.

It knows no server: its tokens are unsigned JSON Web Tokens that only tests accept. What it does stands in a JSON
file that is read at each call, so that a test changes it while the broker runs:

  accounts   the accounts, as getAccounts lists them
  do         what to do by method, "renew" where a token is to be replaced, "*" for all others: "ok", or a name in
             MISBEHAVIOUR, REFUSALS, or "dbus:" and a text, or "hold": nothing until there is another order
  token      the access token to give in place of a new one each time
  refresh    a refresh token to slip in
  fields     members of brokerTokenResponse to change; null takes one out

Each call is a line of JSON in the log: method, version, id, body.
"""
import argparse
import base64
import json
import os
import signal
import sys
import time
import uuid

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "com.microsoft.identity.broker1"
PATH = "/com/microsoft/identity/broker1"
INTERFACE = "com.microsoft.identity.Broker1"
METHODS = [
    "acquireTokenInteractively", "acquireTokenSilently", "getAccounts", "removeAccount", "acquirePrtSsoCookie",
    "generateSignedHttpRequest", "cancelInteractiveFlow", "getLinuxBrokerVersion",
]
KINDS = {"java": "2.0.1", "native": "3.0.2", "himmelblau-3": "3.1.9", "himmelblau-4": "4.0.0"}

ALICE = {
    "environment": "login.windows.net", "givenName": "Alice", "familyName": "Example", "name": "Alice Example",
    "username": "alice@contoso.test", "homeAccountId": "a11ce000-0000-4000-8000-000000000001."
    "70000000-0000-4000-8000-000000000001", "localAccountId": "a11ce000-0000-4000-8000-000000000001",
    "realm": "70000000-0000-4000-8000-000000000001", "passwordExpiry": 0,
}

REFUSALS = {
    "interaction": (2, "AADSTS50078: Presented multi-factor authentication has expired.", "interaction_required",
                    "basic_action"),
    "expired": (2, "Recieved an error from AAD. Code: 'invalid_grant' description: '(pii)' correlation id: "
                   "'11111111-2222-4333-8444-555555555555' suberror: 'token_expired'", "invalid_grant", "token_expired"),
    "no-network": (3, "There is no network.", None, None),
    "busy": (5, "AADSTS90033: A transient error has occurred.", None, None),
    "cancelled": (7, "The person closed the window.", None, None),
    "dropped": (8, "The application cancelled the request.", None, None),
    "refused": (9, "AADSTS50011: The redirect URI is not registered.", "invalid_request", None),
    "unusable": (13, "AADSTS53003: Access has been blocked by Conditional Access policies.", None, None),
    "removal": (14, "The account was deleted.", None, None),
    "unexpected": (0, "Something went wrong near eyJhbGciOiJub25lIn0.eyJzZWNyZXQiOiJzZWNyZXQifQ.c2VjcmV0.", None, None),
    "unknown-status": (4711, "An unknown status.", None, None),
    "names": (0, "AADSTS50034: alice@contoso.test does not exist, see /home/alice/.cache.", None, None),
    "names-account": (2, "AADSTS50078: alice@contoso.test, suberror: 'alice@contoso.test'", "invalid_grant", None),
    "unregistered": (20, "The device is not registered.", None, None),
}

MISBEHAVIOUR = ["empty", "malformed", "wrong-json", "wrong-type", "large", "never", "die", "other-account"]


def encode(fields):
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()


def web_token(**claims):
    return ".".join([encode({"alg": "HS256", "typ": "JWT"}), encode(claims), "c2lnbmF0dXJl"])


class Broker:
    def __init__(self, kind, control, log):
        self.kind, self.control, self.log = kind, control, log
        self.is_himmelblau = kind.startswith("himmelblau")
        self.waiting = []

    def orders(self):
        with open(self.control, encoding="utf-8") as file:
            return json.load(file)

    def accounts(self, orders):
        accounts = orders.get("accounts", [ALICE])
        if not self.is_himmelblau:
            return accounts
        # The login's user alone, with the name that is shown and no other.
        return [
            {**{name: value for name, value in account.items() if name not in ("familyName", "clientInfo")},
             "givenName": account["name"]}
            for account in accounts[:1]
        ]

    # Answers

    def refusal(self, status, context, code=None, suberror=None, is_token=True):
        if self.kind == "himmelblau-3":
            return ""
        error = {"context": context, "status": status, "subStatus": 0}
        if self.is_himmelblau:
            error["status"] = 0 if status not in (2,) else status
            return json.dumps({"brokerTokenResponse": {"error": error}} if is_token else {"error": error})
        error |= {"errorCode": 0, "tag": 595719680}
        if self.kind == "java":
            error["diagnostics"] = {"raw_error_code": code, "oauth2_sub_error_code": suberror}
            response = {"accessTokenType": 0, "error": error, "expiresOn": 0, "extendedExpiresOn": 0}
        else:
            error["diagnostics"] = None
            response = {"error": error, "subError": ""}
        telemetry = {"broker_version": KINDS[self.kind]}
        return json.dumps(
            {"brokerTokenResponse": response, "telemetry": telemetry} if is_token else {"error": error})

    def token(self, request, orders, account=None):
        parameters = request["authParameters"]
        accounts = self.accounts(orders)
        asked = parameters.get("account") or request.get("account")
        if account is None:
            if self.is_himmelblau and not (asked or {}).get("username"):
                return self.refusal(0, "Missing account username in request")
            if asked is not None and asked not in accounts:
                return self.refusal(16, "Unable to find account")
            account = asked or (accounts[0] if accounts else None)
        if account is None:
            return self.refusal(16 if not self.is_himmelblau else 0, "Unable to find account")
        now = int(time.time())
        uid, tenant = account["homeAccountId"].split(".")
        claims = {
            "aud": parameters["clientId"], "iss": f"https://login.microsoftonline.com/{account['realm']}/v2.0",
            "oid": account["localAccountId"], "tid": account["realm"], "sub": "subject of " + uid,
            "preferred_username": account["username"], "name": account["name"],
            "iat": now, "nbf": now, "exp": now + 3600,
        }
        token = orders.get("token") or web_token(
            aud="00000003-0000-0000-c000-000000000000", exp=now + 4242, iat=now, jti=str(uuid.uuid4()),
            deviceid="de000000-0000-4000-8000-000000000001", scp=" ".join(parameters["requestedScopes"]))
        response = {
            "accessToken": token, "accessTokenType": 0, "clientInfo": encode({"uid": uid, "utid": tenant}),
            "expiresOn": (now + 3600) * 1000, "extendedExpiresOn": (now + 7200) * 1000,
            "grantedScopes": " ".join(parameters["requestedScopes"] + ["openid", "profile"]),
            "idToken": web_token(**claims), "refreshToken": orders.get("refresh", ""),
        }
        if self.kind == "java":
            response["account"] = account
        if self.is_himmelblau:
            response["extendedExpiresOn"] = now + 7200
        if self.kind == "himmelblau-3":
            response["expiresOn"] = now * 1000 + 3600
        for name, value in orders.get("fields", {}).items():
            response[name] = value
            if value is None:
                del response[name]
        return json.dumps({"brokerTokenResponse": response})

    def cookie(self, request, orders):
        # Himmelblau takes the account beside the parameters only, newer ones of Microsoft's inside of them only.
        account = request["authParameters"].get("account") if self.kind == "native" else request.get("account")
        if account not in self.accounts(orders):
            return self.refusal(0, "Unable to find account", is_token=False)
        item = {"cookieName": "x-ms-RefreshTokenCredential", "cookieContent": web_token(request_nonce="1")}
        return json.dumps({"cookieItems": [item]} if self.kind == "native" else {"account": account} | item)

    def answer(self, method, request, orders):
        if method == "getLinuxBrokerVersion":
            return json.dumps({"linuxBrokerVersion": KINDS[self.kind]})
        if method == "getAccounts":
            accounts = self.accounts(orders)
            if self.is_himmelblau and not accounts:
                return self.refusal(0, "Unable to find account", is_token=False)
            return json.dumps({"accounts": accounts})
        if method in ("acquireTokenSilently", "acquireTokenInteractively"):
            kinds = {"acquireTokenSilently": 1, "acquireTokenInteractively": 6}
            if self.kind == "native" and request["authParameters"]["authorizationType"] != kinds[method]:
                return self.refusal(6, "The authorization type does not fit the method.")
            return self.token(request, orders)
        if method == "acquirePrtSsoCookie":
            return self.cookie(request, orders)
        if self.is_himmelblau:
            return self.refusal(0, "Not implemented", is_token=False)
        if method == "generateSignedHttpRequest":
            return json.dumps({"signedHttpRequest": web_token(u=request["popParams"]["uriHost"])})
        return "{}"

    # Calls

    def called(self, connection, _sender, _path, _interface, method, arguments, invocation):
        version, correlation, text = arguments.unpack()
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(
                {"method": method, "version": version, "id": correlation, "body": json.loads(text)}) + "\n")
        self.do(connection, method, arguments, invocation)

    def do(self, connection, method, arguments, invocation):
        orders = self.orders()
        do = orders.get("do", {})
        what = do.get(method, do.get("*", "ok"))
        if "renew" in do and json.loads(arguments.unpack()[2]).get("authParameters", {}).get("accessTokenToRenew"):
            what = do["renew"]
        is_token = method.startswith("acquireToken")
        if what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "hold":
            GLib.timeout_add(20, lambda: self.do(connection, method, arguments, invocation))
        elif what == "never":
            self.waiting.append(invocation)
        elif what.startswith("dbus-error:"):
            invocation.return_dbus_error(what[11:], "no")
        elif what.startswith("dbus:"):
            invocation.return_dbus_error("org.freedesktop.DBus.Error.Failed", what[5:])
        elif what == "wrong-type":
            reply = invocation.get_message().new_method_reply()
            reply.set_body(GLib.Variant("(i)", (1,)))
            connection.send_message(reply, Gio.DBusSendMessageFlags.NONE)
        else:
            text = {
                "empty": "", "malformed": '{"accounts":[{', "large": json.dumps({"x": "x" * (2 << 20)}),
                "wrong-json": json.dumps(
                    {"accounts": 1, "brokerTokenResponse": {"accessToken": 2}, "linuxBrokerVersion": [],
                     "cookieItems": {}, "signedHttpRequest": None}),
            }.get(what)
            if what in REFUSALS:
                text = self.refusal(*REFUSALS[what], is_token=is_token)
            elif what == "other-account" and is_token:
                other = orders.get("accounts", [ALICE])[0] | {
                    "homeAccountId": "0770e000-0000-4000-8000-000000000002."
                    "70000000-0000-4000-8000-000000000001", "username": "other@contoso.test", "name": "Other",
                    "localAccountId": "0770e000-0000-4000-8000-000000000002"}
                text = self.token(json.loads(arguments.unpack()[2]), orders, account=other)
            elif text is None:
                text = self.answer(method, json.loads(arguments.unpack()[2]), orders)
            invocation.return_value(GLib.Variant("(s)", (text,)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS, default="native")
    parser.add_argument("--control", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--second", action="store_true", help="have the name when another broker gives it up")
    options = parser.parse_args()
    broker = Broker(options.kind, options.control, options.log)
    methods = "".join(
        f'<method name="{method}">' + '<arg type="s" direction="in"/>' * 3 + '<arg type="s" direction="out"/></method>'
        for method in METHODS)
    node = Gio.DBusNodeInfo.new_for_xml(f'<node><interface name="{INTERFACE}">{methods}</interface></node>')
    loop = GLib.MainLoop()
    connection = Gio.bus_get_sync(Gio.BusType.SESSION)
    connection.register_object(PATH, node.interfaces[0], broker.called)

    def acquired(*_):
        print("ready", flush=True)

    if options.second:
        # Waiting for the name is not to have it.
        Gio.bus_own_name_on_connection(connection, NAME, Gio.BusNameOwnerFlags.NONE, None, acquired)
    else:
        Gio.bus_own_name_on_connection(
            connection, NAME, Gio.BusNameOwnerFlags.DO_NOT_QUEUE, acquired, lambda *_: sys.exit("The name is taken."))
    loop.run()


if __name__ == "__main__":
    main()
