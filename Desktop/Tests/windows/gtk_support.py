"""GTKSupport's behaviour, checked by a program that uses it."""
import subprocess

from desktop import TIMEOUT, PROGRAMS, Desktop
from peers import check, finish

with Desktop():
    result = subprocess.run(
        ["timeout", str(TIMEOUT), f"{PROGRAMS}/GTKSupportChecks"], stdin=subprocess.DEVNULL, capture_output=True,
        text=True)
    for line in result.stdout.splitlines():
        verdict, _, what = line.partition(" ")
        check(what, verdict == "ok")
    check("the program of the checks ends", result.returncode == 0 and "last window" in result.stdout, result)
    check("GTK reports no errors", result.stderr == "", result.stderr)
finish()
