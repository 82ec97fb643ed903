"""Glewlwyd on loopback with TLS and SQLite, set up through its own administration API."""
import os
import subprocess
import tempfile

import requests

from peers import free_port, wait

USER, PASSWORD = "alice", "correct horse battery"
CLIENT = "native-client"
SCOPES = ["openid", "profile", "offline_access", "mail"]
PLUGIN = "oidc"
# In seconds, between polls for a device code.
INTERVAL = 1
# How many seconds a device code is valid.
EXPIRATION = 600


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Glewlwyd:
    def __init__(self, redirect_uri):
        self.directory = tempfile.mkdtemp(prefix="glewlwyd-")
        self.port = free_port()
        self.base = f"https://localhost:{self.port}"
        self.authority = f"{self.base}/api/{PLUGIN}"
        self.ca = self.directory + "/ca.pem"
        self.make_certificates()
        self.start()
        os.environ["REQUESTS_CA_BUNDLE"] = os.environ["LLAVERO_CA_BUNDLE"] = self.ca
        try:
            wait("Glewlwyd answers", self.answers)
            self.administrate(redirect_uri)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)

    def path(self, name):
        return f"{self.directory}/{name}"

    def make_certificates(self):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        openssl("req", "-x509", *key, "-subj", "/CN=Throw-away CA", "-keyout", self.path("ca.key"),
                "-out", self.ca, "-addext", "keyUsage=keyCertSign")
        openssl("req", *key[:-2], "-subj", "/CN=localhost", "-keyout", self.path("server.key"),
                "-out", self.path("server.csr"))
        with open(self.path("server.ext"), "w") as file:
            file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
        openssl("x509", "-req", "-in", self.path("server.csr"), "-CA", self.ca, "-CAkey", self.path("ca.key"),
                "-CAcreateserial", "-days", "2", "-extfile", self.path("server.ext"),
                "-out", self.path("server.pem"))
        openssl("genrsa", "-out", self.path("token.key"), "2048")
        openssl("rsa", "-in", self.path("token.key"), "-pubout", "-out", self.path("token.pub"))

    def start(self):
        with open("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3") as file:
            subprocess.run(["sqlite3", self.path("database")], stdin=file, check=True)
        with open(self.path("conf"), "w") as file:
            file.write(f'''
port={self.port}
bind_address="127.0.0.1"
external_url="{self.base}"
login_url="login.html"
api_prefix="api"
static_files_path="/usr/share/glewlwyd/webapp/"
log_mode="file"
log_level="WARNING"
log_file="{self.path("log")}"
cookie_secure=1
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
use_secure_connection=true
secure_connection_key_file="{self.path("server.key")}"
secure_connection_pem_file="{self.path("server.pem")}"
hash_algorithm="SHA512"
database = {{ type = "sqlite3" path = "{self.path("database")}" }};
''')
        self.process = subprocess.Popen(
            ["glewlwyd", "--config-file=" + self.path("conf")], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def answers(self):
        assert self.process.poll() is None, open(self.path("log")).read()
        try:
            return requests.get(self.base + "/config")
        except requests.ConnectionError:
            return None

    def administrate(self, redirect_uri):
        admin = requests.Session()

        def add(path, body, method="post"):
            answer = admin.request(method, f"{self.base}/api/{path}", json=body)
            assert answer.status_code == 200, (path, answer.status_code, answer.text)

        add("auth/", {"username": "admin", "password": "password"})
        for scope in SCOPES:
            if scope != "openid":
                add("scope/", {"name": scope, "display_name": scope, "password_required": True,
                               "password_max_age": 0})
        add("user/", {"username": USER, "password": PASSWORD, "name": "Alice", "email": "alice@example.test",
                      "enabled": True, "scope": [*SCOPES, "g_profile"]})
        add("client/", {
            "client_id": CLIENT, "name": "A native client", "confidential": False, "enabled": True,
            "redirect_uri": [redirect_uri], "scope": [],
            "authorization_type": ["code", "refresh_token", "device_authorization"]})
        with open(self.path("token.key")) as key, open(self.path("token.pub")) as public:
            add("mod/plugin/", {
                "module": "oidc", "name": PLUGIN, "display_name": "OpenID Connect", "order_rank": 0,
                "parameters": {
                    "iss": self.authority, "jwt-type": "rsa", "jwt-key-size": "256", "key": key.read(),
                    "cert": public.read(), "access-token-duration": 3600, "refresh-token-duration": 86400,
                    "code-duration": 60, "refresh-token-rolling": False, "refresh-token-one-use": "always",
                    "allow-non-oidc": True, "subject-type": "public", "allowed-scope": SCOPES,
                    "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True,
                    "auth-type-token-enabled": False, "auth-type-none-enabled": False,
                    "auth-type-password-enabled": False, "auth-type-client-enabled": False,
                    "auth-type-device-enabled": True, "auth-type-refresh-enabled": True, "jwks-show": True,
                    "pkce-allowed": True, "pkce-required": True, "pkce-method-plain-allowed": False,
                    "device-authorization-expiration": EXPIRATION, "device-authorization-interval": INTERVAL,
                    "session-management-allowed": False,
                }})
        person = self.person()
        answer = person.put(f"{self.base}/api/auth/grant/{CLIENT}", json={"scope": " ".join(SCOPES)})
        assert answer.status_code == 200, (answer.status_code, answer.text)

    def person(self):
        """A browser in which the person is signed in to Glewlwyd."""
        return signed_in(self.base)


def signed_in(base):
    session = requests.Session()
    answer = session.post(f"{base}/api/auth/", json={"username": USER, "password": PASSWORD})
    assert answer.status_code == 200, (answer.status_code, answer.text)
    return session
