"""How long llavero-desktop takes at its second start to show 1,000 accounts of the keyring, beside an empty window of libadwaita.

Reads what is on the X server's screen from its memory, so that nothing is asked of the programs.
"""
import contextlib
import os
import signal
import statistics
import struct
import subprocess
import time
import zlib

from desktop import SCREEN, TIMEOUT, Desktop, key, wait
from peers import check, finish
from sample_groups import cache, group, keychain

ACCOUNTS = 1000
ROUNDS = 5
# Nothing moves for so long when a window is complete. The bars of the time left move every three seconds or so.
QUIET = 2
LINES = 4  # Of so many lines of the screen one is compared.

EMPTY = """
#include <adwaita.h>
static void activate(GApplication *application) {
  GtkWidget *window = adw_application_window_new(GTK_APPLICATION(application));
  gtk_window_set_default_size(GTK_WINDOW(window), 1040, 680);
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  gtk_box_append(GTK_BOX(box), adw_header_bar_new());
  adw_application_window_set_content(ADW_APPLICATION_WINDOW(window), box);
  gtk_window_present(GTK_WINDOW(window));
}
int main(void) {
  AdwApplication *application = adw_application_new("org.example.Empty", G_APPLICATION_NON_UNIQUE);
  g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
  return g_application_run(G_APPLICATION(application), 0, NULL);
}
"""


class Screen:
    """The screen of Xvfb, in a file that it maps."""

    def __init__(self, path):
        self.file = open(path, "rb", buffering=0)
        header, *_, self.line = struct.unpack(">13I", self.file.read(52))
        self.file.seek(76)
        colors, = struct.unpack(">I", self.file.read(4))
        self.start = header + colors * 12

    def look(self):
        return b"".join(
            os.pread(self.file.fileno(), SCREEN[0] * 4, self.start + self.line * y) for y in range(0, SCREEN[1], LINES))

    def settle(self):
        """Waits until nothing moves, and returns what is shown."""
        last = None
        while (shown := self.look()) != last:
            last = shown
            time.sleep(0.2)
        return shown


def compile_empty():
    program = f"{os.environ['TMPDIR']}/empty"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libadwaita-1"], capture_output=True, text=True, check=True)
    subprocess.run(["cc", "-O2", "-x", "c", "-", "-o", program, *flags.stdout.split()], input=EMPTY, text=True, check=True)
    return program


def measure(screen, start):
    """When a program shows the first frame, and nine tenths of what it shows in the end; with its memory in MiB."""
    frames, last = [], zlib.crc32(screen.settle())
    began = time.monotonic()
    process = start()
    while not frames or time.monotonic() - began - frames[-1][0] < QUIET:
        shown = screen.look()
        if (sum_ := zlib.crc32(shown)) != last:
            frames.append((time.monotonic() - began, shown))
            last = sum_
        elif time.monotonic() - began > TIMEOUT:
            raise TimeoutError("The window is not shown.")
        time.sleep(0.001)
    with open(f"/proc/{process.pid}/smaps_rollup") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    process.send_signal(signal.SIGKILL)
    process.wait(TIMEOUT)
    screen.settle()
    first, end = frames[0][1], frames[-1][1]
    changed = [i for i in range(0, len(end), 4) if first[i:i + 4] != end[i:i + 4]]

    def is_shown(frame):
        return sum(frame[i:i + 4] == end[i:i + 4] for i in changed) >= 0.9 * len(changed)

    return frames[0][0], next(at for at, frame in frames if is_shown(frame)), memory


def ratio(what, values, empty):
    ratios = sorted(value / nothing for value, nothing in zip(values, empty))
    print(f"        {what}: {statistics.median(values):.3f}, {statistics.median(ratios):.2f} times that of an empty window "
          f"({ratios[0]:.2f} to {ratios[-1]:.2f})")


with Desktop() as desktop, contextlib.ExitStack() as started:
    screen = Screen(desktop.screen_file)
    empty = compile_empty()
    kept = {"XDG_STATE_HOME": f"{os.environ['TMPDIR']}/kept"}
    people = [(f"Person {number:04}", f"person{number:04}@contoso.com") for number in range(ACCOUNTS)]
    name = started.enter_context(group("org.example.thousand", cache(people)))
    # What the window keeps of the group when it is closed.
    with keychain(name, **kept) as app:
        app.says("person0000@contoso.com")
        wait("all are read", lambda: key("ctrl+q") or app.process.poll() is not None)
    rounds = {"empty": [], "keychain": []}
    for _ in range(ROUNDS):
        rounds["empty"].append(measure(screen, lambda: subprocess.Popen([empty], stderr=subprocess.DEVNULL)))
        rounds["keychain"].append(measure(screen, lambda: keychain(name, **kept).process))
    firsts, _, memories = zip(*rounds["empty"])
    print(f"        an empty window: {statistics.median(firsts):.3f} s, {statistics.median(memories):.0f} MiB")
    shown = list(zip(*rounds["keychain"]))
    ratio("first frame, in s", shown[0], firsts)
    ratio(f"content of {ACCOUNTS} accounts, in s", shown[1], firsts)
    ratio("memory, in MiB", shown[2], memories)
    check("a window with 1,000 accounts is measured", len(shown[1]) == ROUNDS)
finish()
