"""A display with a window manager, an accessibility bus, and programs with windows on them, whose widgets are found by their
names.

Needs the session that Tests/Worker makes; the directory of the programs is DESKTOP_BIN.
"""
import contextlib
import os
import signal
import subprocess
import sys
import time

import gi

import peers

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib

PROGRAMS = os.environ["DESKTOP_BIN"]
# With the translations, which Desktop/run-tests compiles.
SHARE = os.path.realpath(f"{PROGRAMS}/../share")
# For what hangs, not for what is slow.
TIMEOUT = 180
SCREEN = (1280, 1024)


def wait(what, condition):
    """The value of a condition as soon as it is true. A widget may go while it is looked at."""
    def value():
        try:
            return condition()
        except GLib.Error:
            return None

    return peers.wait(what, value)


def is_usable(widget):
    return widget.get_state_set().contains(Atspi.StateType.SENSITIVE)


class Desktop:
    """An X server with a window manager, and an accessibility bus, for as long as a "with" lasts."""

    def __enter__(self):
        with contextlib.ExitStack() as started:
            self.started = started
            os.environ.update(
                GSK_RENDERER="cairo", XDG_DATA_DIRS="/usr/local/share:/usr/share",
                # The desktop's settings are asked for by services that this session has not.
                ADW_DISABLE_PORTAL="1", GTK_USE_PORTAL="0")
            self.start_display()
            self.launch("/usr/libexec/at-spi-bus-launcher", "--launch-immediately")
            subprocess.run(["gdbus", "wait", "--session", "--timeout", str(TIMEOUT), "org.a11y.Bus"], check=True)
            Atspi.init()
            # It gives a program less than a second to answer, unless it is told otherwise.
            Atspi.set_timeout(TIMEOUT * 1000, TIMEOUT * 1000)
            # Nothing is left of a start that failed.
            self.started = started.pop_all()
        return self

    def __exit__(self, *_):
        self.started.close()

    def launch(self, *command, **options):
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.started.callback(process.wait, TIMEOUT)
        self.started.callback(process.terminate)

    def start_display(self):
        reading, writing = os.pipe()
        with os.fdopen(reading) as file:
            with os.fdopen(writing, "w"):
                # By default it resets after its last client has disconnected, and accepts no client meanwhile.
                self.launch("Xvfb", "-displayfd", str(writing), "-screen", "0", f"{SCREEN[0]}x{SCREEN[1]}x24", "-nolisten", "tcp",
                            "-noreset", "-fbdir", os.environ["TMPDIR"], pass_fds=[writing])
            number = file.readline().strip()
        if not number:
            raise RuntimeError("Xvfb ended without a display.")
        os.environ.update(DISPLAY=":" + number, GDK_BACKEND="x11")
        self.screen_file = f"{os.environ['TMPDIR']}/Xvfb_screen0"
        self.launch("openbox")
        # Fails on a display without a window manager.
        wait("the window manager", lambda: subprocess.run(
            ["xdotool", "get_num_desktops"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)

    def accessibility_bus(self):
        """The address of the accessibility bus, for a program that cannot ask the session bus for it."""
        answer = subprocess.run(
            ["gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus", "--method",
             "org.a11y.Bus.GetAddress"], capture_output=True, text=True, check=True).stdout
        return answer.split("'")[1]

    def picture(self, path):
        """Writes the whole display to a PNG, without the black around the windows."""
        time.sleep(1)  # For what still moves.
        subprocess.run(["import", "-window", "root", "-trim", "+repage", "-strip", path], check=True)
        subprocess.run(["pngquant", "--force", "--ext", ".png", "--strip", "--speed", "1", path], check=True)


class WaylandDesktop(Desktop):
    """The same with a Wayland compositor without a screen, in place of the X server."""

    def start_display(self):
        configuration = f"{os.environ['TMPDIR']}/sway"
        with open(configuration, "w") as file:
            file.write("xwayland disable\n")
        # It refuses to run as a user who could become root.
        user = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.getuid() == 0 else []
        environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
        self.launch(*user, "sway", "--config", configuration, env=environment | {
            "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"})
        directory = os.environ["XDG_RUNTIME_DIR"]
        display = wait("the compositor", lambda: next(
            (name for name in os.listdir(directory) if name.startswith("wayland-") and not name.endswith(".lock")), None))
        os.environ.pop("DISPLAY", None)
        os.environ.update(WAYLAND_DISPLAY=display, GDK_BACKEND="wayland")
        # A keyboard that stays. The keys of one that comes and goes would be lost to a program that is slow to notice it.
        self.launch("wtype", "-s", str(2**31 - 1))


def key(name):
    """Presses a key with its modifiers, such as "ctrl+f"."""
    if "WAYLAND_DISPLAY" not in os.environ:
        subprocess.run(["xdotool", "key", "--clearmodifiers", name], check=True)
        return
    *modifiers, last = name.split("+")
    held = [option for modifier in modifiers for option in ("-M", modifier)]
    released = [option for modifier in modifiers for option in ("-m", modifier)]
    subprocess.run(["wtype", *held, "-k", last, *released], check=True)


def type_text(text):
    """Types a text where the keyboard's focus is."""
    subprocess.run(["wtype", text] if "WAYLAND_DISPLAY" in os.environ else ["xdotool", "type", text], check=True)


def resize_window(window, width, height):
    subprocess.run(["xdotool", "windowsize", "--sync", window, str(width), str(height)], check=True)
    geometry = subprocess.run(
        ["xdotool", "getwindowgeometry", "--shell", window], capture_output=True, text=True, check=True).stdout
    return int(geometry.split("WIDTH=")[1].split()[0])


def enlarge_text(times):
    """Makes the text of programs larger from now on: their default is 96 points in an inch."""
    subprocess.run(["xprop", "-root", "-format", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER",
                    f"Xft.dpi: {int(96 * times)}"], check=True)


class Program:
    """A running program of this package. What it writes to standard error is in `errors()`."""

    def __init__(self, name, *arguments, without=(), **environment):
        self.name = name
        self.log = f"{os.environ['TMPDIR']}/{name}-{time.monotonic_ns()}.log"
        # What the program starts has it, too.
        self.mark = f"STARTED_BY={self.log}"
        variables = {key: value for key, value in os.environ.items() if key not in without}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [f"{PROGRAMS}/{name}", *arguments], stdin=subprocess.DEVNULL, stderr=log,
                env={**variables, **environment, "STARTED_BY": self.log})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(TIMEOUT)

    def errors(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def resize(self, width, height):
        """Gives its window a size, on an X server, and returns the width that it has then."""
        def windows():
            return subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)], capture_output=True, text=True,
                check=True).stdout.split()

        # A dialog leaves the screen after its widgets.
        window, = self.wait("its window is alone", lambda: len(found := windows()) == 1 and found)
        return resize_window(window, width, height)

    def size(self):
        """The width and height of the window in front, on an X server."""
        geometry = subprocess.run(
            ["xdotool", "getactivewindow", "getwindowgeometry", "--shell"], capture_output=True, text=True,
            check=True).stdout
        return tuple(int(geometry.split(f"{part}=")[1].split()[0]) for part in ("WIDTH", "HEIGHT"))

    def resize_dialog(self, width, height):
        """The same for the window in front."""
        return resize_window(
            subprocess.run(["xdotool", "getactivewindow"], capture_output=True, text=True, check=True).stdout.strip(),
            width, height)

    def root(self):
        """The program, as a screen reader finds it."""
        desktop = Atspi.get_desktop(0)
        desktop.clear_cache()
        for index in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(index)
            if application is not None and application.get_process_id() == self.process.pid:
                return application
        return None

    def widgets(self):
        """Its widgets that can be seen, each before those in it."""
        waiting = [self.root()]
        while waiting:
            widget = waiting.pop()
            if widget is None:
                continue
            widget.clear_cache()
            yield widget
            waiting += [widget.get_child_at_index(index) for index in reversed(range(widget.get_child_count()))]

    def find(self, name, role=None):
        """The first widget of a name, and of a role ("button", "text"), or None."""
        for widget in self.widgets():
            if widget.get_name() == name and role in (None, widget.get_role_name()):
                return widget
        return None

    def wait(self, what, condition):
        """As `wait`; says what was in the window when it was in vain."""
        try:
            return wait(what, condition)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.tree()}\n{self.errors()}") from None

    def appears(self, name, role=None):
        return self.wait(f'"{name}" appears', lambda: self.find(name, role))

    def has(self, name):
        """Whether a button of a name can be used."""
        return any(widget.get_name() == name and widget.get_role_name() == "push button" and is_usable(widget)
                   for widget in self.widgets())

    def click(self, name, role=None):
        """Clicks a widget as soon as it is there and can be used."""
        widget = self.wait(f'"{name}" can be clicked', lambda: (
            found := self.find(name, role)) and is_usable(found) and found)
        widget.get_action_iface().do_action(0)

    def focused_widget(self):
        return next((widget for widget in self.widgets()
                     if widget.get_state_set().contains(Atspi.StateType.FOCUSED)), None)

    def focused(self):
        """The name of the widget with the keyboard's focus."""
        widget = self.focused_widget()
        return widget.get_name() if widget else ""

    def focused_row(self):
        """The name of the row of a list that has the widget with the keyboard's focus."""
        widget = self.focused_widget()
        while widget and widget.get_role_name() != "list item":
            widget = widget.get_parent()
        return widget.get_name() if widget else ""

    def tab_to(self, part):
        """Presses Tab until the widget whose name has a part has the keyboard's focus, fifty times at most."""
        name, = self.wait("the focus can be read", lambda: (self.focused(),))
        for _ in range(50):
            if part in name:
                return
            key("Tab")
            name = self.wait("the focus moves", lambda: (now := self.focused()) != name and now)
        raise TimeoutError(f'Tab does not reach "{part}"\n{self.tree()}\n{self.errors()}')

    def text(self, name):
        """What stands in the text of a name."""
        text = self.appears(name).get_text_iface()
        return Atspi.Text.get_text(text, 0, Atspi.Text.get_character_count(text))

    def reads(self, name, part):
        """Waits until a text of a name holds a part, and returns the text."""
        self.wait(f'"{part}" stands in "{name}"', lambda: part in self.text(name))
        return self.text(name)

    def labels(self):
        """What the labels, also those that are alerts, say, the way the eye reads them."""
        return [widget.get_name() for widget in self.widgets() if widget.get_role_name() in ("label", "alert")]

    def says(self, part):
        """Waits until some label holds a part of a sentence, and returns the label."""
        return self.wait(f'a label says "{part}"', lambda: next((text for text in self.labels() if part in text), None))

    def height(self, part):
        """Waits until some label holds a part of a sentence, and returns its height in pixels."""
        def found():
            label = next((widget for widget in self.widgets()
                          if widget.get_role_name() == "label" and part in widget.get_name()), None)
            return label and label.get_component_iface().get_extents(Atspi.CoordType.WINDOW).height
        return self.wait(f'a label says "{part}" somewhere', found)

    def focus_on_screen(self):
        """Whether all of the widget with the keyboard's focus is in its window, and the window's end on the X server's screen."""
        box = self.focused_widget().get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        window = subprocess.run(
            ["xdotool", "getactivewindow", "getwindowgeometry", "--shell"], capture_output=True, text=True, check=True).stdout
        top, height = (int(window.split(f"\n{part}=")[1].split()[0]) for part in ("Y", "HEIGHT"))
        return box.y + box.height <= height and top + height <= SCREEN[1]

    def point_at(self, part):
        """Clicks the row of a list whose name has a part with the pointer, on an X server."""
        row = next(widget for widget in self.widgets()
                   if widget.get_role_name() == "list item" and part in widget.get_name())
        box = row.get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        window = subprocess.run(
            ["xdotool", "getactivewindow", "getwindowgeometry", "--shell"], capture_output=True, text=True, check=True).stdout
        left, top = (int(window.split(f"\n{part}=")[1].split()[0]) for part in "XY")
        x, y = left + box.x + box.width // 2, top + box.y + box.height // 2
        # The pointer goes away again: in an open list it selects the row that it lies over, whatever the keyboard does.
        subprocess.run(["xdotool", "mousemove", str(x), str(y), "click", "1", "mousemove", "0", "0"], check=True)

    def gone(self, part):
        """Waits until no label holds a part of a sentence."""
        return self.wait(f'"{part}" leaves the screen', lambda: not any(part in text for text in self.labels()))

    def tree(self):
        lines = []
        for widget in self.widgets():
            states = " ".join(state.value_nick for state in widget.get_state_set().get_states())
            lines.append(f"{widget.get_role_name()} {widget.get_name()!r} {states}")
        return "\n".join(lines)

    def ends(self):
        """Waits for its end, and that of all it started, and returns its exit code."""
        code = self.process.wait(TIMEOUT)
        wait("what it started ends", lambda: not self.leftovers())
        return code

    def leftovers(self):
        """The processes that it started and that still run."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if self.mark.encode() in file.read().split(b"\0"):
                        found.append(pid)
            except OSError:
                pass  # It has ended, or belongs to another user.
        return found


@contextlib.contextmanager
def announcements():
    """A function that returns what programs have told screen readers to say: an announcement of GTK 4.14, or a new description."""
    said = []
    listener = Atspi.EventListener.new(lambda event: said.append(event.any_data))
    kinds = ["object:announcement", "object:property-change:accessible-description"]

    def heard():
        while GLib.MainContext.default().iteration(False):
            pass
        return said

    for kind in kinds:
        listener.register(kind)
    yield heard
    for kind in kinds:
        listener.deregister(kind)


COLLECTION = "/org/freedesktop/secrets/collection/login"


def keyring(bus, interface, method, arguments):
    return bus.call_sync(
        "org.freedesktop.secrets", "/org/freedesktop/secrets", interface, method, arguments, None,
        Gio.DBusCallFlags.NONE, TIMEOUT * 1000)


def lock_keyring():
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    keyring(bus, "org.freedesktop.Secret.Service", "Lock", GLib.Variant("(ao)", ([COLLECTION],)))


@contextlib.contextmanager
def stopped_keyring():
    """Lets the keyring answer only afterwards."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    process, = bus.call_sync(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
        GLib.Variant("(s)", ("org.freedesktop.secrets",)), None, 0, -1, None).unpack()
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def unlock_keyring():
    """Unlocks without a prompt, through an interface that only gnome-keyring has."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    plain = GLib.Variant("(sv)", ("plain", GLib.Variant("s", "")))
    _, session = keyring(bus, "org.freedesktop.Secret.Service", "OpenSession", plain).unpack()
    secret = (session, b"", b"keyring password", "text/plain")
    keyring(bus, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "UnlockWithMasterPassword",
            GLib.Variant("(o(oayays))", (COLLECTION, secret)))


if __name__ == "__main__":
    with Desktop(), Program(*sys.argv[1:]) as program:
        wait("a window", lambda: program.root() and program.root().get_child_count())
        print(program.tree())
