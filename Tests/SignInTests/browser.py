"""A browser without eyes: opens a page of the lab, by way of the address of this machine that leads there once, and
posts or follows the answer to the loopback listener.

What LAB_BROWSER_ACTION names it does besides, and tells the lab of it: "noise" sends the listener everything that
is no answer first, "watch" notes how a query is answered, "linger" stays until it is ended.
"""
import html, http.client, os, re, signal, socket, ssl, sys, urllib.error, urllib.parse, urllib.request

context = ssl.create_default_context(cafile=os.environ["LAB_CA_BUNDLE"])
action = os.environ.get("LAB_BROWSER_ACTION")
form_type = "application/x-www-form-urlencoded"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), NoRedirect)


def fetch(request):
    try:
        return opener.open(request)
    except urllib.error.HTTPError as error:
        return error


def report(**facts):
    # The lab has no such page, but remembers that it was asked for.
    fetch(urllib.parse.urljoin(page, "/report?" + urllib.parse.urlencode(facts)))


def make_noise(target, fields):
    port = urllib.parse.urlsplit(target).port
    # Connections that stay empty, and one whose request does not end.
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    silent[0].sendall(b"POST / HTTP/1.1\r\nHost: localhost:")

    def status(method, path, fields=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        body = urllib.parse.urlencode(fields) if fields else None
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Content-Type": form_type} | names)
        return connection.getresponse().status

    wrong = [("code", "x"), ("state", "wrong")]
    report(
        favicon=status("GET", "/favicon.ico"), get=status("GET", "/"),
        state=",".join(sorted({str(status("POST", "/", wrong)) for _ in range(100)})),
        stateless=status("POST", "/", [("error", "access_denied")]),
        twice=status("POST", "/", fields + [("code", "x")]),
        host=status("POST", "/", fields, Host="evil.test"),
        script=status("POST", "/", fields, Sec_Fetch_Mode="cors"))
    # 10 MB of body, which nobody reads to its end.
    large = socket.create_connection(("127.0.0.1", port))
    head = f"POST / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: {form_type}\r\nContent-Length: 10000000\r\n\r\n"
    try:
        large.sendall(head.encode() + b"x" * 10_000_000)
    except OSError:
        pass
    return silent


page = sys.argv[1]
if page.startswith("http://"):
    page = fetch(page).headers["Location"]
answer = fetch(page)
if action == "linger":
    report(process=os.getpid())
    signal.pause()
location = answer.headers.get("Location")
if location:
    # The listener sends its own redirect, so that the code leaves the address bar.
    if action == "watch":
        moved = fetch(location)
        report(status=moved.status)
        location = urllib.parse.urljoin(location, moved.headers["Location"])
    urllib.request.urlopen(location)
    sys.exit(0)
text = answer.read().decode()
form = re.search(r'<form[^>]*action="([^"]*)"', text)
fields = re.findall(r'<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"', text)
if not form or not html.unescape(form.group(1)).startswith("http://"):
    sys.exit(0)
target = html.unescape(form.group(1))
fields = [(html.unescape(name), html.unescape(value)) for name, value in fields]
connections = make_noise(target, fields) if action == "noise" else []
headers = {"Origin": "null", "Sec-Fetch-Mode": "navigate", "Content-Type": form_type}
opener.open(urllib.request.Request(target, urllib.parse.urlencode(fields).encode(), headers))
