"""How much the keychain's window does in one turn of its loop, with 1,000 accounts."""
import subprocess

from desktop import TIMEOUT, PROGRAMS, Desktop
from peers import check, finish

with Desktop():
    result = subprocess.run(
        [f"{PROGRAMS}/KeychainWindowChecks"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TIMEOUT)
    for line in result.stdout.splitlines():
        verdict, _, what = line.partition(" ")
        if verdict == "note":
            print("        " + what)
        else:
            check(what, verdict == "ok")
    check("the program of the checks ends well", result.returncode == 0, result)
finish()
