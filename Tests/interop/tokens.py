"""Token responses as a server sends them, for caches that are filled without one."""
import base64
import json
import time

HOST = "login.microsoftonline.com"
CLIENT = "11111111-2222-4333-8444-555555555555"
HOME = "aaaaaaaa-0000-4000-8000-00000000000a"


def base64url(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def decoded(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def token_response(uid, username, tenant, scope, name, client=CLIENT, foci=None):
    now = int(time.time())
    claims = {
        "aud": client, "exp": now + 3600, "iat": now, "nbf": now, "oid": uid, "tid": tenant, "sub": "s" + uid,
        "iss": f"https://{HOST}/{tenant}/v2.0", "preferred_username": username, "name": "Ünïcode 山田",
    }
    response = {
        "token_type": "Bearer", "expires_in": 3600, "ext_expires_in": 7200, "scope": scope,
        "access_token": "at-" + name, "refresh_token": "rt-" + name,
        "id_token": f"{base64url({'alg': 'none'})}.{base64url(claims)}.",
        "client_info": base64url({"uid": uid, "utid": HOME}),
    }
    return response | ({"foci": foci} if foci else {})


def add(cache, client, authority, scope, response):
    """Adds a response of an authority; a tenant alone is one of the public cloud."""
    if "/" not in authority:
        authority = f"{HOST}/{authority}"
    cache.add({
        "client_id": client, "scope": scope.split(), "response": response, "params": {}, "data": {},
        "token_endpoint": f"https://{authority}/oauth2/v2.0/token", "environment": authority.split("/")[0],
    })


class Server:
    """An HTTP client for MSAL, without a network: it gives a sign-in by device code and these responses, nothing else."""

    def __init__(self, *responses):
        self.responses = list(responses)

    def get(self, url, **_):
        assert url.endswith("/.well-known/openid-configuration"), url
        base = url.removesuffix("/.well-known/openid-configuration").removesuffix("/v2.0")
        return self.answer({
            "issuer": f"{base}/v2.0", "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
            "token_endpoint": f"{base}/oauth2/v2.0/token",
            "device_authorization_endpoint": f"{base}/oauth2/v2.0/devicecode"})

    def post(self, url, **_):
        if url.endswith("/devicecode") and self.responses:
            return self.answer({"device_code": "d", "user_code": "u", "verification_uri": url, "expires_in": 900})
        assert self.responses, url
        return self.answer(self.responses.pop(0))

    def answer(self, fields):
        self.status_code, self.headers, self.text = 200, {}, json.dumps(fields)
        return self

    def raise_for_status(self):
        pass

    def close(self):
        pass
