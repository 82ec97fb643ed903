"""TutorialApp."""
import subprocess

from desktop import Desktop, Program
from peers import check, finish

with Desktop():
    with Program("TutorialApp") as app:
        app.click("Close")
        check("closing its window ends the program", app.ends() == 0, app.errors())
finish()
