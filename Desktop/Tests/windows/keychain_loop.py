"""How much the keychain's window does in one turn of its loop, with 1,000 accounts."""
import subprocess

from desktop import TIMEOUT, PROGRAMS, Desktop
from peers import check, finish

with Desktop():
    try:
        result = subprocess.run(
            # It makes three rounds.
            [f"{PROGRAMS}/KeychainWindowChecks"], stdin=subprocess.DEVNULL, capture_output=True, timeout=3 * TIMEOUT)
        end = result.returncode
    except subprocess.TimeoutExpired as error:
        # It has what was printed until then.
        result, end = error, "none"
    lines = (result.stdout or b"").decode().splitlines()
    for line in lines:
        verdict, _, what = line.partition(" ")
        if verdict == "note":
            print("        " + what)
        else:
            check(what, verdict == "ok")
    compared = [line for line in lines if line.startswith("note ") and "% of that" in line]
    check("four steps are measured", len(compared) == 4, compared)
    check("the program of the checks ends well", end == 0, (end, result.stderr))
finish()
