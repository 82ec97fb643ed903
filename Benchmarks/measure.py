"""Measures Llavero and its peers side by side and prints the table of BENCHMARKS.md.

Called by `run`, which builds what is measured. Whole processes are timed by hyperfine, in several rounds so that
what is compared runs in turn; the rest is timed inside of worker processes that do one step at a time. What goes on,
and each row as soon as it is known, are printed on standard error.
"""
import base64
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import sample

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(sys.argv[1])
SESSION = (HERE.parent / ".build/debug/Worker", "session")
COUNTS = (1, 10, 100, 1000)
"""How many accounts are in the cache."""
IMPORTED = (100, 1000)
"""How many accounts are imported for the rows of that name."""
IN_ETCD = (10, 1000, 10_000)
"""How many accounts are in a group in etcd."""
MANY = (1000, 4000)
"""How many accounts are in encrypted files for the rows of the part "many"."""
TENANTS = (100, 400)
"""In how many tenants the one account of the part "tenants" has tokens."""
PARTS = ("cold", "seen", "json", "warm", "save", "list", "import", "files", "tenants", "many", "etcd")
"""What can be measured alone, in the order of the table."""
CHOSEN = sys.argv[2:] or PARTS
if unknown := set(CHOSEN) - set(PARTS):
    sys.exit(f"There is no part {', '.join(sorted(unknown))}. The parts: {' '.join(PARTS)}.")
GROUP = "org.llavero.benchmark"

try:
    import gi
    import msal
    import msal_extensions
    gi.require_version("Secret", "1")
    MSAL = f"MSAL for Python {msal.__version__}, msal-extensions {msal_extensions.__version__}"
except (ImportError, ValueError) as error:
    MSAL = None
    print(f"Skipped: MSAL for Python, of which something is missing ({error}).", file=sys.stderr)
if "etcd" in CHOSEN and not shutil.which("etcd"):
    sys.exit("etcd is missing (Debian: etcd-server).")
if not shutil.which("secret-tool"):
    sys.exit("secret-tool is missing (Debian: libsecret-tools).")
print("Skipped: MSAL for Go, which needs modules that no package brings.", file=sys.stderr)


ENDED = contextlib.ExitStack()
"""Removes the sessions when nothing is measured any more."""


class Session:
    """A bus and a keyring of its own, for as long as the block lasts."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [*SESSION, "sh", "-c", r"env -0; printf '\0'; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        text = b""
        while not text.endswith(b"\0\0"):
            text += self.process.stdout.read(1)
        self.environment = dict(line.split("=", 1) for line in text.decode().strip("\0").split("\0"))
        self.directory = self.environment["HOME"]
        self.workers = []
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.close()
        ENDED.callback(self.end)

    def end(self):
        """Removes the session with its files; not earlier, since ext4 is slower for minutes where many were removed."""
        self.process.stdin.close()
        self.process.wait(60)

    def llavero(self, *key):
        return self.worker(BUILD / "BenchmarkWorker", *key)

    def key(self):
        """A file with a new key for encrypted files."""
        path = pathlib.Path(self.directory) / "key"
        path.touch(0o600)
        path.write_bytes(os.urandom(32))
        return path

    def msal(self):
        return self.worker(sys.executable, "-B", HERE / "msal_worker.py", "serve", self.directory)

    def worker(self, *command):
        self.workers.append(Worker(command, self.environment))
        return self.workers[-1]


class Etcd:
    """A cluster of three nodes on this machine, for as long as the block lasts."""

    def __enter__(self):
        self.files = tempfile.TemporaryDirectory(prefix="llavero-benchmark-etcd-")
        network = f"127.{random.randint(1, 254)}.{random.randint(1, 254)}"
        self.endpoints = [f"http://{network}.{node}:2379" for node in (1, 2, 3)]
        peers = [f"http://{network}.{node}:2380" for node in (1, 2, 3)]
        members = ",".join(f"n{node}={peer}" for node, peer in enumerate(peers))
        self.nodes = [
            subprocess.Popen(
                ["etcd", "--name", f"n{node}", "--data-dir", f"{self.files.name}/{node}", "--logger", "zap",
                 "--log-outputs", f"{self.files.name}/log", "--listen-client-urls", endpoint,
                 "--advertise-client-urls", endpoint, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", members, "--auto-compaction-mode", "revision", "--auto-compaction-retention",
                 "1000"], stderr=subprocess.DEVNULL)
            for node, (endpoint, peer) in enumerate(zip(self.endpoints, peers))]
        while True:
            try:
                self.call("kv/put", key=self.text("a"), value=self.text("b"))
                return self
            except OSError:
                time.sleep(0.1)

    def __exit__(self, *_):
        for node in self.nodes:
            node.kill()
            node.wait()
        self.files.cleanup()

    @staticmethod
    def text(text):
        return base64.b64encode(text.encode()).decode()

    def call(self, method, **message):
        request = urllib.request.Request(f"{self.endpoints[0]}/v3/{method}", json.dumps(message).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def requests(self):
        """How many requests of each kind its nodes have been asked."""
        found = collections.Counter()
        for endpoint in self.endpoints:
            with urllib.request.urlopen(f"{endpoint}/metrics", timeout=60) as answer:
                for line in answer.read().decode().splitlines():
                    if method := re.match(r'grpc_server_started_total\{grpc_method="(\w+)".* (\S+)$', line):
                        found[method[1]] += int(float(method[2]))
        return found

    def size(self):
        return int(self.call("maintenance/status")["dbSize"])

    def memory(self):
        """What the largest node has in memory, in bytes."""
        statuses = [pathlib.Path(f"/proc/{node.pid}/status").read_text() for node in self.nodes]
        return max(int(text.split("VmRSS:")[1].split()[0]) for text in statuses) * 1024


class BareEtcd:
    """Requests to one node that read no more than necessary: one value of a shard's size."""

    def __init__(self, etcd):
        host, port = etcd.endpoints[0].removeprefix("http://").split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host = host
        self.key = etcd.text("/bare/shard")
        self.value = base64.b64encode(os.urandom(12_000)).decode()
        self.revision = int(etcd.call("kv/put", key=self.key, value=self.value)["header"]["revision"])

    def send(self, method, body):
        self.socket.sendall(
            f"POST /v3/{method} HTTP/1.1\r\nHost: {self.host}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        head, _, rest = self.socket.recv(1 << 20).partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), None)
        # Longer answers come in chunks.
        while not rest.endswith(b"0\r\n\r\n") if length is None else len(rest) < length:
            rest += self.socket.recv(1 << 20)
        return rest

    def get(self, more=""):
        start = time.perf_counter()
        self.send("kv/range", f'{{"key":"{self.key}"{more}}}')
        return time.perf_counter() - start

    def pages(self):
        """Reads the whole group, 80 values at a time."""
        start = time.perf_counter()
        key, end, more = Etcd.text("/benchmark/"), Etcd.text("/benchmark0"), True
        while more:
            page = self.send("kv/range", f'{{"key":"{key}","range_end":"{end}","limit":80}}')
            # The key of the last value, found without reading the others; a zero makes the next one.
            last = base64.b64decode(re.findall(rb'"key":"([^"]+)"', page)[-1])
            key, more = base64.b64encode(last + b"\0").decode(), b'"more":true' in page[-100:]
        return time.perf_counter() - start

    def get_and_put(self):
        start = time.perf_counter()
        self.send("kv/range", f'{{"key":"{self.key}"}}')
        answer = self.send("kv/txn", (
            f'{{"compare":[{{"key":"{self.key}","target":"MOD","mod_revision":"{self.revision}"}}],'
            f'"success":[{{"request_put":{{"key":"{self.key}","value":"{self.value}"}}}}]}}'))
        duration = time.perf_counter() - start
        answer = json.loads(answer)
        assert answer["succeeded"]
        self.revision = int(answer["header"]["revision"])
        return duration


class Worker:
    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended with {self.process.wait()}.")
        return line.strip()

    def __call__(self, command, argument=""):
        print(command, argument, file=self.process.stdin, flush=True)
        return float(self.answer())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def medians(rounds, **steps):
    """Does every step once in each round and returns the medians of what they answer."""
    samples = {name: [] for name in steps}
    for number in range(rounds):
        for name, step in steps.items():
            samples[name].append(step(number))
    return {name: statistics.median(values) for name, values in samples.items()}


rows = {}


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr)


def row(section, measure, ours, peer="", theirs="", ratio=None, at_least=None, at_most=None):
    """Adds a line to a section of the table. A reach is the lowest or the highest ratio that will do."""
    reach = f"≥ {at_least:g}" if at_least else f"≤ {at_most:g}" if at_most else ""
    is_met = "" if not reach or ratio is None else "yes" if (
        ratio >= at_least * 0.9995 if at_least else ratio <= at_most * 1.0005) else "**no**"
    line = [measure, ours, peer, theirs, "" if ratio is None else f"{ratio:,.3g}", reach, is_met]
    rows.setdefault(section, []).append(line)
    print("   " + " | ".join(line), file=sys.stderr)


def time_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:,.3g} {unit}"
    return f"{seconds * 1e9:,.3g} ns"


def people(accounts):
    return f"{accounts:,} account{'' if accounts == 1 else 's'}"


def rate_text(seconds):
    return f"{1 / seconds:,.0f} /s"


def write(name, text):
    path = pathlib.Path(FILES) / name
    path.write_text(text)
    return path


def cache_file(accounts, more=None):
    cache = sample.cache(accounts) if more is None else sample.cache(accounts, more)
    return write(f"cache-{accounts}{'' if more is None else '-exact'}.json", json.dumps(cache, indent=4))


def shard_lines(count):
    text = json.dumps(sample.shard(sample.TOKENS + 3), separators=(",", ":"))
    return write(f"shards-{count}", (text + "\n") * count)


def cold():
    """Whole processes that print one token which is in the keyring."""
    with Session() as session:
        session.llavero()("import", cache_file(1))
        subprocess.run(
            ["secret-tool", "store", "--label=One item", "benchmark", "cold"], env=session.environment, check=True,
            input=sample.response(0, 2, 0)["access_token"], text=True)
        commands = {
            "ours": f"{BUILD}/llavero token --group {GROUP} --client {sample.CLIENT} --scope {sample.scope(2)}",
            "secret-tool": "secret-tool lookup benchmark cold",
        }
        key = session.key()
        session.llavero(key)("import", cache_file(1))
        commands["files"] = f"{commands['ours']} --store file --key file:{key}"
        if MSAL:
            session.msal()("import", cache_file(1))
            commands["MSAL"] = f"{sys.executable} -B {HERE}/msal_worker.py cold {session.directory}"
        times = {name: [] for name in commands}
        for _ in range(8):
            report = pathlib.Path(session.directory) / "report.json"
            subprocess.run(
                ["hyperfine", "-N", "--warmup", "1", "--runs", "8", "--export-json", report, *commands.values()],
                env=session.environment, check=True, stdout=subprocess.DEVNULL)
            for name, result in zip(commands, json.loads(report.read_text())["results"]):
                times[name] += result["times"]
        medians = {name: statistics.median(values) for name, values in times.items()}
        row("cold", "cold: llavero token, whole process", time_text(medians["ours"]), "secret-tool lookup",
            time_text(medians["secret-tool"]), medians["ours"] / medians["secret-tool"], at_most=1.25)
        memory = {name: statistics.median(peak_memory(command, session) for _ in range(5))
                  for name, command in commands.items()}
        if MSAL:
            row("cold", "", "", "MSAL + msal-extensions", time_text(medians["MSAL"]),
                medians["MSAL"] / medians["ours"])
        row("cold", "cold: the same from encrypted files", time_text(medians["files"]), "secret-tool lookup",
            time_text(medians["secret-tool"]), medians["files"] / medians["secret-tool"], at_most=1.25)
        row("cold", "cold: peak memory of the first, MiB", f"{memory['ours']:.1f}", "the limit", "16",
            memory["ours"] / 16, at_most=1)
        row("cold", "", "", "secret-tool lookup", f"{memory['secret-tool']:.1f}",
            memory["ours"] / memory["secret-tool"])
        if MSAL:
            row("cold", "", "", "MSAL + msal-extensions", f"{memory['MSAL']:.1f}", memory["MSAL"] / memory["ours"])
        row("cold", "cold: peak memory with encrypted files, MiB", f"{memory['files']:.1f}", "the limit", "16",
            memory["files"] / 16, at_most=1)
        costs = {name: cost(commands[name], session) for name in ("ours", "secret-tool")}
        for name, limit in LIMITS.items():
            ours, theirs = costs["ours"][name], costs["secret-tool"][name]
            row("cold", f"cold: {name}", f"{ours:,}", "the limit", f"{limit:,}", ours / limit, at_most=1)
            row("cold", "", "", "secret-tool lookup", f"{theirs:,}", ours / theirs)


LIMITS = {"thousands of instructions": 56_000, "page faults": 1000, "system calls": 1200, "threads": 8}
"""What a lookup in a process of its own may cost. Of these, load and the machine change little."""


def cost(command, session):
    """What a whole process costs, by the names of ``LIMITS``; each is counted in a run of its own."""
    def errors(*tool):
        return subprocess.run([*tool, *command.split()], env=session.environment, check=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr

    collected = errors("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
    faults = statistics.median(int(errors("/usr/bin/time", "--format=%R").split()[-1]) for _ in range(5))
    lines = map(str.split, errors("strace", "-f", "-qq", "-c", "-U", "name,calls").splitlines())
    calls = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}
    figures = (
        int(re.search(r"Collected : (\d+)", collected)[1]) // 1000, int(faults), calls["total"],
        1 + sum(calls.get(name, 0) for name in ("clone", "clone3")))
    return dict(zip(LIMITS, figures))


def peak_memory(command, session):
    result = subprocess.run(
        ["/usr/bin/time", "--format=%M", *command.split()], env=session.environment, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(result.stderr.split()[-1]) / 1024


def warm(accounts, ours, theirs):
    """Lookups in one process that are answered from memory, ours coherent with other writers."""
    steps = {
        "lookups": lambda _: ours("lookups", 0.3),
        "silent": lambda _: ours("silent", 0.3),
    }
    if theirs:
        theirs["exact"]("memory-cache", cache_file(accounts, more=""))
        theirs["subset"]("memory-cache", cache_file(accounts))
        # A subset of the scopes is looked for in all tokens.
        steps["exact"] = lambda _: theirs["exact"]("silent", 4000)
        steps["subset"] = lambda _: theirs["subset"]("silent", max(4000 // accounts, 20))
    return medians(7, **steps)


def save(accounts, ours, theirs):
    """Saves of one token response, each with new tokens."""
    ours("bare-create", shard_lines(1))
    version = [0]

    def response():
        version[0] += 1
        return json.dumps(sample.response(accounts // 2, 2, version[0]))

    steps = {"ours": lambda _: ours("save", response()), "bare": lambda _: ours("bare-save")}
    for step in steps.values():
        step(0)
    result = medians(60 if accounts < 1000 else 20, **steps)
    if theirs:
        theirs("save", response())
        result |= medians(20 if accounts < 100 else 5, msal=lambda _: theirs("save", response()))
    return result


def report_warm(accounts, times, section="", place="warm"):
    for name, measure, at_least in (
            ("lookups", "lookups, scopes a subset of the stored", 20), ("silent", "acquireTokenSilent", 10)):
        theirs = times.get("exact")
        row(section or name, f"{place}: {measure}, {people(accounts)}", rate_text(times[name]), *(
            ("MSAL, same scopes", rate_text(theirs), theirs / times[name], at_least) if theirs else ()))
        if "subset" in times:
            row(section or name, "", "", "MSAL, a subset", rate_text(times["subset"]), times["subset"] / times[name])


def report_spread(found, section="", place="warm"):
    for name, measure in (("lookups", "lookups, scopes a subset of the stored"), ("silent", "acquireTokenSilent")):
        every = [times[name] for times in found]
        row(section or name, f"{place}: {measure}: slowest by fastest", time_text(max(every)), "the fastest",
            time_text(min(every)), max(every) / min(every), at_most=1.2)


def report_save(accounts, times):
    row("save", f"save one token response, {people(accounts)}", time_text(times["ours"]),
        "bare GetSecret + SetSecret", time_text(times["bare"]), times["ours"] / times["bare"], at_most=1.2)
    if "msal" in times:
        row("save", "", "", "msal-extensions", time_text(times["msal"]), times["msal"] / times["ours"])


def report_list(accounts, times):
    row("list", f"all accounts of {accounts}, cold cache", time_text(times["ours"]),
        "bare SearchItems + GetSecrets", time_text(times["bare"]), times["ours"] / times["bare"], at_most=1.2)


def report_import(accounts, times):
    row("import", f"import of {accounts} accounts with {sample.TOKENS} tokens each", time_text(times["ours"]),
        "bare CreateItem calls", time_text(times["bare"]), times["ours"] / times["bare"], at_most=1.5)
    size = cache_file(accounts).stat().st_size
    row("import", f"peak memory of that import of {accounts}, MiB", f"{times['memory'] / 2**20:.0f}", "the file",
        f"{size / 2**20:.1f}", times["memory"] / size)


def seen(session, ours, *key):
    """Whether another process finds what was saved with its first lookup, and what the check costs."""
    other = session.llavero(*key)
    section, place = {0: ("seen", ""), 1: ("files", "encrypted files: "), 2: ("etcd", "etcd: ")}[len(key)]
    # The counter is compared at each lookup, which costs what it costs without that and so much more. Measured first: the
    # responses below replace the token that is looked up.
    times = medians(9, check=lambda _: ours("check", 1_000_000), lookup=lambda _: ours("lookups", 0.1))
    rounds = 100
    found = 0
    for number in range(rounds):
        response = json.dumps(sample.response(0, 1, f"seen-{number}"))
        other("find", response)
        ours("save", response)
        found += int(other("find", response))
    row(section, f"{place}a change in another process is seen", f"{found} of {rounds} first lookups", "", "",
        found / rounds, at_least=1)
    row(section, f"{place}the check for it", time_text(times["check"]), "a lookup, check included",
        time_text(times["lookup"]), times["check"] / times["lookup"], at_most=0.25)


def documents(ours, theirs):
    """JSON of one shard, to records and back."""
    for command in ("decode", "encode"):
        found = {}
        for records in (10, 100, 1000):
            path = write(f"shard-{records}.json", json.dumps(sample.shard(records), separators=(",", ":")))
            steps = {"ours": lambda _, path=path: ours(command, path)}
            if theirs:
                steps["msal"] = lambda _, path=path: theirs(command, path)
            found[records] = times = medians(31, **steps)
            row("json", f"JSON: {command} {records} records", time_text(times["ours"]), *(
                ("MSAL", time_text(times["msal"]), times["msal"] / times["ours"], 1) if theirs else ()))
        # Ten times as many records are ten times the time, and a little more where they leave the processor's caches.
        row("json", f"JSON: {command}, 1,000 records by 100", time_text(found[1000]["ours"]), "Llavero, 100 records",
            time_text(found[100]["ours"]), found[1000]["ours"] / found[100]["ours"], at_most=20)


def one_account():
    """What needs a keyring with one account only."""
    with Session() as session:
        ours = session.llavero()
        ours("import", cache_file(1))
        if "seen" in CHOSEN:
            say("seen: changes in another process")
            seen(session, ours)
        if "json" in CHOSEN:
            say("json: shards of 10, 100 and 1,000 records")
            documents(ours, session.msal() if MSAL else None)


def keyring(accounts):
    """The rows of a keyring with so many accounts; also what encrypted files are compared with."""
    found = {}
    times = {}
    if "import" in CHOSEN and accounts in IMPORTED:
        say(f"import: {accounts} bare CreateItem calls")
        with Session() as session:
            times["bare"] = session.llavero()("bare-create", shard_lines(accounts))
        say(f"   took {time_text(times['bare'])}")
    with Session() as session, Session() as theirs_session:
        ours = session.llavero()
        say(f"keyring with {accounts} accounts: filling it")
        found["import"] = times["ours"] = ours("import", cache_file(accounts))
        times["memory"] = ours("memory")
        say(f"   took {time_text(times['ours'])}")
        if "bare" in times:
            report_import(accounts, times)
        if "save" in CHOSEN:
            say(f"save: {accounts} accounts")
            theirs = theirs_session.msal() if MSAL else None
            if theirs:
                theirs("import", cache_file(accounts))
            saved = save(accounts, ours, theirs)
            found["save"] = saved["ours"]
            report_save(accounts, saved)
        if "warm" in CHOSEN:
            say(f"warm: {accounts} accounts")
            found["warm"] = warm(
                accounts, ours, MSAL and {"exact": theirs_session.msal(), "subset": theirs_session.msal()})
            report_warm(accounts, found["warm"])
        if "list" in CHOSEN and accounts == max(COUNTS):
            say(f"list: {accounts} accounts")
            listed = medians(9, ours=lambda _: ours("accounts"), bare=lambda _: ours("bare-accounts"))
            found["list"] = listed["ours"]
            report_list(accounts, listed)
    return found


def files(accounts, keyring_times):
    """The rows of the keyring with encrypted files in its place, compared with the keyring of the same run."""
    def compare(measure, step, duration):
        other = keyring_times.get(step)
        row("files", f"encrypted files: {measure}", time_text(duration), *(
            ("Llavero, keyring", time_text(other), duration / other) if other else ()))

    with Session() as session:
        say(f"files: {accounts} accounts")
        key = session.key()
        ours = session.llavero(key)
        imported = ours("import", cache_file(accounts))
        times = warm(accounts, ours, MSAL and {"exact": session.msal(), "subset": session.msal()})
        report_warm(accounts, times, "files", "encrypted files")
        saved = medians(20, save=lambda number: ours("save", json.dumps(sample.response(accounts // 2, 2, number))))
        compare(f"save one token response, {people(accounts)}", "save", saved["save"])
        if accounts == max(COUNTS):
            compare(f"all accounts of {accounts}, cold cache", "list",
                    medians(9, all=lambda _: ours("accounts"))["all"])
            compare(f"import of {people(accounts)}", "import", imported)
        if accounts == 1:
            # Last: what is saved takes the place of the tokens that the lookups are for.
            seen(session, ours, key)
        return times


def status(session, key):
    """A whole `llavero status` of the group in encrypted files."""
    start = time.perf_counter()
    subprocess.run(
        [BUILD / "llavero", "status", "--json", "--group", GROUP, "--client", sample.CLIENT, "--broker", "off",
         "--store", "file", "--key", f"file:{key}"],
        env=session.environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def grown(section, measure, counts, cache, each=lambda *_: None):
    """What `status` and a save cost in a large group of encrypted files, by what they cost in a small one.

    What `status` costs in the smallest, its start, is left out.
    """
    found = {}
    for count in (1, *counts):
        say(f"{section}: {count:,}")
        with Session() as session:
            key = session.key()
            ours = session.llavero(key)
            each(count, ours, ours("import", write("grown.json", json.dumps(cache(count)))))
            found[count] = medians(
                11, status=lambda _: status(session, key),
                save=lambda number: ours("save", json.dumps(sample.response(0, 2, number))))
    small, large = counts
    for step, start in (("status", found[1]["status"]), ("save", 0)):
        more, less = found[large][step] - start, found[small][step] - start
        row(section, f"{measure}: {step}, {large:,} by {small:,}", time_text(more), f"Llavero, {small:,}",
            time_text(less), more / less, at_most=5)


def many_accounts():
    """Thousands of accounts in encrypted files, which take less time to fill than the keyring."""
    imported = {}

    def compare(accounts, ours, duration):
        imported[accounts] = duration
        if accounts not in MANY:
            return
        bare = ours("bare-files", shard_lines(accounts))
        row("many", f"encrypted files: import of {people(accounts)}", time_text(duration),
            "as many bare writes with fsync", time_text(bare), duration / bare, at_most=2)

    grown("many", "encrypted files, accounts", MANY, sample.cache, compare)
    small, large = MANY
    row("many", f"encrypted files, accounts: import, {large:,} by {small:,}", time_text(imported[large]),
        f"Llavero, {small:,}", time_text(imported[small]), imported[large] / imported[small], at_most=5)


def in_etcd():
    """The rows of the keyring with etcd in its place."""
    with Session() as session, Etcd() as etcd:
        key = session.key()
        endpoints = ",".join(etcd.endpoints)
        ours = session.llavero(key, endpoints)
        bare = BareEtcd(etcd)
        saved, filled = {}, 0
        for accounts in IN_ETCD:
            say(f"etcd: {people(accounts)}")
            for first in range(filled, accounts, 1000):
                cache = sample.cache(min(accounts - first, 1000), first=first)
                ours("import", write("etcd.json", json.dumps(cache)))
            filled = accounts
            if accounts == IN_ETCD[0]:
                etcd_lookups(session, ours, bare, key, endpoints)
                renewal(session, etcd, key, endpoints)
            versions = iter(range(1 << 30))
            steps = {
                "ours": lambda _: ours("save", json.dumps(sample.response(accounts // 2, 2, next(versions)))),
                "other": lambda number: ours(
                    "save", json.dumps(sample.response(number % accounts, 2, next(versions)))),
                "bare": lambda _: bare.get_and_put(),
            }
            for step in steps.values():
                step(0)
            times = medians(100, **steps)
            saved[accounts] = times["ours"]
            row("etcd", f"etcd: save one token response, {people(accounts)}", time_text(times["ours"]),
                "bare get + transaction", time_text(times["bare"]), times["ours"] / times["bare"], at_most=1.2)
            row("etcd", "etcd: the same, each of another account", time_text(times["other"]), "bare get + transaction",
                time_text(times["bare"]), times["other"] / times["bare"], at_most=1.3)
            if accounts > IN_ETCD[0]:
                row("etcd", f"etcd: save, {accounts:,} accounts by 10", time_text(times["ours"]), "Llavero, 10 accounts",
                    time_text(saved[IN_ETCD[0]]), times["ours"] / saved[IN_ETCD[0]], at_most=1.2)
            row("etcd", f"etcd: saves of 8 processes, {people(accounts)}",
                f"{saves_per_second(session, accounts, key, endpoints):,.0f} /s")
            times = medians(5, all=lambda _: ours("accounts"), bare=lambda _: bare.pages())
            row("etcd", f"etcd: all accounts of {accounts:,}, cold cache", time_text(times["all"]),
                "bare gets of 80 values each", time_text(times["bare"]), times["all"] / times["bare"],
                at_most=2 if accounts > IN_ETCD[0] else None)
            row("etcd", f"etcd: a node with {people(accounts)}, MiB of database", f"{etcd.size() / 2**20:.0f}",
                "of memory", f"{etcd.memory() / 2**20:.0f}")


def etcd_lookups(session, ours, bare, key, endpoints):
    """Lookups of ten accounts, from memory and such that ask etcd."""
    keyring, asking = session.llavero(), session.llavero(key, endpoints, "check")
    keyring("import", cache_file(IN_ETCD[0]))
    times = medians(9, ours=lambda _: ours("lookups", 0.3), keyring=lambda _: keyring("lookups", 0.3))
    row("etcd", "etcd: lookups, 10 accounts", rate_text(times["ours"]), "Llavero, keyring",
        rate_text(times["keyring"]), times["ours"] / times["keyring"], at_most=1)
    times = medians(9, asking=lambda _: asking("lookups", 0.1), bare=lambda _: statistics.median(
        bare.get(',"keys_only":true') for _ in range(50)), whole=lambda _: statistics.median(
        bare.get() for _ in range(50)))
    row("etcd", "etcd: a lookup that asks whether anything has changed", time_text(times["asking"]),
        "bare get of a key without its value", time_text(times["bare"]), times["asking"] / times["bare"])
    row("etcd", "", "", "bare get", time_text(times["whole"]), times["asking"] / times["whole"], at_most=1.5)
    seen(session, ours, key, endpoints)


def renewal(session, etcd, key, endpoints):
    """What a new process, such as a tool's, asks of etcd to renew the tokens of an account."""
    response = sample.response(0, 2, "renewed")
    # A refresh need not be answered with an ID token, and that of the sample is out of date.
    del response["id_token"]
    # The metadata of the authority, for which it is asked first.
    host = f"https://{sample.ENVIRONMENT}/common"
    response |= {"issuer": host, "authorization_endpoint": f"{host}/authorize", "token_endpoint": f"{host}/token"}
    before = etcd.requests()
    session.llavero(key, endpoints)("renew", json.dumps(response))
    asked = etcd.requests() - before
    row("etcd", "etcd: requests of a renewal in a new process", f"{asked.total()}")
    more = asked["LeaseGrant"] + asked["Watch"]
    row("etcd", "etcd: leases and watches of it", f"{more}", "a lease for the turn, one for the save", "2", more / 2,
        at_most=1)


def saves_per_second(session, accounts, key, endpoints):
    """How many saves eight processes make in a second, each of other accounts where there are enough."""
    count = 200
    workers = [session.llavero(key, endpoints) for _ in range(8)]
    files = [
        write(f"saves-{number}", "\n".join(
            json.dumps(sample.response((number * (accounts // 8) + save) % accounts, 3, f"{number}-{save}"))
            for save in range(count)))
        for number in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for worker in workers:
            worker("save", files[0].read_text().splitlines()[0])
        start = time.perf_counter()
        list(pool.map(lambda pair: pair[0]("saves", pair[1]), zip(workers, files)))
        return 8 * count / (time.perf_counter() - start)


def main():
    start = time.monotonic()
    if "cold" in CHOSEN:
        say("cold: whole processes")
        cold()
    if {"seen", "json"} & set(CHOSEN):
        one_account()
    found = {}
    if {"warm", "save", "list", "import"} & set(CHOSEN):
        counts = COUNTS if {"warm", "save"} & set(CHOSEN) else IMPORTED if "import" in CHOSEN else COUNTS[-1:]
        found = {accounts: keyring(accounts) for accounts in counts}
    if "warm" in CHOSEN:
        warm_times = [times["warm"] for times in found.values()]
        report_spread(warm_times)
    if "files" in CHOSEN:
        report_spread([files(accounts, found.get(accounts, {})) for accounts in COUNTS], "files", "encrypted files")
    if "tenants" in CHOSEN:
        grown("tenants", "encrypted files, tenants of an account", TENANTS, sample.tenants)
    if "many" in CHOSEN:
        many_accounts()
    if "etcd" in CHOSEN:
        in_etcd()
    say(f"The whole took {(time.monotonic() - start) / 60:.1f} minutes.")


def print_table():
    header = ["measure", "Llavero", "compared with", "that", "ratio", "reach", "met"]
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for section in ("cold", "seen", "json", "lookups", "silent", "save", "list", "import", "files", "tenants", "many",
                    "etcd"):
        for line in rows.get(section, []):
            print("| " + " | ".join(line) + " |")
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print(f"\n{model}, {os.cpu_count()} cores, Linux {platform.release()}; {MSAL or 'no MSAL for Python'}.")


# The sessions end with the program, however that ends.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended early."))
with tempfile.TemporaryDirectory(prefix="llavero-benchmark-") as FILES, ENDED:
    try:
        main()
    finally:
        # What was measured before something went wrong is worth having.
        print_table()
