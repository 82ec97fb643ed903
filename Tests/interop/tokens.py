"""Token responses as a server sends them, for caches that are filled without one."""
import base64
import json
import time

HOST = "login.microsoftonline.com"
CLIENT = "11111111-2222-4333-8444-555555555555"
HOME = "aaaaaaaa-0000-4000-8000-00000000000a"


def base64url(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


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


def add(cache, client, tenant, scope, response):
    cache.add({
        "client_id": client, "scope": scope.split(), "response": response, "params": {}, "data": {},
        "token_endpoint": f"https://{HOST}/{tenant}/oauth2/v2.0/token", "environment": HOST,
    })
