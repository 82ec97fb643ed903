"""A browser without a window in which a person signs in to Glewlwyd and lets it post its response."""
import sys
import urllib.parse

import requests

from browser import form
from glewlwyd_server import signed_in

# An address of this machine leads there, once.
url = requests.get(sys.argv[1], allow_redirects=False).headers["Location"]
session = signed_in("https://" + urllib.parse.urlsplit(url).netloc)
# Glewlwyd first redirects to its sign-in page, whose script returns with this parameter.
page = session.get(url + "&g_continue")
action, fields = form(page.text)
session.post(action, data=fields, headers={"Origin": "null", "Sec-Fetch-Mode": "navigate"})
