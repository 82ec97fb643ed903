"""A Chromium with a window signs in at the lab. Its answer goes by xdg-open and a desktop file to the program that waits."""
import json
import os
import subprocess
import sys

from chromium import report_of, trust
from peers import ALICE, BIN, DIRECTORY, Lab, Worker, check, finish

SCHEME = "msauth.org.example.lab"
REDIRECT = f"{SCHEME}://auth"
PROGRAM = f"{BIN}/Worker"


def tool(*arguments):
    result = subprocess.run([f"{BIN}/llavero", "scheme", *arguments], capture_output=True, text=True, timeout=60)
    check(f"llavero scheme {arguments[0]} succeeds", result.returncode == 0, result)
    return result.stdout


def report_path(user):
    return f"{os.environ['TMPDIR']}/browser-{user}.json"


def start(lab, user):
    return Worker(
        "interactive", lab.authority, "--redirect-uri", REDIRECT, "--verbose", stderr=subprocess.PIPE,
        BROWSER=f"{sys.executable} {DIRECTORY}/chromium_browser.py", BROWSER_USER=user, BROWSER_SCHEME=SCHEME,
        BROWSER_ORIGIN=lab.base,
        BROWSER_REPORT=report_path(user))


def story(lab):
    refused = start(lab, "idle").outcomes()[-1]
    check("a scheme without a handler is an error at once", refused.get("error") == "redirect_scheme_not_registered", refused)
    check("no browser was opened", not os.path.exists(report_path("idle")) and not lab.log("authorize"))
    command = refused["message"].partition('Register this one: "')[2].partition('"')[0]
    check("the error has the command that registers it", command.startswith(f"llavero scheme install {SCHEME} /"), refused)
    tool(*command.split()[2:])

    running = start(lab, "alice")
    outcome = running.outcomes()[-1]
    report = report_of(report_path("alice"))
    os.remove(report_path("alice"))
    print(f"Chromium {report.get('version')}")
    check("Chromium shows the sign-in page", ALICE in report.get("signInPage", ""), report)
    check("the sign-in gives a token", "tokenHash" in outcome and outcome["username"] == ALICE, outcome)
    page = lab.log("authorize")[-1]["query"]
    check("the response came in the URL", page["response_mode"] == "query" and page["redirect_uri"] == REDIRECT, page)
    exchange, = lab.log("token")
    check("the code was redeemed once, with the scheme", exchange["form"]["redirect_uri"] == REDIRECT, exchange["form"])
    secrets = [exchange["form"]["code"], page["state"]]
    check("neither code nor state is in the log", not any(secret in running.errors for secret in secrets))

    cancelled = start(lab, "cancel").outcomes()[-1]
    report_of(report_path("cancel"))
    os.remove(report_path("cancel"))
    check("a cancelled sign-in is userCanceled", cancelled.get("error") == "user_canceled", cancelled)

    late = subprocess.run(
        ["xdg-open", f"{REDIRECT}?code={secrets[0]}&state={secrets[1]}"], capture_output=True, text=True, timeout=60)
    outcomes = [json.loads(line) for line in late.stdout.splitlines() if line.startswith("{")]
    check("a response without a waiting sign-in is reported", [one.get("error") for one in outcomes] == ["invalid_state"], late)
    check("and not shown", secrets[0] not in late.stdout + late.stderr, late)

    tool("remove", SCHEME)
    check("without its desktop file the scheme has no handler again",
          start(lab, "idle").outcomes()[-1].get("error") == "redirect_scheme_not_registered")


def main():
    with Lab() as lab:
        trust(lab.ca)
        lab.tell(configure={"authorize": {"page": {}}})
        display = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-nolisten", "tcp"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            os.environ["DISPLAY"] = ":" + display.stdout.readline().strip()
            story(lab)
        finally:
            display.terminate()
            display.wait(20)
    finish()


main()
