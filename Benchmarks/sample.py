"""A token cache in MSAL's unified schema, and the token responses that it could have come from."""
import base64
import json
import time

ENVIRONMENT = "login.microsoftonline.com"
CLIENT = "c0000000-0000-4000-8000-000000000001"
TENANT = "7a7a7a7a-0000-4000-8000-000000000001"
TOKENS = 5
"""How many access tokens each account has."""


def user(account):
    return f"00000000-0000-4000-8000-{account:012d}"


def home(account):
    return f"{user(account)}.{TENANT}"


def scope(resource):
    return f"api://resource{resource}/Read"


def base64url(fields):
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def secret(kind, *names, length):
    """A token of the length that real ones have."""
    text = "-".join([kind, *map(str, names)])
    return (text + "." + base64.urlsafe_b64encode(text.encode() * length).decode())[:length]


def id_token(account):
    claims = {
        "aud": CLIENT, "iss": f"https://{ENVIRONMENT}/{TENANT}/v2.0", "iat": 1790000000, "nbf": 1790000000,
        "exp": 1790003600, "name": f"Person {account}", "oid": user(account), "sub": f"subject-{account}",
        "preferred_username": f"person{account}@contoso.example", "rh": secret("rh", account, length=60),
        "tid": TENANT, "uti": secret("uti", account, length=22), "ver": "2.0",
    }
    return f"{base64url({'typ': 'JWT', 'alg': 'RS256', 'kid': 'k' * 27})}.{base64url(claims)}.{'s' * 342}"


def response(account, resource, version, more=" api://more/Write openid profile email"):
    return {
        "token_type": "Bearer", "scope": scope(resource) + more,
        "expires_in": 5000, "ext_expires_in": 5000,
        "access_token": secret("access", account, resource, version, length=1400),
        "refresh_token": secret("refresh", account, version, length=900), "id_token": id_token(account),
        "client_info": base64url({"uid": user(account), "utid": TENANT}),
    }


def cache(accounts, more=" api://more/Write openid profile email", first=0):
    """What accounts that are signed in leave in a cache; `more` is what the server granted beyond what was asked."""
    now = int(time.time())
    sections = {name: {} for name in ("AccessToken", "RefreshToken", "IdToken", "Account")}
    signed_in = {}
    for account in range(first, first + accounts):
        common = {"home_account_id": home(account), "environment": ENVIRONMENT}
        prefix = f"{home(account)}-{ENVIRONMENT}"
        for resource in range(TOKENS):
            answer = response(account, resource, 0, more)
            key = f"{prefix}-accesstoken-{CLIENT}-{TENANT}-{answer['scope']}".lower()
            sections["AccessToken"][key] = common | {
                "credential_type": "AccessToken", "client_id": CLIENT, "realm": TENANT, "target": answer["scope"],
                "secret": answer["access_token"], "cached_at": str(now), "expires_on": str(now + 86400),
                "extended_expires_on": str(now + 86400)}
        sections["RefreshToken"][f"{prefix}-refreshtoken-{CLIENT}--"] = common | {
            "credential_type": "RefreshToken", "client_id": CLIENT, "secret": answer["refresh_token"],
            "last_modification_time": str(now)}
        sections["IdToken"][f"{prefix}-idtoken-{CLIENT}-{TENANT}-"] = common | {
            "credential_type": "IdToken", "client_id": CLIENT, "realm": TENANT, "secret": answer["id_token"]}
        sections["Account"][f"{prefix}-{TENANT}"] = common | {
            "realm": TENANT, "local_account_id": user(account), "username": f"person{account}@contoso.example",
            "name": f"Person {account}", "authority_type": "MSSTS", "client_info": answer["client_info"]}
        signed_in[home(account)] = {
            "client_id": CLIENT, "home_account_id": home(account), "sign_in_state": "signed_in"}
    return sections | {
        "AppMetadata": {f"appmetadata-{ENVIRONMENT}-{CLIENT}": {
            "client_id": CLIENT, "environment": ENVIRONMENT, "family_id": ""}},
        "AccountMetadataMap": {f"authority_map-{CLIENT}": {
            "client_id": CLIENT, "account_metadata_map": signed_in}},
    }


def tenants(count):
    """What one account leaves in a cache that is a guest in so many tenants, with a token and an ID token of each."""
    whole = cache(1)
    sections = {name: dict(records) for name, records in whole.items()}
    for number in range(count):
        guest = f"7b7b7b7b-0000-4000-8000-{number:012d}"
        for name in ("AccessToken", "IdToken", "Account"):
            key, record = next(iter(whole[name].items()))
            sections[name][guest.join(key.rsplit(TENANT, 1))] = record | {"realm": guest}
    return sections


def shard(records):
    """The shard of one account with this many records."""
    whole = cache(1)
    tokens = {}
    for number in range(records - 3):
        key, token = list(whole["AccessToken"].items())[number % TOKENS]
        target = f"{token['target']} api://more{number}/Read"
        tokens[f"{key} api://more{number}/read"] = token | {"target": target}
    return {
        "AccessToken": tokens, "RefreshToken": whole["RefreshToken"], "IdToken": whole["IdToken"],
        "Account": whole["Account"]}
