"""Starts of a program that needs HTTP and the keyring at once: GObject's locks let none of them hang (GIOTypes.swift).

Without the care that is taken there, one start in a hundred hung until the keyring's deadline.
"""
import sys

from peers import Lab, check, device_sign_in, finish, worker

STARTS = int(sys.argv[1]) if len(sys.argv) > 1 else 200

with Lab() as lab:
    lab.tell(configure={"deviceInterval": 1})
    device_sign_in(lab, lab.authority).outcomes()
    failed = [outcome for outcome in (worker("force", lab.authority) for _ in range(STARTS))
              if outcome.get("source") != "network"]
    check(f"each of {STARTS} starts renewed a token", not failed, failed)
finish()
