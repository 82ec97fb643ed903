"""Sixteen processes, one keyring, one authority, and a daemon that is ended now and then. See Tests/soak."""
import collections
import json
import os
import signal
import subprocess
import sys
import threading
import time

from peers import BIN, CONTOSO, GROUP, PLAIN, Lab, check, finish, wait

DURATION = float(os.environ["MINUTES"]) * 60
RESTART_INTERVAL, ABSENCE = 20, 1
WRITERS, ACCOUNTS = 6, 20
SHARED_GROUP = "org.example.soak"
# How long after a new sign-in the second process of an account may still say that one was needed.
GRACE = 10


class Process:
    """A worker that works until its standard input ends."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [f"{BIN}/Worker", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.samples, self.report = [], None

    def sample(self):
        try:
            with open(f"/proc/{self.process.pid}/status") as file:
                resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
            self.samples.append((resident, len(os.listdir(f"/proc/{self.process.pid}/fd"))))
        except (OSError, StopIteration):
            pass

    def stop(self):
        self.process.stdin.close()


class Writer(Process):
    def __init__(self, number):
        super().__init__("soak", SHARED_GROUP, f"w{number}", str(ACCOUNTS))
        self.name = f"writer {number}"

    def collect(self):
        self.line = self.process.stdout.readline()
        self.report = json.loads(self.line or "null")
        self.process.wait(60)


class User(Process):
    """A user at the lab; its device codes are approved as they come."""

    accounts = collections.defaultdict(lambda: {"signed_in": None, "save_failed": False})
    lost, saves_failed, lock = [], 0, threading.Lock()

    def __init__(self, lab, name, number, *arguments):
        super().__init__("sign-in", "soak", "--authority", lab.authority, "--client", PLAIN, "--group", GROUP,
                         "--login-hint", f"{name}@contoso.test", *arguments)
        self.lab, self.user, self.name = lab, name, f"{name} {number}"
        self.account = self.accounts[name]
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        for line in self.process.stdout:
            said = json.loads(line)
            if "userCode" in said:
                self.lab.tell(approveDevice={"userCode": said["userCode"], "user": self.user})
            elif "event" in said:
                with self.lock:
                    self.note(said)
            else:
                self.report = said

    def note(self, said):
        account, event = self.account, said["event"]
        if event == "save_failed":
            account["save_failed"] = True
            User.saves_failed += 1
        elif event == "signing_out":
            account["signed_in"] = None
        elif event == "signed_in":
            account.update(signed_in=time.monotonic(), save_failed=False)
        elif account["signed_in"] and not account["save_failed"] \
                and time.monotonic() - account["signed_in"] > GRACE:
            self.lost.append(f"{self.name}: {said['detail']}")

    def collect(self):
        self.thread.join(60)
        self.process.wait(60)


class Keyring:
    """A gnome-keyring that can be ended and started again, on a bus that starts no service by itself."""

    def __init__(self):
        self.control = os.environ["HOME"] + "/control"
        self.start()

    def start(self):
        self.daemon = subprocess.Popen(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets",
             f"--control-directory={self.control}"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.daemon.stdin.write(b"keyring password")
        self.daemon.stdin.close()
        subprocess.run(["gdbus", "wait", "--session", "--timeout", "60", "org.freedesktop.secrets"], check=True)

    def end(self, with_signal=signal.SIGTERM):
        self.daemon.send_signal(with_signal)
        self.daemon.wait()

    def restart(self, with_signal):
        self.end(with_signal)
        time.sleep(ABSENCE)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def add_user(lab, name, number):
    lab.tell(addUser={
        "name": name, "displayName": name, "userPrincipalName": f"{name}@contoso.test",
        "homeTenant": CONTOSO, "guestObjectIDs": {},
        "objectID": f"50a40000-0000-4000-8000-{number:012}"})


def growth(process):
    """From the end of the first fifth to the highest of the last fifth: kilobytes, and file descriptors."""
    samples = process.samples
    fifth = max(1, len(samples) // 5)
    if len(samples) < 3:
        return 0, 0, 0
    first = samples[fifth]
    last = [max(values) for values in zip(*samples[-fifth:])]
    return first[0], last[0] - first[0], last[1] - first[1]


with Keyring() as keyring, Lab() as lab:
    lab.tell(configure={"strictRefreshTokens": True, "deviceInterval": 1})
    names = ["ada", "ben", "cleo", "dan", "eve", "finn"]
    for number, name in enumerate(names):
        add_user(lab, name, number)
    users = []
    for number in (1, 2):
        for name in names[:4]:
            users.append(User(lab, name, number))
        # The second of an account begins when the first has signed in.
        wait("all are signed in, or one has ended", lambda: all(
            User.accounts[name]["signed_in"] for name in names[:4]) or any(user.process.poll() is not None for user in users))
        if any(user.process.poll() is not None for user in users):
            sys.exit("A worker ended before it had begun.")
    users += [User(lab, name, 1, "--signs-out") for name in names[4:]]
    writers = [Writer(number) for number in range(WRITERS)]
    processes = users + writers

    end = time.monotonic() + DURATION
    next_restart, restarts = time.monotonic() + min(RESTART_INTERVAL, DURATION / 3), 0
    while time.monotonic() < end:
        time.sleep(min(1, DURATION / 60))
        for process in processes:
            process.sample()
        if time.monotonic() > next_restart and end - time.monotonic() > 2 * ABSENCE:
            keyring.restart((signal.SIGTERM, signal.SIGKILL)[restarts % 2])
            restarts += 1
            next_restart = time.monotonic() + min(RESTART_INTERVAL, DURATION / 3)
            # The log of requests is the lab's only; it would grow for ever.
            lab.tell(clearLog={})
    for process in processes:
        process.stop()
    for process in processes:
        process.collect()

    if keyring.daemon.poll() is not None:
        # As gnome-keyring 42.1 does now and then. What was acknowledged must be there all the same.
        print(f"the daemon ended by itself, with {keyring.daemon.returncode}")
        keyring.start()
    verification = subprocess.run(
        [f"{BIN}/Worker", "verify", SHARED_GROUP], input="".join(writer.line for writer in writers),
        capture_output=True, text=True, timeout=120)

    done, failed = collections.Counter(), collections.Counter()
    for writer in writers:
        report = writer.report or {}
        done.update({"save": report.get("writes", 0), "find": report.get("reads", 0)})
        failed.update({f"save or find {code}": count for code, count in report.get("errors", {}).items()})
    for user in users:
        done.update((user.report or {}).get("done", {}))
        failed.update((user.report or {}).get("failed", {}))

print(f"{len(processes)} processes, {DURATION:.0f} s, {restarts} restarts of the daemon")
print("operations: " + ", ".join(f"{count} {name}" for name, count in sorted(done.items())))
print("errors: " + (", ".join(f"{count} {name}" for name, count in sorted(failed.items())) or "none"))
print(f"tokens given out that could not be saved: {User.saves_failed}, each with an error")
grown = {process.name: growth(process) for process in processes}
for what, index in (("memory", 1), ("descriptors", 2)):
    most = max(grown, key=lambda name: grown[name][index])
    print(f"growth of {what}: {grown[most][index]}{' KB' if index == 1 else ''} at most ({most})")

check("every process reported and ended well",
      all(process.report and process.process.returncode == 0 for process in processes),
      [(process.name, process.process.returncode) for process in processes])
check("every kind of operation was done", all(done[name] for name in ("save", "find", "read", "renew", "sign_in")), done)
check("the daemon was restarted", restarts > 0 or DURATION < 5)
misses = [miss for writer in writers for miss in (writer.report or {}).get("misses", [])]
check("no writer missed its own token", not misses, misses)
check(f"none of {done['save']} acknowledged saves is lost", verification.stdout.strip() == "0",
      verification.stdout + verification.stderr)
check("no refresh token is lost", not User.lost, User.lost)
check("no process's memory grows", all(kb < 8192 or kb < 0.25 * base for base, kb, _ in grown.values()), grown)
check("no process's file descriptors grow", all(count <= 24 for _, _, count in grown.values()), grown)
finish()
