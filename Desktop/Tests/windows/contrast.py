"""The contrast of all text of llavero-desktop, as it is on the screen: at least 4.5 to 1 (WCAG 2, 1.4.3)."""
import subprocess
from collections import Counter

from desktop import SCREEN, Atspi, Desktop, enlarge_text, key
from peers import check, finish
from sample_groups import cache, group, keychain, plaintext_cache

THEMES = {"light": {}, "dark": {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"}, "high contrast": {"ADW_DEBUG_HIGH_CONTRAST": "1"},
          "dark high contrast": {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark", "ADW_DEBUG_HIGH_CONTRAST": "1"}}


def luminance(color):
    parts = [part / 255 for part in color]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def contrasts(app):
    """The contrast of each text on the screen: the color that differs most from the most frequent one. The text is large, so
    that its strokes have its color."""
    screen, last = b"", None
    while screen != last:
        # Until nothing moves.
        last = screen
        screen = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], capture_output=True, check=True).stdout
    window = subprocess.run(
        ["xdotool", "getactivewindow", "getwindowgeometry", "--shell"], capture_output=True, text=True, check=True).stdout
    left, top, width, height = (int(window.split(f"\n{part}=")[1].split()[0]) for part in ("X", "Y", "WIDTH", "HEIGHT"))
    found = {}
    for widget in app.widgets():
        name = widget.get_name() or widget.get_role_name()
        if widget.get_role_name() not in ("label", "alert") or not widget.get_state_set().contains(
                Atspi.StateType.SENSITIVE):
            continue
        box = widget.get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        if min(box.x, box.y) < 0 or box.x + box.width > width or box.y + box.height > height - 40 or box.width * box.height < 50:
            continue
        colors = Counter()
        for y in range(top + box.y, top + box.y + box.height):
            start = (y * SCREEN[0] + left + box.x) * 3
            line = screen[start:start + box.width * 3]
            colors.update(zip(line[::3], line[1::3], line[2::3]))
        background = colors.most_common(1)[0][0]
        best = max((ratio(color, background) for color in colors), default=1)
        # Nothing is drawn of a label in a page that is hidden, and something else in the place of a row that is not in use.
        if len(colors) > 3:
            found[name] = max(best, found.get(name, best))
    return found


def examine(app, what, least):
    found = contrasts(app)
    low = {name: round(value, 2) for name, value in found.items() if value < 4.5}
    check(f"{what}: each of {len(found)} texts has a contrast of 4.5", len(found) >= least and not low, (low, len(found)))


with Desktop():
    enlarge_text(1.6)
    for theme, variables in THEMES.items():
        with group("org.example.contrast", cache(seconds=(2640, -9000, 420))) as name, keychain(name, **variables) as app:
            path = plaintext_cache()
            app.says("minutes left")
            app.resize(1270, 1010)
            app.click("Details")
            app.says("Account ID")
            key("ctrl+f")
            app.appears("Show: All")
            examine(app, f"the list, {theme}", 15)
            key("Escape")
            key("F5")
            app.click("Review")
            app.says(path)
            examine(app, f"plaintext tokens, {theme}", 8)
        with keychain("org.example.none", LLAVERO_CLIENT_ID="", **variables) as app:
            app.says("No Accounts")
            app.resize(1270, 1010)
            examine(app, f"a group without accounts, {theme}", 4)
            key("ctrl+n")
            app.says("Add an Account")
            app.resize_dialog(700, 1000)
            examine(app, f"a sign-in, {theme}", 5)
finish()
