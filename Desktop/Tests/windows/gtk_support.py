"""What GTKSupport promises, checked by a program that uses it."""
import subprocess

from desktop import PATIENCE, PROGRAMS, Desktop
from peers import check, finish

with Desktop():
    result = subprocess.run(
        ["timeout", str(PATIENCE), f"{PROGRAMS}/GTKSupportChecks"], stdin=subprocess.DEVNULL, capture_output=True,
        text=True)
    for line in result.stdout.splitlines():
        verdict, _, what = line.partition(" ")
        check(what, verdict == "ok")
    check("the program of the checks comes to its end", result.returncode == 0 and "last window" in result.stdout, result)
    check("GTK has nothing to complain about", result.stderr == "", result.stderr)
finish()
