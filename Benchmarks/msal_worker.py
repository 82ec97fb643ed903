"""MSAL for Python and msal-extensions, doing the same as BenchmarkWorker by the same lines."""
import json
import resource
import sys
import time

import msal
import msal_extensions

import sample

AUTHORITY = f"https://{sample.ENVIRONMENT}/{sample.TENANT}"


def persistence(directory):
    return msal_extensions.LibsecretPersistence(
        f"{directory}/msal.cache", schema_name="org.llavero.benchmark.msal", attributes={"which": "benchmark"})


class Discovery:
    """Answers the discovery request that every application begins with, so that no network is timed."""
    status_code, headers = 200, {}
    text = json.dumps({name: f"{AUTHORITY}/{name}" for name in (
        "authorization_endpoint", "token_endpoint", "device_authorization_endpoint", "issuer")})

    def get(self, *_, **__):
        return self

    def close(self):
        pass


def application(cache):
    return msal.PublicClientApplication(
        sample.CLIENT, authority=AUTHORITY, token_cache=cache, instance_discovery=False, http_client=Discovery())


def seconds(body):
    start = time.perf_counter()
    body()
    return time.perf_counter() - start


def event(response):
    return {
        "client_id": sample.CLIENT, "scope": response["scope"].split(), "response": response,
        "token_endpoint": f"{AUTHORITY}/oauth2/v2.0/token", "environment": sample.ENVIRONMENT}


class Worker:
    def __init__(self, directory):
        self.stored = persistence(directory)

    def importing(self, path):
        self.stored.save(open(path).read())
        self.cache = msal_extensions.PersistedTokenCache(self.stored)
        return 0

    def save(self, line):
        response = json.loads(line)
        # As acquire_token_by_refresh_token and the others do it with an answer.
        return seconds(lambda: self.cache.add(event(response)))

    def memory_cache(self, path):
        cache = msal.SerializableTokenCache()
        cache.deserialize(open(path).read())
        self.app = application(cache)
        self.accounts = self.app.get_accounts()
        return 0

    def silent(self, count):
        count = int(count)
        scopes = [sample.scope(2)]
        accounts, app = self.accounts, self.app

        def body():
            for number in range(count):
                if not app.acquire_token_silent(scopes, account=accounts[number % len(accounts)]):
                    sys.exit(70)
        return seconds(body) / count

    def decode(self, path):
        text = open(path).read()
        cache = msal.SerializableTokenCache()
        return seconds(lambda: cache.deserialize(text))

    def encode(self, path):
        cache = msal.SerializableTokenCache()
        cache.deserialize(open(path).read())
        return seconds(cache.serialize)

    def memory(self, _):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def cold(directory):
    """A whole program: takes a token from the cache and prints it."""
    app = application(msal_extensions.PersistedTokenCache(persistence(directory)))
    result = app.acquire_token_silent([sample.scope(2)], account=app.get_accounts()[0])
    print(result["access_token"])


def serve(directory):
    worker = Worker(directory)
    print("ready", flush=True)
    for line in sys.stdin:
        command, _, argument = line.rstrip("\n").partition(" ")
        name = {"import": "importing"}.get(command, command.replace("-", "_"))
        print(getattr(worker, name)(argument), flush=True)


if __name__ == "__main__":
    (cold if sys.argv[1] == "cold" else serve)(sys.argv[2])
