"""Programs in the terminals of one tmux."""
import os
import re
import subprocess

from peers import wait

SOCKET = os.environ["TMPDIR"] + "/tmux"


def tmux(*arguments, text=None):
    return subprocess.run(
        ["tmux", "-S", SOCKET, "-f", "/dev/null", *arguments], capture_output=True, text=True, check=True,
        input=text).stdout


def end_terminals():
    subprocess.run(["tmux", "-S", SOCKET, "kill-server"], capture_output=True)


class Terminal:
    """A terminal with a command of the shell. It stays when that has ended, so that it can still be read."""

    def __init__(self, name, command, **environment):
        self.name = name
        variables = [word for item in environment.items() for word in ("-e", "=".join(item))]
        tmux("new-session", "-d", "-s", name, "-x", "120", "-y", "200", *variables, command + "; exec cat")

    def text(self):
        """What is on the screen, and what was scrolled away."""
        return tmux("capture-pane", "-p", "-J", "-S", "-", "-t", self.name)

    def wait(self, pattern):
        """The screen's text when it matches a pattern."""
        try:
            return wait(pattern, lambda: re.search(pattern, text := self.text()) and text)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.text()}") from None

    def keys(self, *keys):
        tmux("send-keys", "-t", self.name, *keys)

    def clear(self):
        tmux("send-keys", "-t", self.name, "-R", ";", "clear-history", "-t", self.name)

    def paste(self, text):
        tmux("load-buffer", "-", text=text)
        tmux("paste-buffer", "-t", self.name)
