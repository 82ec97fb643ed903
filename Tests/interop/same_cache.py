"""MSAL for Python and llavero on the same caches: both find the same, what either adds, and nothing after a sign-out.

The caches are random, each with a seed that a failure names: those of one tenant and a guest's, of the authorities "common"
and "organizations", of a policy of B2C, and of AD FS. llavero asks a server in this program, as if it were
login.microsoftonline.com or another host of these, through a proxy.
"""
# Shows .fault("other host").
import datetime
import http.server
import json
import os
import random
import ssl
import subprocess
import threading
import urllib.parse

import msal
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from peers import BIN, check, finish, llavero
from tokens import CLIENT, HOME, HOST, Server, add, base64url, decoded, token_response

OTHER = "11111111-2222-4333-8444-666666666666"
GUEST = "bbbbbbbb-0000-4000-8000-00000000000b"
FAMILY = ("99999999-2222-4333-8444-000000000001", "99999999-2222-4333-8444-000000000002")
PEOPLE = {"alice": "0a0a0a0a-1111-4111-8111-111111111111", "bob": "0b0b0b0b-2222-4222-8222-222222222222"}
SCOPES = ("User.Read", "Mail.Read")
KINDS = msal.TokenCache.CredentialType
# The authorities of a cache, the frequent ones more than once.
AUTHORITIES = {
    "tenants": [f"{HOST}/{HOME}", f"{HOST}/{HOME}", f"{HOST}/{GUEST}"],
    "common": [f"{HOST}/common", f"{HOST}/common", f"{HOST}/{GUEST}"],
    "organizations": [f"{HOST}/organizations", f"{HOST}/organizations", f"{HOST}/{GUEST}"],
    "b2c": ["contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_signin"],
    "adfs": ["fs.contoso.example/adfs"],
}
HOSTS = sorted({authority.split("/")[0] for authorities in AUTHORITIES.values() for authority in authorities})
issued = []


def issuer(authority):
    """As the server says it: one for all of "common" and "organizations"."""
    host, tenant = authority.split("/")[:2]
    return f"https://{host}/" + {"common": "{tenantid}/v2.0", "organizations": "{tenantid}/v2.0", "adfs": "adfs"}.get(
        tenant, f"{tenant}/v2.0")


def response(authority, name, scope, token, client):
    """A person's tokens, in the form of the authority's kind."""
    tenant = authority.split("/")[1]
    if tenant in ("common", "organizations"):
        tenant = HOME
    fields = token_response(PEOPLE[name], f"{name}@contoso.example", tenant, scope, token, client,
                            "1" if client in FAMILY else None)
    claims = decoded(fields["id_token"].split(".")[1]) | {"iss": issuer(authority).replace("{tenantid}", tenant)}
    if tenant == "adfs":
        del claims["tid"], claims["oid"], fields["client_info"]
    elif "b2c" in authority:
        claims["tid"] = HOME
        fields["client_info"] = base64url({"uid": PEOPLE[name] + "-b2c_1_signin", "utid": HOME})
    # llavero takes no unsigned ID token from a server.
    return fields | {"id_token": f"{base64url({'alg': 'RS256'})}.{base64url(claims)}.c2ln"}


def home_account_id(authority, name):
    tenant = authority.split("/")[1]
    return "s" + PEOPLE[name] if tenant == "adfs" else PEOPLE[name] + ("-b2c_1_signin" if "b2c" in authority else "") + "." + HOME


def respond(url, form):
    """The response to a renewal; "rt-alice" and the like are refresh tokens of Alice's."""
    name, client = form["refresh_token"].split("-")[1], form["client_id"]
    scope, = set(form["scope"].split()) & set(SCOPES)
    issued.append(f"{name}-{len(issued)}")
    return response(url.removeprefix("https://").partition("/oauth2/")[0], name, scope, issued[-1], client)


def metadata(url):
    base = url.partition("/.well-known/")[0].removesuffix("/v2.0")
    return {"issuer": issuer(base.removeprefix("https://")), "authorization_endpoint": base + "/oauth2/v2.0/authorize",
            "token_endpoint": base + "/oauth2/v2.0/token"}


class Proxy(http.server.BaseHTTPRequestHandler):
    """Takes every host for itself."""

    protocol_version = "HTTP/1.1"

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.connection = context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_GET(self):
        self.send(metadata(f"https://{self.headers['Host']}{self.path}"))

    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send(respond(f"https://{self.headers['Host']}{self.path}", dict(urllib.parse.parse_qsl(form))))

    def send(self, fields):
        body = json.dumps(fields).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Client(Server):
    """Python's way to the same server."""

    def get(self, url, **_):
        return self.answer(metadata(url))

    def post(self, url, data=None, **_):
        return self.answer(respond(url, data))


def certificate():
    """A certificate of the hosts, and its key, in a file that is trusted."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    today = datetime.datetime.now(datetime.timezone.utc)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(1).not_valid_before(today - datetime.timedelta(1)).not_valid_after(today + datetime.timedelta(1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS]), False)
            .add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
    path = os.environ["HOME"] + "/server.pem"
    with open(path, "wb") as file:
        file.write(made.public_bytes(serialization.Encoding.PEM))
        file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                     serialization.NoEncryption()))
    return path


def app(cache, client, authority):
    return msal.PublicClientApplication(
        client, authority=f"https://{authority}", token_cache=cache, instance_discovery=False, http_client=Client())


def random_cache(chance, authorities, clients):
    """What MSAL for Python keeps after a few sign-ins and renewals."""
    cache = msal.SerializableTokenCache()
    for name in chance.sample(sorted(PEOPLE), chance.randint(1, 2)):
        for number in range(chance.randint(1, 4)):
            client, authority, scope = chance.choice(clients), chance.choice(authorities), chance.choice(SCOPES)
            add(cache, client, authority, scope, response(authority, name, scope, f"{name}-first{number}", client))
    return cache


def exported(group):
    cache = msal.SerializableTokenCache()
    cache.deserialize(llavero("export", group=group))
    return cache


def python_token(cache, client, authority, scope, name):
    """Python's token, and whether it asked the server."""
    before, python = len(issued), app(cache, client, authority)
    accounts = python.get_accounts(username=f"{name}@contoso.example")
    result = python.acquire_token_silent([scope], accounts[0]) if accounts else None
    return result and result.get("access_token"), len(issued) > before


def swift_token(group, client, authority, scope, name):
    """The same of llavero."""
    before = len(issued)
    result = subprocess.run(
        [f"{BIN}/llavero", "token", "--group", group, "--client", client, "--authority", f"https://{authority}", "--scope", scope,
         "--account", f"{name}@contoso.example"], capture_output=True, text=True, timeout=300)
    return result.stdout.strip() or None, len(issued) > before


def left(cache, authority, name):
    """What a cache has of a person, by kind."""
    kinds = (KINDS.ACCESS_TOKEN, KINDS.REFRESH_TOKEN, KINDS.ID_TOKEN, KINDS.ACCOUNT)
    query = {"home_account_id": home_account_id(authority, name)}
    return {kind: len(found) for kind in kinds if (found := list(cache.search(kind, query=query)))}


def compare(kind, seed):
    chance, group = random.Random(seed), f"org.example.{kind}.seed{seed}"
    seed, authorities = f"{kind}, seed {seed}", AUTHORITIES[kind]
    # Only Microsoft's own programs have a family.
    cache = random_cache(chance, authorities, (CLIENT, *FAMILY) if authorities[0].startswith(HOST) else (CLIENT, OTHER))
    clients = sorted({token["client_id"] for token in cache.search(KINDS.REFRESH_TOKEN)})
    llavero("import", "-", stdin=cache.serialize(), group=group)
    # A client of the family may use another's refresh token.
    members = FAMILY if set(clients) & set(FAMILY) else ()
    requests = [(client, authority, scope, name) for client in sorted({*clients, *members})
                for authority in sorted(set(authorities), key=authorities.index) for scope in SCOPES for name in PEOPLE]
    for request in chance.sample(requests, min(6, len(requests))):
        theirs = exported(group)
        expected, asks = python_token(theirs, *request)
        found, asked = swift_token(group, *request)
        check(f"{seed}: both find the same for {request}",
              asked == asks and (found is not None if asks else found == expected), (expected, asks, found, asked))
        if asked:
            again = python_token(exported(group), *request)
            check(f"{seed}: Python finds what llavero added for {request}", again == (found, False), again)
    request = chance.choice(requests)
    theirs = exported(group)
    added, _ = python_token(theirs, *request)
    llavero("import", "-", stdin=theirs.serialize(), group=group)
    check(f"{seed}: llavero finds what Python added for {request}", swift_token(group, *request) == (added, False))

    theirs = exported(group)
    for name in PEOPLE:
        accounts = app(theirs, CLIENT, authorities[0]).get_accounts(username=f"{name}@contoso.example")
        for client in clients:
            for account in accounts:
                app(theirs, client, authorities[0]).remove_account(account)
        found = left(theirs, authorities[0], name)
        check(f"{seed}: nothing of {name} is left after Python's sign-out", not found, found)
    for client in sorted({*clients, *FAMILY}):
        llavero("logout", "--all", "--client", client, "--authority", f"https://{authorities[0]}", group=group)
    ours = exported(group)
    for name in PEOPLE:
        found = left(ours, authorities[0], name)
        check(f"{seed}: {name} has no token after llavero's sign-out", found.keys() <= {KINDS.ACCOUNT}, found)


pem = certificate()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(pem)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ.update(https_proxy=f"http://127.0.0.1:{server.server_port}", LLAVERO_CA_BUNDLE=pem, LLAVERO_BROKER="off")
for kind, seeds in {"tenants": 6, "common": 3, "organizations": 2, "b2c": 3, "adfs": 3}.items():
    for seed in range(1, seeds + 1):
        compare(kind, seed)
finish()
