"""The tool signs in behind sshd on loopback: the answer comes through the ssh -L that it names, or is pasted in tmux.

Both sides are this machine, so that the tunnel's near end is at 127.0.0.2, and what is localhost to the browser.
"""
import os
import re
import shlex
import socket
import subprocess

import requests

from browser import Browser
from peers import ALICE, BIN, Lab, check, configure, finish, free_port, llavero, wait
from ssh_server import SSHServer
from terminal import Terminal, end_terminals

DIRECTORY = os.environ["TMPDIR"]
NEAR = "127.0.0.2"
near_ports = set()
resolve = socket.getaddrinfo
# The browser's ports of the near side are the tunnel's.
socket.getaddrinfo = lambda host, port, *rest, **more: resolve(
    NEAR if port in near_ports else host, port, *rest, **more)


def answers(host, port):
    with socket.socket() as near:
        return near.connect_ex((host, port)) == 0


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
        server.command(server.host, f"{far} {BIN}/llavero login --port {port}"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
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
          words == ["ssh", "-L", f"{port}:localhost:{port}", server.host, "-p", str(server.port)], words)
    words[2] = f"{NEAR}:{words[2]}"
    tunnel = subprocess.Popen(["ssh", *server.options, "-N", *words[1:]])
    try:
        wait("the tunnel is open", lambda: answers(NEAR, port))
        near_ports.add(port)
        page = re.search(r"https://\S+", shown).group(0)
        Browser().browse(page, "alice")
        output, errors = login.communicate(timeout=120)
        check("the browser's response comes through the tunnel", login.returncode == 0, errors)
        check("the tool shows the signed-in account", output.startswith(f"Signed in as {ALICE}, for "), output)
        answered = lab.log("authorize")[-1]["query"]
        check("to the configured port", answered["redirect_uri"] == f"http://localhost:{port}", answered)
        check("without a terminal the code is in no URL", answered["response_mode"] == "form_post", answered)
        check("the token is good", "access_token" in llavero("token", "--output", "json"))
    finally:
        tunnel.terminate()
        tunnel.wait(20)


class Screen(Terminal):
    """A login over SSH in a terminal."""

    def __init__(self, name, server, far):
        # The shell lives on after Ctrl-C.
        script = f"trap : INT; {BIN}/llavero login --no-browser; echo exit code $?; stty -a | grep -ow -e -echo -e echo -e -icanon -e icanon"
        super().__init__(name, shlex.join(server.command("-tt", server.host, f"{far} sh -c {shlex.quote(script)}")))

    def page(self):
        return re.search(r"https://\S+", self.wait("Address: "))[0]

    def end(self):
        return self.wait(r"exit code \d+\n(-?icanon\n)?(-?echo\n)")


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
    screen.wait("That address belongs to another sign-in")
    screen.paste("what is this?\n")
    screen.wait("That is not an address")
    # The address is longer than what a terminal takes in a line.
    address = end_of(page) + "&padding=" + "x" * 6000
    screen.paste(address)
    screen.wait(f"{len(address)} characters")
    screen.paste("\n")
    shown = screen.end()
    check("the pasted address signs in", f"Signed in as {ALICE}" in shown and "exit code 0" in shown, shown)
    check("the terminal is restored", is_restored(shown), shown)
    exchange, = lab.log("token")
    seen = re.sub(r"\s", "", shown)
    check("the code is neither on the screen nor in its history", exchange["form"]["code"] not in seen)

    screen = Screen("interrupted", server, far)
    screen.page()
    screen.paste("http://localhost")
    screen.wait("16 characters")
    screen.keys("C-c")
    shown = screen.end()
    check("Ctrl-C ends it", "exit code 5" in shown, shown)
    check("and restores the terminal", is_restored(shown), shown)


with Lab() as lab:
    configure(lab)
    os.environ["TERM"] = "xterm-256color"
    lab.tell(configure={"authorize": {"page": {}}})
    far = write_environment()
    try:
        with SSHServer(DIRECTORY) as server:
            by_tunnel(server, far, lab)
            by_pasting(server, far, lab)
    finally:
        end_terminals()
finish()
