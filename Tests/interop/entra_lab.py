"""MSAL for Python, unmodified, against a running lab."""
import base64
import json
import os

import jwt
import msal
import requests

import peers
from browser import Browser
from peers import BROWSER, CONTOSO, PLAIN, check, finish, msal_app

MAIL = "c0000000-0000-4000-8000-0000000000f1"
CALENDAR = "c0000000-0000-4000-8000-0000000000f2"
FABRIKAM = "33333333-3333-3333-3333-333333333333"
SCOPES = ["User.Read"]


class Lab(peers.Lab):
    def app(self, client=PLAIN, tenant="common", cache=None, **options):
        return msal_app(self, cache, client, f"{self.base}/{tenant}", **options)

    def graph(self, token, path="/v1.0/me"):
        return requests.get(self.base + path, headers={"Authorization": "Bearer " + token})

    def verified(self, token, client):
        metadata = requests.get(f"{self.base}/{CONTOSO}/v2.0/.well-known/openid-configuration").json()
        key = jwt.PyJWKClient(metadata["jwks_uri"]).get_signing_key_from_jwt(token)
        return jwt.decode(token, key.key, algorithms=["RS256"], audience=client, issuer=metadata["issuer"])


def device_code(lab):
    lab.tell(configure={"deviceInterval": 1})
    app = lab.app()
    flow = app.initiate_device_flow(SCOPES)
    assert flow["verification_uri"] == lab.base + "/common/oauth2/deviceauth"
    pending = app.acquire_token_by_device_flow(flow, exit_condition=lambda flow: True)
    assert pending["error"] == "authorization_pending", pending
    lab.tell(approveDevice={"userCode": flow["user_code"], "user": "alice"})
    result = app.acquire_token_by_device_flow(flow)
    assert lab.graph(result["access_token"]).json()["mail"] == "alice@contoso.test", result

    flow = app.initiate_device_flow(SCOPES)
    lab.tell(declineDevice={"userCode": flow["user_code"]})
    assert app.acquire_token_by_device_flow(flow)["error"] == "authorization_declined"

    flow = app.initiate_device_flow(SCOPES)
    page = requests.post(flow["verification_uri"], data={"otc": flow["user_code"].lower(), "user": "bob"})
    assert page.status_code == 200, page.text
    assert app.acquire_token_by_device_flow(flow)["id_token_claims"]["preferred_username"] == "bob@contoso.test"


def interactive(lab):
    cache = msal.SerializableTokenCache()
    app = lab.app(cache=cache, client_capabilities=None)
    os.environ["BROWSER_USER"] = "alice"
    result = app.acquire_token_interactive(SCOPES, timeout=60)
    assert "access_token" in result, result
    claims = lab.verified(result["id_token"], PLAIN)
    assert claims["tid"] == CONTOSO and "nonce" in claims
    sent = lab.log("authorize")[-1]["query"]
    assert sent["response_mode"] == "form_post" and sent["code_challenge_method"] == "S256", sent
    account, = app.get_accounts()
    assert account["home_account_id"] == claims["oid"] + "." + CONTOSO

    asked = len(lab.log("token"))
    assert app.acquire_token_silent(SCOPES, account)["access_token"] == result["access_token"]
    assert len(lab.log("token")) == asked
    renewed = app.acquire_token_silent(SCOPES, account, force_refresh=True)
    assert renewed["access_token"] != result["access_token"]
    other = app.acquire_token_silent(["Mail.Read"], account)
    assert "Mail.Read" in other["scope"]
    guest = lab.app(tenant=FABRIKAM, cache=cache).acquire_token_silent_with_error(SCOPES, account)
    assert "access_token" in guest, guest
    assert len(list(cache.search(cache.CredentialType.ID_TOKEN))) == 2

    denied = app.acquire_token_silent_with_error(["Files.ReadWrite.All"], account)
    assert denied["suberror"] == "consent_required" and denied["error_codes"] == [65001], denied
    os.environ["BROWSER_USER"] = "cancel"
    assert app.acquire_token_interactive(SCOPES, timeout=60)["error"] == "access_denied"
    return cache


def second_factor(lab):
    app = lab.app()
    os.environ["BROWSER_USER"] = "bob"
    app.acquire_token_interactive(SCOPES, timeout=60)
    account, = app.get_accounts()
    lab.tell(mfa={"user": "bob", "required": True, "scopes": ["Calendars.Read"]})
    refused = app.acquire_token_silent_with_error(["Calendars.Read"], account)
    assert refused["error"] == "invalid_grant" and refused["suberror"] == "basic_action", refused
    assert "capolids" in json.loads(refused["claims"])["access_token"], refused
    granted = app.acquire_token_interactive(
        ["Calendars.Read"], timeout=60, claims_challenge=refused["claims"], login_hint="bob@contoso.test")
    assert "Calendars.Read" in granted["scope"]
    assert "access_token" in app.acquire_token_silent(["Calendars.Read"], account, force_refresh=True)
    lab.tell(mfa={"user": "bob", "required": False})


def continuous_evaluation(lab):
    app = lab.app(client_capabilities=["cp1"])
    os.environ["BROWSER_USER"] = "alice"
    first = app.acquire_token_interactive(SCOPES, timeout=60)
    assert first["expires_in"] == 86400, first["expires_in"]
    assert lab.graph(first["access_token"]).status_code == 200
    lab.tell(revoke="alice")
    challenge = lab.graph(first["access_token"])
    assert challenge.status_code == 401
    header = challenge.headers["WWW-Authenticate"]
    assert 'error="insufficient_claims"' in header, header
    claims = base64.b64decode(header.split('claims="')[1].split('"')[0]).decode()
    account, = app.get_accounts()
    refused = app.acquire_token_silent_with_error(SCOPES, account, claims_challenge=claims)
    assert refused["error_codes"] == [50173], refused
    again = app.acquire_token_interactive(
        SCOPES, timeout=60, claims_challenge=claims, login_hint="alice@contoso.test")
    assert lab.graph(again["access_token"]).status_code == 200


def family(lab):
    cache = msal.SerializableTokenCache()
    os.environ["BROWSER_USER"] = "alice"
    mail = lab.app(MAIL, cache=cache)
    mail.acquire_token_interactive(SCOPES, timeout=60)
    account, = mail.get_accounts()
    second = lab.app(CALENDAR, cache=cache).acquire_token_silent(SCOPES, account)
    assert "access_token" in second, second
    token, = cache.search(cache.CredentialType.REFRESH_TOKEN, query={"client_id": MAIL})
    other = requests.post(lab.authority + "/oauth2/v2.0/token", data={
        "grant_type": "refresh_token", "client_id": PLAIN, "refresh_token": token["secret"], "scope": "User.Read"})
    assert other.json()["suberror"] == "client_mismatch", other.text


def personal(lab):
    app = lab.app(tenant="consumers")
    os.environ["BROWSER_USER"] = "carol"
    claims = app.acquire_token_interactive(SCOPES, timeout=60)["id_token_claims"]
    assert claims["tid"] == "9188040d-6c67-4c5b-b112-36a304b66dad"
    url = lab.app(tenant="organizations").initiate_auth_code_flow(SCOPES, redirect_uri="http://localhost")["auth_uri"]
    assert "AADSTS50020" in Browser().browse(url, "carol")


def variants(lab):
    os.environ["BROWSER_USER"] = "alice"
    policy = lab.app(tenant="contoso.onmicrosoft.com/b2c_1_signin")
    result = policy.acquire_token_interactive(SCOPES, timeout=60)
    assert result["id_token_claims"]["tfp"] == "b2c_1_signin", result
    account, = policy.get_accounts()
    assert account["home_account_id"].split(".")[0].endswith("-b2c_1_signin")
    adfs = lab.app(tenant="adfs")
    result = adfs.acquire_token_interactive(SCOPES, timeout=60)
    assert result["id_token_claims"]["upn"] == "alice@contoso.test" and "client_info" not in result, result
    account, = adfs.get_accounts()
    assert account["home_account_id"] == result["id_token_claims"]["sub"]
    generic = msal.PublicClientApplication(PLAIN, oidc_authority=f"{lab.base}/{CONTOSO}/v2.0")
    assert "access_token" in generic.acquire_token_interactive(SCOPES, timeout=60)


def instances(lab):
    discovery = f"{lab.base}/common/discovery/instance"
    known = msal.PublicClientApplication(PLAIN, authority=lab.authority, instance_discovery=discovery)
    assert known.authority.token_endpoint == lab.authority + "/oauth2/v2.0/token"
    try:
        lab.app(tenant="nowhere.test")
        raise AssertionError("an unknown tenant was accepted")
    except ValueError as error:
        assert "nowhere.test" in str(error)
    try:
        msal.PublicClientApplication(
            PLAIN, authority="https://evil.example/common", instance_discovery=discovery)
        raise AssertionError("an unknown instance was accepted")
    except ValueError as error:
        assert "invalid_instance" in str(error)


def sign_out(lab, cache):
    app = lab.app(cache=cache)
    for account in app.get_accounts():
        app.remove_account(account)
    assert app.get_accounts() == [] and not list(cache.search(cache.CredentialType.REFRESH_TOKEN))
    answer = requests.get(
        lab.authority + "/oauth2/v2.0/logout", allow_redirects=False,
        params={"post_logout_redirect_uri": "http://localhost:1234", "state": "s"})
    assert answer.status_code == 302 and answer.headers["Location"] == "http://localhost:1234?state=s"


with Lab() as lab:
    os.environ["BROWSER"] = f"{BROWSER} %s &"
    results = {}
    for step in [device_code, interactive, second_factor, continuous_evaluation, family, personal, variants, instances]:
        results[step.__name__] = step(lab)
        check(step.__name__, True)
    sign_out(lab, results["interactive"])
    check("sign_out", True)
check("the lab ends well", lab.process.returncode == 0, lab.process.returncode)
check("and leaves no file", not os.path.exists(lab.ca), lab.ca)
print(f"MSAL for Python {msal.__version__}")
finish()
