"""What $BROWSER names: a Chromium that goes where it is told, driven by chromedriver.

Usage: chromium_browser.py <URL>. It clicks on the button of BROWSER_USER, or that to cancel, waits for the page of the loopback
listener and writes what it saw to the file that BROWSER_REPORT names. With BROWSER_SCHEME it has a window, may open
addresses of that scheme from pages of BROWSER_ORIGIN without asking, as a person can allow it, and stays until that file is removed.
"""
import json
import os
import re
import subprocess
import sys

import requests

from peers import wait

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.url = f"http://localhost:{found.group(1)}/session"
                break
        scheme = os.environ.get("BROWSER_SCHEME")
        arguments = [*([] if scheme else ["--headless=new"]), "--disable-gpu", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost"]
        if os.geteuid() == 0:
            # Chromium has no sandbox for root.
            arguments.append("--no-sandbox")
        options = {"args": arguments}
        if scheme:
            allowed = {os.environ["BROWSER_ORIGIN"]: {scheme: True}}
            options["prefs"] = {"protocol_handler": {"allowed_origin_protocol_pairs": allowed}}
        capabilities = {"goog:chromeOptions": options, "pageLoadStrategy": "normal"}
        session = self.call("post", "", {"capabilities": {"alwaysMatch": capabilities}})
        self.version = session["capabilities"]["browserVersion"]
        self.url += "/" + session["sessionId"]

    def call(self, method, path, body=None):
        answer = requests.request(method, self.url + path, json=body, timeout=60, proxies={"http": ""})
        value = answer.json()["value"]
        if answer.status_code != 200:
            raise RuntimeError(value["error"] + ": " + value["message"].splitlines()[0])
        return value

    def click(self, selector):
        element = self.call("post", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.call("post", f"/element/{element}/click", {})

    def listener(self):
        """The address of the page, where that is the listener's."""
        address = self.call("get", "/url")
        return address if address.startswith("http://localhost:") else None

    def text(self):
        return self.call("post", "/execute/sync", {"script": "return document.body.innerText", "args": []})


def main():
    report = {}
    browser = Browser()
    try:
        report["version"] = browser.version
        browser.call("post", "/url", {"url": sys.argv[1]})
        report["signInPage"] = browser.text()
        user = os.environ["BROWSER_USER"]
        browser.click('button[name="cancel"]' if user == "cancel" else f'button[name="user"][value="{user}"]')
        # The address does not change to a scheme of a program's own; that gets it when xdg-open has started it.
        if not os.environ.get("BROWSER_SCHEME"):
            report["address"] = wait("the browser ends at the listener", lambda: browser.listener())
            report["page"] = browser.text()
    except Exception as error:
        report["error"] = str(error)
    finally:
        with open(os.environ["BROWSER_REPORT"] + ".part", "w") as file:
            json.dump(report, file)
        os.rename(file.name, os.environ["BROWSER_REPORT"])
        wait("the report is read", lambda: not os.environ.get("BROWSER_SCHEME") or not os.path.exists(file.name[:-5]))
        browser.call("delete", "")
        # It stays when it is asked to end.
        browser.driver.kill()


main()
