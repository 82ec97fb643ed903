"""A browser without a window: opens a page of the lab, by way of the address of this machine that leads there once,
selects BROWSER_USER where the page asks for the account, and posts or follows the response to the loopback listener.

LAB_CA_BUNDLE names the certificates that it trusts. What LAB_BROWSER_ACTION names it does besides, and reports to the lab:
"noise" sends the listener invalid requests first, "watch" notes how a query is answered, "linger" stays until it is ended.
"""
import html, http.client, http.cookiejar, os, re, signal, socket, ssl, sys, urllib.error, urllib.parse, urllib.request

form_type = "application/x-www-form-urlencoded"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


class Browser:
    def __init__(self):
        context = ssl.create_default_context(cafile=os.environ["LAB_CA_BUNDLE"])
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context), urllib.request.HTTPCookieProcessor(), NoRedirect)

    def fetch(self, request):
        try:
            return self.opener.open(request)
        except urllib.error.HTTPError as error:
            return error

    def post(self, address, fields, **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        body = urllib.parse.urlencode(fields).encode()
        return self.fetch(urllib.request.Request(address, body, {"Content-Type": form_type} | names))

    def report(self, **facts):
        # The lab has no such page, but remembers that it was asked for.
        self.fetch(urllib.parse.urljoin(self.page, "/report?" + urllib.parse.urlencode(facts)))

    def browse(self, page, user=None, action=None):
        """Signs in, and returns the last page."""
        self.page = self.fetch(page).headers["Location"] if page.startswith("http://") else page
        response = self.fetch(self.page)
        if action == "linger":
            self.report(process=os.getpid())
            signal.pause()
        text = response.read().decode()
        if user and 'name="choose"' in text:
            target, fields = form(text)
            fields.append(("cancel", "1") if user == "cancel" else ("user", user))
            response = self.post(urllib.parse.urljoin(self.page, target), fields)
            text = response.read().decode()
        if location := response.headers.get("Location"):
            # The listener sends its own redirect, so that the code leaves the address bar.
            if action == "watch":
                moved = self.fetch(location)
                self.report(status=moved.status)
                location = urllib.parse.urljoin(location, moved.headers["Location"])
            with urllib.request.urlopen(location) as last:
                return last.read().decode()
        if 'name="hiddenform"' not in text:
            return text
        target, fields = form(text)
        connections = make_noise(self, target, fields) if action == "noise" else []
        return self.answer(target, fields).read().decode()

    def answer(self, target, fields):
        """Posts the form of a page as its script does."""
        return self.post(target, fields, Origin="null", Sec_Fetch_Mode="navigate")


def form(text):
    target = html.unescape(re.search(r'<form[^>]*action="([^"]*)"', text)[1])
    fields = re.findall(r'<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"', text)
    return target, [(html.unescape(name), html.unescape(value)) for name, value in fields]


def make_noise(browser, target, fields):
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
    browser.report(
        favicon=status("GET", "/favicon.ico"), get=status("GET", "/"),
        state=",".join(sorted({str(status("POST", "/", wrong)) for _ in range(100)})),
        stateless=status("POST", "/", [("error", "access_denied")]),
        twice=status("POST", "/", fields + [("code", "x")]),
        host=status("POST", "/", fields, Host="evil.test"),
        script=status("POST", "/", fields, Sec_Fetch_Mode="cors"))
    # 10 MB of body, which is not read to its end.
    large = socket.create_connection(("127.0.0.1", port))
    head = f"POST / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: {form_type}\r\nContent-Length: 10000000\r\n\r\n"
    try:
        large.sendall(head.encode() + b"x" * 10_000_000)
    except OSError:
        pass
    return silent


if __name__ == "__main__":
    Browser().browse(sys.argv[1], os.environ.get("BROWSER_USER"), os.environ.get("LAB_BROWSER_ACTION"))
