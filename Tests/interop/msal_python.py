"""Caches go from MSAL for Python through llavero and back; the items are looked at with other clients."""

import hashlib
import json
import subprocess

import msal
import secretstorage

from peers import GROUP, check, finish, llavero
from tokens import CLIENT, HOME, HOST, Server, add, token_response

SIBLING = "99999999-2222-4333-8444-555555555555"
GUEST = "bbbbbbbb-0000-4000-8000-00000000000b"
ALICE = "0a0a0a0a-1111-4111-8111-111111111111"
BOB = "0b0b0b0b-2222-4222-8222-222222222222"


def home_account_id(uid):
    return f"{uid}.{HOME}"


def application(serialized, tenant=HOME, client=CLIENT):
    cache = msal.SerializableTokenCache()
    cache.deserialize(serialized)
    return msal.PublicClientApplication(
        client, authority=f"https://{HOST}/{tenant}", token_cache=cache, instance_discovery=False,
        http_client=Server())


def usernames(app):
    return sorted(account["username"] for account in app.get_accounts())


def silent(app, username, scope):
    account = app.get_accounts(username=username)[0]
    return (app.acquire_token_silent([scope], account=account) or {}).get("access_token")


cache = msal.SerializableTokenCache()
add(cache, CLIENT, HOME, "User.Read", token_response(ALICE, "Alice@contoso.example", HOME, "User.Read", "alice"))
add(cache, CLIENT, GUEST, "User.Read", token_response(ALICE, "Alice@contoso.example", GUEST, "User.Read", "guest"))
add(cache, CLIENT, HOME, "Mail.Read",
    token_response(BOB, "bob@contoso.example", HOME, "Mail.Read", "bob", foci="1"))
add(cache, SIBLING, HOME, "Files.Read",
    token_response(BOB, "bob@contoso.example", HOME, "Files.Read", "sibling", client=SIBLING, foci="1"))
written = cache.serialize()

report = json.loads(llavero("import", "-", "--json", stdin=written))
records = sum(len(section) for section in json.loads(written).values())
check("llavero imports every record that MSAL for Python wrote", report["saved"] == records)
exported = llavero("export")
check("the export equals what was imported", json.loads(exported) == json.loads(written))

app = application(exported)
check("MSAL finds both accounts in the export", usernames(app) == ["Alice@contoso.example", "bob@contoso.example"])
found = app.token_cache.search(msal.TokenCache.CredentialType.REFRESH_TOKEN, query={"family_id": "1"})
check("MSAL finds the family's refresh tokens in it", len(list(found)) == 2)
check("MSAL answers from it without network", silent(app, "bob@contoso.example", "Mail.Read") == "at-bob")
check("MSAL answers for the home tenant", silent(app, "Alice@contoso.example", "User.Read") == "at-alice")
guest = application(exported, tenant=GUEST)
check("MSAL answers for the guest tenant", silent(guest, "Alice@contoso.example", "User.Read") == "at-guest")
sibling = application(exported, client=SIBLING)
check("MSAL answers for the other client", silent(sibling, "bob@contoso.example", "Files.Read") == "at-sibling")

listed = json.loads(llavero("status", "--json"))["accounts"]
check("llavero lists the same accounts",
      {a["home_account_id"]: a["username"] for a in listed}
      == {home_account_id(ALICE): "Alice@contoso.example", home_account_id(BOB): "bob@contoso.example"})
check("llavero lists both tenants of the guest", len(listed[0]["tenant_profiles"]) == 2)

connection = secretstorage.dbus_init()
items = list(secretstorage.search_items(connection, {"group": GROUP}))
check("there is an item for each account and one for the rest", len(items) == 3)
shards = set()
for item in items:
    attributes = item.get_attributes()
    shard = attributes.get("shard", "")
    shards.add(shard)
    document = json.loads(item.get_secret().decode("utf-8"))
    owners = {
        record.get("home_account_id", "") for name in document if name != "AppMetadata"
        for record in document[name].values()
    } or {""}
    name = f"item {shard[:8]}: "
    check(name + "belongs to one account", len(owners) == 1)
    check(name + "has exactly the attributes of the format", attributes == {
        "xdg:schema": "org.llavero.TokenCache", "group": GROUP, "version": "1",
        "shard": hashlib.sha256(f"{GROUP}\n{owners.pop().strip().lower()}".encode()).hexdigest()[:32],
    })
    check(name + "is labelled", item.get_label() == f"Llavero: {GROUP} ({shard[:8]})")
    check(name + "is text/plain", item.get_secret_content_type() == "text/plain")
    check(name + "is a unified cache that MSAL deserializes",
          set(document) <= {"AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"}
          and all(records.items() <= json.loads(written)[section].items() for section, records in document.items())
          and application(json.dumps(document)) is not None)
    check(name + "says nothing of accounts, tenants, clients and scopes outside of its secret",
          not any(word in str(attributes).lower() + item.get_label().lower()
                  for word in ["alice", "bob", HOME, GUEST, CLIENT, "read"]))

shown = subprocess.run(
    ["secret-tool", "search", "--all", "group", GROUP], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    text=True, timeout=60).stdout.splitlines()
check("secret-tool shows the same items",
      {line.removeprefix("attribute.shard = ") for line in shown if line.startswith("attribute.shard")} == shards)
check("secret-tool shows the same secrets",
      sorted(line.removeprefix("secret = ") for line in shown if line.startswith("secret = "))
      == sorted(item.get_secret().decode() for item in items))
check("secret-tool shows the schema", shown.count("schema = org.llavero.TokenCache") == 3)

llavero("clear", "--account", "alice@contoso.example", "--yes")
app = application(llavero("export"))
check("after llavero cleared an account MSAL finds only the other", usernames(app) == ["bob@contoso.example"])
check("MSAL still answers for that", silent(app, "bob@contoso.example", "Mail.Read") == "at-bob")
check("its item is gone", len(list(secretstorage.search_items(connection, {"group": GROUP}))) == 2)

add(app.token_cache, CLIENT, HOME, "Calendars.Read",
    token_response(BOB, "bob@contoso.example", HOME, "Calendars.Read", "new", foci="1"))
changed = app.token_cache.serialize()
check("MSAL changed its cache", app.token_cache.find(
    msal.TokenCache.CredentialType.ACCESS_TOKEN, target=["Calendars.Read"])[0]["secret"] == "at-new")
llavero("import", "-", stdin=changed)
exported = llavero("export")
check("after a second import the export equals it", json.loads(exported) == json.loads(changed))
check("MSAL answers with the new token", silent(application(exported), "bob@contoso.example", "Calendars.Read") == "at-new")

finish()
