"""Measures Llavero and its peers side by side and prints the table of BENCHMARKS.md.

Called by `run`, which builds what is measured. Whole processes are timed by hyperfine, in several rounds so that
what is compared runs in turn; the rest is timed inside of worker processes that do one step at a time. What goes on,
and each row as soon as it is known, is said on standard error.
"""
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import sample

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(sys.argv[1])
SESSION = HERE.parent / "Tests/interop/private-session"
COUNTS = (1, 10, 100, 1000)
"""How many accounts are in the cache."""
IMPORTED = (100, 1000)
"""How many accounts are imported for the rows of that name."""
PARTS = ("cold", "seen", "json", "warm", "save", "list", "import", "files")
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
if not shutil.which("secret-tool"):
    sys.exit("secret-tool is missing (Debian: libsecret-tools).")
print("Skipped: MSAL for Go, which needs modules that no package brings.", file=sys.stderr)


class Session:
    """A bus and a keyring of its own, for as long as the block lasts."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [SESSION, "sh", "-c", r"env -0; printf '\0'; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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
    is_met = "" if not reach else "yes" if (
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
            time_text(medians["secret-tool"]), medians["ours"] / medians["secret-tool"], at_most=1.3)
        memory = {name: statistics.median(peak_memory(command, session) for _ in range(5))
                  for name, command in commands.items()}
        if MSAL:
            row("cold", "", "", "MSAL + msal-extensions", time_text(medians["MSAL"]),
                medians["MSAL"] / medians["ours"], at_least=12)
        row("cold", "cold: the same from encrypted files", time_text(medians["files"]), "secret-tool lookup",
            time_text(medians["secret-tool"]), medians["files"] / medians["secret-tool"], at_most=1.3)
        row("cold", "cold: peak memory of the first, MiB", f"{memory['ours']:.1f}", "secret-tool lookup",
            f"{memory['secret-tool']:.1f}")
        row("cold", "", "", "a constant", "18", memory["ours"] / 18, at_most=1)
        if MSAL:
            row("cold", "", "", "MSAL + msal-extensions", f"{memory['MSAL']:.1f}", memory["MSAL"] / memory["ours"])
        row("cold", "cold: peak memory with encrypted files, MiB", f"{memory['files']:.1f}", "a constant", "18",
            memory["files"] / 18, at_most=1)


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


def report_warm(accounts, times):
    row("lookups", f"warm: lookups, scopes a subset of the stored, {people(accounts)}", rate_text(times["lookups"]),
        "a constant", "1,000,000 /s", 1 / times["lookups"] / 1e6, at_least=1)
    if MSAL:
        row("lookups", "", "", "MSAL, same scopes", rate_text(times["exact"]), times["exact"] / times["lookups"],
            at_least=20)
        row("lookups", "", "", "MSAL, a subset", rate_text(times["subset"]), times["subset"] / times["lookups"])
    row("silent", f"warm: acquireTokenSilent, {people(accounts)}", rate_text(times["silent"]), "a constant",
        "200,000 /s", 1 / times["silent"] / 2e5, at_least=1)


def report_spread(section, measure, found, at_most=None):
    every = [times[section] for times in found.values()]
    row(section, f"{measure}: slowest by fastest", "", "", "", max(every) / min(every), at_most=at_most)


def report_save(accounts, times):
    row("save", f"save one token response, {people(accounts)}", time_text(times["ours"]),
        "bare GetSecret + SetSecret", time_text(times["bare"]), times["ours"] / times["bare"], at_most=1.2)
    if "msal" in times:
        row("save", "", "", "msal-extensions", time_text(times["msal"]), times["msal"] / times["ours"],
            at_least={1: 6, 100: 25, 1000: 35}.get(accounts))
        row("save", f"the bare calls alone, {people(accounts)}", time_text(times["bare"]), "msal-extensions",
            time_text(times["msal"]), times["msal"] / times["bare"])


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
    section, place = ("files", "encrypted files: ") if key else ("seen", "")
    rounds = 100
    found = 0
    for number in range(rounds):
        response = json.dumps(sample.response(0, 1, f"seen-{number}"))
        other("find", response)
        ours("save", response)
        found += int(other("find", response))
    duration = medians(9, check=lambda _: ours("check", 1_000_000))["check"]
    row(section, f"{place}a change in another process is seen", f"{found} of {rounds} first lookups", "", "",
        found / rounds, at_least=1)
    row(section, f"{place}the check for it", time_text(duration), "a constant", "100 ns", duration / 1e-7, at_most=1)


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
        times = warm(accounts, ours, None)
        row("files", f"encrypted files: lookups, {people(accounts)}", rate_text(times["lookups"]), "a constant",
            "1,000,000 /s", 1 / times["lookups"] / 1e6, at_least=1)
        row("files", f"encrypted files: acquireTokenSilent, {people(accounts)}", rate_text(times["silent"]),
            "a constant", "200,000 /s", 1 / times["silent"] / 2e5, at_least=1)
        saved = medians(20, save=lambda number: ours("save", json.dumps(sample.response(accounts // 2, 2, number))))
        compare(f"save one token response, {people(accounts)}", "save", saved["save"])
        if accounts == max(COUNTS):
            compare(f"all accounts of {accounts}, cold cache", "list",
                    medians(9, all=lambda _: ours("accounts"))["all"])
            compare(f"import of {people(accounts)}", "import", imported)
        if accounts == 1:
            # Last: what is saved takes the place of the tokens that the lookups are for.
            seen(session, ours, key)


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
        warm_times = {accounts: times["warm"] for accounts, times in found.items()}
        report_spread("lookups", "warm: lookups, scopes a subset of the stored", warm_times, at_most=1.2)
        report_spread("silent", "warm: acquireTokenSilent", warm_times)
    if "files" in CHOSEN:
        for accounts in COUNTS:
            files(accounts, found.get(accounts, {}))
    say(f"The whole took {(time.monotonic() - start) / 60:.1f} minutes.")


def print_table():
    header = ["measure", "Llavero", "compared with", "that", "ratio", "reach", "met"]
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for section in ("cold", "seen", "json", "lookups", "silent", "save", "list", "import", "files"):
        for line in rows.get(section, []):
            print("| " + " | ".join(line) + " |")
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print(f"\n{model}, {os.cpu_count()} cores, Linux {platform.release()}; {MSAL or 'no MSAL for Python'}.")


# The sessions end with the program, however that ends.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended early."))
with tempfile.TemporaryDirectory(prefix="llavero-benchmark-") as FILES:
    try:
        main()
    finally:
        # What was measured before something went wrong is worth having.
        print_table()
