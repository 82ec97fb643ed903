"""Gets tokens with azure-identity, for which the stand-ins for az and azd ask llavero."""
import os
import tempfile
import time

from azure.identity import AzureCliCredential, AzureDeveloperCliCredential, CredentialUnavailableError

from peers import CONTOSO, Lab, check, finish, llavero, log_in

SCOPE = "https://management.azure.com/.default"

with Lab() as lab, tempfile.TemporaryDirectory() as directory:
    for program in ("az", "azd"):
        llavero("shim", "install", program, "--directory", directory, group=None)
    os.environ["PATH"] = directory + ":" + os.environ["PATH"]
    log_in(lab)
    token = llavero("token", "--scope", SCOPE).strip()
    asked = len(lab.log())
    for credential in (AzureCliCredential(), AzureDeveloperCliCredential()):
        name = type(credential).__name__
        got = credential.get_token(SCOPE)
        check(f"{name} gets the token of the cache", got.token == token)
        check(f"{name} reads its expiry", 3000 < got.expires_on - time.time() <= 3600, got.expires_on)
        check(f"{name} reads the longer form too", credential.get_token_info(SCOPE).token == token)
    check("the server was not asked", len(lab.log()) == asked)
    # The time without a zone, which older SDKs read.
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    from azure.identity._credentials import azure_cli
    import json
    output = json.loads(llavero("token", "--scope", SCOPE, "--output", "az"))
    end = output.pop("expires_on")
    check("the local time is the same time", azure_cli.parse_token(json.dumps(output)).expires_on == end)

    for credential in (AzureCliCredential(tenant_id=CONTOSO), AzureDeveloperCliCredential(tenant_id=CONTOSO)):
        check(f"{type(credential).__name__} names a tenant", credential.get_token(SCOPE).token == token)
    llavero("logout")
    for credential in (AzureCliCredential(), AzureDeveloperCliCredential()):
        try:
            credential.get_token(SCOPE)
            check("no account is signed in", False)
        except CredentialUnavailableError as error:
            # By which a chain of credentials goes on.
            check(f"{type(credential).__name__} reports that no account is signed in", " login'" in str(error), error)
finish()
