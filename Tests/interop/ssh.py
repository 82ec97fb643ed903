"""The tool signs in behind sshd on loopback: the answer comes through the ssh -L that it names, or is pasted in tmux.

Both sides are this machine, so that the tunnel's near end is at 127.0.0.2, and what is localhost to the browser.
"""
import os
import pwd
import re
import shlex
import socket
import subprocess
import time

import requests

from peers import ALICE, BIN, GROUP, PLAIN, Lab, check, finish, llavero
from scripted_browser import browse

DIRECTORY = os.environ["TMPDIR"]
NEAR = "127.0.0.2"
USER = pwd.getpwuid(os.geteuid()).pw_name
near_ports = set()
resolve = socket.getaddrinfo
# The browser's ports of the near side are the tunnel's.
socket.getaddrinfo = lambda host, port, *rest, **more: resolve(
    NEAR if port in near_ports else host, port, *rest, **more)


def wait_for(what, holds):
    deadline = time.monotonic() + 120
    while not (value := holds()):
        if time.monotonic() > deadline:
            check(what, False)
            finish()
        time.sleep(0.05)
    return value


def answers(host, port):
    with socket.socket() as near:
        return near.connect_ex((host, port)) == 0


def free_port():
    with socket.socket() as near:
        near.bind(("127.0.0.1", 0))
        return near.getsockname()[1]


class Server:
    """An sshd with keys of its own, for this user alone."""

    def __init__(self):
        self.port = free_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{DIRECTORY}/{name}"], check=True)
        with open(f"{DIRECTORY}/sshd_config", "w") as file:
            file.write(
                f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {DIRECTORY}/host\nPidFile none\nUsePAM no\n"
                f"AuthorizedKeysFile {DIRECTORY}/user.pub\nStrictModes no\nPasswordAuthentication no\n"
                "PermitRootLogin prohibit-password\nAllowUsers " + USER + "\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", 0o755, exist_ok=True)
        self.process = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", f"{DIRECTORY}/sshd_config"], stderr=open(f"{DIRECTORY}/sshd.log", "w"))
        wait_for("sshd answers", lambda: answers("127.0.0.1", self.port))
        self.options = [
            "-F", "none", "-i", f"{DIRECTORY}/user", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
            "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={DIRECTORY}/known", "-o", "LogLevel=ERROR"]

    def command(self, remote, *options):
        return ["ssh", *self.options, "-p", str(self.port), *options, f"{USER}@127.0.0.1", remote]

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def write_environment():
    """What the far side has of this session: the keyring, the lab, and neither display nor browser."""
    names = [name for name in os.environ if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "TERM", "USER")]
    path = f"{DIRECTORY}/far"
    with open(path, "w") as file:
        lines = [f"export {name}={shlex.quote(os.environ[name])}" for name in names]
        file.write("\n".join(["#!/bin/sh", *lines, 'exec "$@"', ""]))
    os.chmod(path, 0o700)
    return path


def by_tunnel(server, far, lab):
    port = free_port()
    login = subprocess.Popen(
        server.command(f"{far} {BIN}/llavero login --port {port}"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    shown = ""
    while "ssh -L" not in shown:
        line = login.stderr.readline()
        if not line:
            break
        shown += line
    command = re.search(r"^ *(ssh -L .*)$", shown, re.M)
    check("over SSH the page and the tunnel are shown", command, shown)
    words = shlex.split(command.group(1))
    check("the tunnel is to this sshd, as this user",
          words == ["ssh", "-L", f"{port}:localhost:{port}", f"{USER}@127.0.0.1", "-p", str(server.port)], words)
    words[2] = f"{NEAR}:{words[2]}"
    tunnel = subprocess.Popen(["ssh", *server.options, "-N", "-o", "ExitOnForwardFailure=yes", *words[1:]])
    try:
        wait_for("the tunnel is open", lambda: answers(NEAR, port))
        near_ports.add(port)
        page = re.search(r"https://\S+", shown).group(0)
        browse(page, "alice")
        output, errors = login.communicate(timeout=120)
        check("the browser's answer comes through the tunnel", login.returncode == 0, errors)
        check("the tool says who signed in", output.startswith(f"Signed in as {ALICE}, for "), output)
        answered = lab.log("authorize")[-1]["query"]
        check("to the port that was named", answered["redirect_uri"] == f"http://localhost:{port}", answered)
        check("where nobody can paste the code is in no address", answered["response_mode"] == "form_post", answered)
        check("the token is good", "access_token" in llavero("token", "--output", "json"))
    finally:
        tunnel.terminate()
        tunnel.wait(20)


SOCKET = f"{DIRECTORY}/tmux"


def tmux(*arguments, text=None):
    return subprocess.run(
        ["tmux", "-S", SOCKET, "-f", "/dev/null", *arguments], capture_output=True, text=True, check=True, input=text).stdout


class Screen:
    """A login over SSH in a terminal."""

    def __init__(self, name, server, far):
        self.name = name
        # The shell lives on after Ctrl-C.
        script = f"trap : INT; {BIN}/llavero login --no-browser; echo exit code $?; stty -a | grep -ow -e -echo -e echo -e -icanon -e icanon"
        command = shlex.join(server.command(f"{far} sh -c {shlex.quote(script)}", "-tt")) + "; exec cat"
        tmux("new-session", "-d", "-s", name, "-x", "120", "-y", "200", command)

    def text(self):
        return tmux("capture-pane", "-p", "-J", "-S", "-", "-t", self.name)

    def wait(self, what):
        wait_for(f"the terminal shows \"{what}\"", lambda: what in self.text())
        return self.text()

    def paste(self, text):
        tmux("load-buffer", "-", text=text)
        tmux("paste-buffer", "-t", self.name)

    def page(self):
        return re.search(r"https://\S+", self.wait("Address: ")).group(0)

    def end(self):
        shown = self.wait("exit code")
        wait_for("the terminal is described", lambda: re.search(r"exit code \d+\n(-?icanon\n)?(-?echo\n)", self.text()))
        return self.text() if shown else ""


def is_restored(shown):
    words = shown.partition("exit code")[2].split()
    return "echo" in words and "icanon" in words and "-echo" not in words and "-icanon" not in words


def end_of(page):
    """Where a browser ends that cannot load its last page."""
    return requests.get(page, allow_redirects=False).headers["Location"]


def by_pasting(server, far, lab):
    lab.tell(configure={"authorize": {"user": {"name": "alice"}}})
    lab.tell(clearLog={})
    screen = Screen("pasting", server, far)
    page = screen.page()
    other = end_of(page).replace("state=", "state=x")
    screen.paste(other + "\n")
    screen.wait("That address answers another sign-in.")
    screen.paste("what is this?\n")
    screen.wait("That is no address.")
    # The address is longer than what a terminal takes in a line.
    address = end_of(page) + "&padding=" + "x" * 6000
    screen.paste(address)
    screen.wait(f"({len(address)} characters)")
    screen.paste("\n")
    shown = screen.end()
    check("the pasted address signs in", f"Signed in as {ALICE}" in shown and "exit code 0" in shown, shown)
    check("the terminal is as it was", is_restored(shown), shown)
    exchange, = lab.log("token")
    seen = re.sub(r"\s", "", shown)
    check("the code is not on the screen, nor in what was scrolled away", exchange["form"]["code"] not in seen)

    screen = Screen("interrupted", server, far)
    screen.page()
    screen.paste("http://localhost")
    screen.wait("(16 characters)")
    tmux("send-keys", "-t", "interrupted", "C-c")
    shown = screen.end()
    check("Ctrl-C ends it", "exit code 5" in shown, shown)
    check("and leaves the terminal as it was", is_restored(shown), shown)


with Lab() as lab:
    os.environ.update(
        LLAVERO_AUTHORITY=lab.authority, LLAVERO_CLIENT_ID=PLAIN, LLAVERO_GROUP=GROUP, TERM="xterm-256color")
    lab.tell(configure={"authorize": {"page": {}}})
    far = write_environment()
    server = Server()
    try:
        by_tunnel(server, far, lab)
        by_pasting(server, far, lab)
    finally:
        server.stop()
        subprocess.run(["tmux", "-S", SOCKET, "kill-server"], capture_output=True)
finish()
