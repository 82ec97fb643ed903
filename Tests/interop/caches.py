"""Makes the caches of Tests/Data/caches and compares them with those that are there. With --write it replaces them.

Those in "written" are what MSAL for Python writes, in the version of requirements.txt, after sign-ins at a server whose
responses are made here. MSAL.NET and MSAL for Go, Java and Node are in neither Debian nor PyPI: those in "shaped" are
made here in the form that these libraries write (keys, fields, their order and text). No such library wrote them.
"""
import base64
import json
import os
import sys
import time

import msal

from tokens import CLIENT, HOME, HOST, Server, base64url, token_response

NOW = 1767225600
ALICE = "0a0a0a0a-1111-4111-8111-111111111111"
BOB = "0b0b0b0b-2222-4222-8222-222222222222"
DAVE = "0d0d0d0d-3333-4333-8333-333333333333"
GUEST = "bbbbbbbb-0000-4000-8000-00000000000b"
PERSONAL = "9188040d-6c67-4c5b-b112-36a304b66dad"
AZURE_CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
MAIL = "User.Read Mail.Read openid profile"
VAULT = "https://vault.azure.net/.default openid profile"
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Data/caches")

time.time = lambda: NOW


def response(uid, name, scope=MAIL, tenant=HOME, home=HOME, **others):
    """What a server answers to a sign-in, with tokens that bear the name."""
    fields = token_response(uid, f"{name.split('-')[0].title()}@contoso.example", tenant, scope, name)
    return fields | {"client_info": base64url({"uid": uid, "utid": home})} | others


def application(cache, *responses, tenant="common", client=CLIENT, host=HOST, kind=msal.PublicClientApplication,
                **more):
    return kind(client, authority=f"https://{host}/{tenant}", token_cache=cache, instance_discovery=False,
                http_client=Server(*responses), **more)


def sign_in(app, scope="User.Read Mail.Read"):
    result = app.acquire_token_by_device_flow(app.initiate_device_flow(scope.split()))
    assert "access_token" in result, result


def renew(app, scope, **more):
    result = app.acquire_token_silent_with_error(scope.split(), app.get_accounts()[0], **more)
    assert "access_token" in result, result


def written():
    cache = msal.SerializableTokenCache()
    sign_in(application(cache, response(ALICE, "alice-first")))
    yield "device-code", cache

    # What it does not know stands in the cache that it reads.
    document = json.loads(cache.serialize())
    document |= {"FutureSection": {"k": {"x": 1}}, "version": 7}
    next(iter(document["AccessToken"].values()))["future_field"] = "kept"
    cache = msal.SerializableTokenCache()
    cache.deserialize(json.dumps(document))
    renew(application(cache, response(ALICE, "alice-vault", VAULT)), "https://vault.azure.net/.default")
    yield "unknown-data", cache

    cache = msal.SerializableTokenCache()
    for uid, name in ((ALICE, "alice-home"), (BOB, "bob-home")):
        sign_in(application(cache, response(uid, name), tenant=HOME))
    renew(application(cache, response(ALICE, "alice-guest", tenant=GUEST), tenant=GUEST), "User.Read")
    yield "two-accounts-guest", cache

    cache = msal.SerializableTokenCache()
    family = response(ALICE, "alice-family", foci="1", refresh_in=1800)
    sign_in(application(cache, family, tenant=HOME, client=AZURE_CLI))
    renew(application(cache, response(ALICE, "alice-sibling", foci="1"), tenant=HOME), "User.Read")
    yield "family-refresh-in", cache

    cache = msal.SerializableTokenCache()
    sign_in(application(cache, response(DAVE, "dave-personal", tenant=PERSONAL, home=PERSONAL), tenant="consumers"))
    yield "personal", cache

    cache = msal.SerializableTokenCache()
    sign_in(application(
        cache, response(f"{DAVE}-b2c_1_signin", "dave-customer", "https://contoso.onmicrosoft.com/api/read openid"),
        tenant="contoso.onmicrosoft.com/B2C_1_SignIn", host="contoso.b2clogin.com"),
        "https://contoso.onmicrosoft.com/api/read")
    yield "b2c", cache

    cache = msal.SerializableTokenCache()
    certificate = response(ALICE, "alice-certificate", VAULT, token_type="ssh-cert")
    app = application(cache, response(ALICE, "alice-plain"), certificate)
    sign_in(app)
    renew(app, "https://vault.azure.net/.default", data={"token_type": "ssh-cert", "key_id": "key-1", "req_cnf": "{}"})
    yield "ssh-certificate", cache

    cache = msal.SerializableTokenCache()
    answers = ({"token_type": "Bearer", "expires_in": 3600, "access_token": f"at-application-{n}"} for n in (1, 2))
    app = application(
        cache, *answers, tenant=HOME, kind=msal.ConfidentialClientApplication, client_credential="password")
    for path in (None, "a/b"):
        app.acquire_token_for_client(["https://graph.microsoft.com/.default"], fmi_path=path)
    yield "app-only", cache


class Shape:
    """The form in which a library keeps what a sign-in gives."""

    order = ("AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata")
    # What follows the client in the key of a refresh token, the realm in that of an ID token, and the scopes.
    refresh_end, id_end, access_end = "--", "-", ""
    environments = {}
    tokens_name_type = accounts_name_person = False

    def __init__(self):
        self.document = {section: {} for section in self.order}

    def add(self, sign_in, *, host=HOST, authority="common", client=CLIENT, realm=None, local=None):
        claims = json.loads(base64.urlsafe_b64decode(sign_in["id_token"].split(".")[1] + "=="))
        info = json.loads(base64.urlsafe_b64decode(sign_in["client_info"] + "=="))
        home, environment = f"{info['uid']}.{info['utid']}", self.environments.get(host, host)
        realm = self.realm(authority, claims) if realm is None else realm
        common = {"home_account_id": home, "environment": environment} | self.about_client(sign_in)
        family = {"family_id": sign_in["foci"]} if "foci" in sign_in else {}
        start = f"{home}-{environment}"
        target = self.target(sign_in["scope"])
        self.put("AccessToken", f"{start}-accesstoken-{client}-{realm}-{target}{self.access_end}", common | {
            "client_id": client, "secret": sign_in["access_token"], "credential_type": "AccessToken", "realm": realm,
            "target": target, "cached_at": str(NOW), "expires_on": str(NOW + 3600)}
            | self.ends(sign_in)
            | ({"refresh_on": str(NOW + sign_in["refresh_in"])} if "refresh_in" in sign_in else {})
            | ({"token_type": "Bearer"} if self.tokens_name_type else {}))
        self.put("RefreshToken", f"{start}-refreshtoken-{family.get('family_id', client)}{self.refresh_end}", common | {
            "client_id": client, "secret": sign_in["refresh_token"], "credential_type": "RefreshToken"} | family)
        self.put("IdToken", f"{start}-idtoken-{client}-{realm}{self.id_end}", common | {
            "client_id": client, "secret": sign_in["id_token"], "credential_type": "IdToken", "realm": realm})
        self.put("Account", f"{start}-{realm}", common | {
            "realm": realm, "local_account_id": local or claims["oid"], "username": claims["preferred_username"],
            "authority_type": "MSSTS"} | self.about_person(claims, home), keeps_case=True)
        if (about := self.about_family(family)) is not None:
            self.put("AppMetadata", f"appmetadata-{environment}-{client}", {
                "client_id": client, "environment": environment} | about, keeps_case=True)
        return self

    def put(self, section, key, fields, keeps_case=False):
        self.document[section][key if keeps_case else key.lower()] = fields

    def realm(self, authority, claims):
        return authority

    def target(self, scope):
        return scope

    def about_client(self, sign_in):
        return {}

    def ends(self, sign_in):
        return {"extended_expires_on": str(NOW + sign_in["ext_expires_in"])}

    def about_person(self, claims, home):
        return {}

    def about_family(self, family):
        return family

    def text(self):
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":"))


class Net(Shape):
    environments = {HOST: "login.windows.net"}

    def realm(self, authority, claims):
        return claims["tid"]

    def target(self, scope):
        return " ".join(sorted(scope.split(), key=str.lower))

    def about_client(self, sign_in):
        return {"client_info": sign_in["client_info"]}

    def ends(self, sign_in):
        end = str(NOW + sign_in["ext_expires_in"])
        return {"extended_expires_on": end, "ext_expires_on": end}

    def about_person(self, claims, home):
        return {"name": claims["name"], "account_source": "device_code_flow"}


class Go(Shape):
    refresh_end = id_end = ""
    tokens_name_type = True


class Java(Shape):
    def about_family(self, family):
        return family or {"family_id": None}


class Node(Net):
    order = ("Account", "IdToken", "AccessToken", "RefreshToken", "AppMetadata")
    refresh_end, id_end, access_end = "----", "---", "--"
    tokens_name_type = True

    def target(self, scope):
        return scope

    def about_client(self, sign_in):
        return {}

    def ends(self, sign_in):
        # It adds the two lifetimes.
        return {"extended_expires_on": str(NOW + sign_in["expires_in"] + sign_in["ext_expires_in"])}

    def about_family(self, family):
        return family or None

    def about_person(self, claims, home):
        profile = {"tenantId": claims["tid"], "localAccountId": claims["oid"], "name": claims["name"],
                   "isHomeTenant": home.endswith(claims["tid"])}
        return {"name": claims["name"], "client_info": base64url({"uid": claims["oid"], "utid": home.split(".")[1]}),
                "tenantProfiles": [json.dumps(profile, ensure_ascii=False, separators=(",", ":"))]}


def shaped():
    libraries = {"net": ("msal-net-4.64.0", Net), "go": ("msal-go-1.9.0", Go), "node": ("msal-node-2.15.0", Node),
                 "java": ("msal4j", Java)}
    # Other people in each, so that their tokens stand beside each other in one group.
    def person(uid, number):
        return uid[:-1] + str(number)

    for number, (short, (name, library)) in enumerate(libraries.items(), 2):
        alice, bob = person(ALICE, number), person(BOB, number)
        yield f"{name}-device-code", library().add(response(alice, f"alice-{short}")).text()
        accounts = library()
        for uid, who in ((alice, "alice"), (bob, "bob")):
            accounts.add(response(uid, f"{who}-{short}-home"), authority=HOME)
        accounts.add(response(alice, f"alice-{short}-guest", tenant=GUEST), authority=GUEST)
        yield f"{name}-two-accounts-guest", accounts.text()
        family = response(alice, f"alice-{short}-family", foci="1", refresh_in=1800)
        yield f"{name}-family", library().add(family, authority=HOME, client=AZURE_CLI).text()

    clouds = Net()
    for host in ("login.partner.microsoftonline.cn", "login.microsoftonline.us", HOST):
        clouds.add(response(BOB, f"bob-{host}"), host=host)
    yield "msal-net-4.64.0-clouds", "\ufeff" + json.dumps(clouds.document, indent=2)

    customer = response(f"{DAVE}-b2c_1_signin", "dave-net-customer", "https://contoso.onmicrosoft.com/api/read openid")
    yield "msal-net-4.64.0-b2c", Net().add(
        customer, host="contoso.b2clogin.com", realm="contoso.onmicrosoft.com", local=DAVE).text()

    # A bound token, and one with parameters of its own. Neither takes part in what is looked for by scopes alone.
    bound = Net().add(response(person(ALICE, 7), "alice-net-bearer"))
    key, token = next(iter(bound.document["AccessToken"].items()))
    bound.put("AccessToken", key.replace("accesstoken", "accesstoken_with_authscheme") + "-pop", token | {
        "secret": "at-alice-net-bound", "credential_type": "AccessToken_With_AuthScheme", "token_type": "pop",
        "kid": "key-1"})
    bound.put("AccessToken", key.replace("accesstoken", "atext") + "-aGFzaA", token | {
        "secret": "at-alice-net-extended", "credential_type": "ATExt", "ext": {"fmi_path": "a/b"}})
    yield "msal-net-4.64.0-bound", bound.text()

    # Of a later version: sections and fields without a meaning here, invalid sections, and an extra comma.
    future = Net().add(response(person(ALICE, 8), "alice-net-future")).document
    next(iter(future["Account"].values()))["unknown"] = {"abc": [1, 2.5, None, True]}
    future |= {"Foo": {"Bar": {"client_id": "1"}}, "EmptyArrayNode": [], "EmptyNode": {}, "NullNode": None}
    yield "msal-net-future", json.dumps(future, indent=2).replace('"NullNode": null\n', '"NullNode": null,\n')

    federated = response(ALICE, "alice-net-federated")
    federation = Net().add(federated, host="fs.contoso.test", realm="")
    for token in federation.document["AccessToken"].values():
        token |= {"extended_expires_on": "-62135596800", "ext_expires_on": "-62135596800"}
    yield "msal-net-4.64.0-adfs", federation.text()

    # Keys as MSAL for Go 1.0 wrote them.
    old = Go().add(response(person(ALICE, 9), "alice-go-old"), authority="Contoso").document
    names = ("AccessToken", "RefreshToken", "IdToken")
    yield "msal-go-1.0-keys", json.dumps({
        section: {key.replace(f"-{section.lower()}-", f"-{section}-").replace("appmetadata", "AppMetadata"): fields
                  for key, fields in records.items()} for section, records in old.items()}, indent=4)


def expected():
    for name, cache in written():
        yield f"written/msal-python-{msal.__version__}-{name}.json", cache.serialize()
    for name, text in shaped():
        yield f"shaped/{name}.json", text


caches = {name: text + "\n" for name, text in expected()}
there = {f"{kind}/{name}" for kind in ("written", "shaped") if os.path.isdir(f"{FOLDER}/{kind}")
         for name in os.listdir(f"{FOLDER}/{kind}")}
if sys.argv[1:] == ["--write"]:
    for kind in ("written", "shaped"):
        os.makedirs(f"{FOLDER}/{kind}", exist_ok=True)
    for name in there - caches.keys():
        os.remove(f"{FOLDER}/{name}")
    for name, text in caches.items():
        with open(f"{FOLDER}/{name}", "w", encoding="utf-8", newline="") as file:
            file.write(text)
    there = caches.keys()


def differs(name):
    with open(f"{FOLDER}/{name}", encoding="utf-8", newline="") as file:
        return file.read() != caches[name]


wrong = sorted(there ^ caches.keys()) + sorted(name for name in there & caches.keys() if differs(name))
for name in wrong:
    print(f"{name} is not what Tests/interop/caches --write makes", file=sys.stderr)
print(f"{len(caches)} caches, {len(wrong)} of them differ")
sys.exit(bool(wrong))
