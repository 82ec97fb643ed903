"""A real Chromium signs in at the lab's page and posts the answer to the loopback listener."""
# Shows .conformance(79).
import json
import os
import subprocess
import sys

from peers import ALICE, DIRECTORY, Lab, Worker, check, finish, wait, worker


def trust(ca):
    """Makes the throw-away authority known to Chromium, in the home directory of this session alone."""
    database = os.environ["HOME"] + "/.pki/nssdb"
    os.makedirs(database, mode=0o700)
    subprocess.run(["certutil", "-N", "-d", "sql:" + database, "--empty-password"], check=True)
    subprocess.run(
        ["certutil", "-A", "-d", "sql:" + database, "-n", "lab", "-t", "C,,", "-i", ca], check=True)


def sign_in(lab, user):
    path = f"{os.environ['TMPDIR']}/browser-{user}.json"
    running = Worker(
        "interactive", lab.authority, BROWSER=f"{sys.executable} {DIRECTORY}/chromium_browser.py",
        BROWSER_USER=user, BROWSER_REPORT=path)
    outcome = running.outcomes()[-1]
    return outcome, report_of(path)


def report_of(path):
    """What the browser saw, when it is done."""
    wait("the browser is done", lambda: os.path.exists(path))
    with open(path) as file:
        return json.load(file)


def main():
    with Lab() as lab:
        trust(lab.ca)
        lab.tell(configure={"authorize": {"page": {}}})
        outcome, report = sign_in(lab, "alice")
        print(f"Chromium {report.get('version')}")
        check("Chromium shows the sign-in page and trusts the lab", ALICE in report.get("signInPage", ""), report)
        check("the sign-in gives a token", "tokenHash" in outcome and outcome["username"] == ALICE, outcome)
        address = report.get("address", "")
        check("the browser ends at the listener's URL, without a query",
              address.startswith("http://localhost:") and address.split(":")[2].strip("/").isdigit(), report)
        check("it shows the page of success", report.get("page", "").startswith("Back to the application"), report)
        page = lab.log("authorize")[0]["query"]
        check("the response came as a form", page["response_mode"] == "form_post", page)
        exchange, = lab.log("token")
        check("the code was redeemed once, with the redirect URI that was shown",
              exchange["form"]["redirect_uri"] == page["redirect_uri"], exchange["form"].get("redirect_uri"))
        check("the token is in the keyring", worker("silent", lab.authority).get("source") == "cache")
        outcome, report = sign_in(lab, "cancel")
        check("a cancelled sign-in is userCanceled", outcome.get("error") == "user_canceled", outcome)
        check("the browser shows that, too", report.get("page", "").startswith("You are not signed in"), report)
    finish()


if __name__ == "__main__":
    main()
