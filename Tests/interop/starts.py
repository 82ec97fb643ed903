"""Starts of a program that needs HTTP and the keyring at once: GObject's locks let none of them hang (GIOTypes.swift).

Without the care that is taken there, one start in a hundred hung until the keyring's deadline.
"""
from concurrent.futures import ThreadPoolExecutor

from peers import GROUP, Lab, check, device_sign_in, finish, keyring_process, worker

# Each in a group of its own, since processes wait for each other to renew one account's tokens.
LANES, STARTS = 4, 50


def lane(lab, number):
    group = f"{GROUP}.{number}"
    device_sign_in(lab, lab.authority, group=group).outcomes()
    return [worker("force", lab.authority, group=group) for _ in range(STARTS)]


with Lab() as lab, ThreadPoolExecutor(LANES) as executor:
    lab.tell(configure={"deviceInterval": 1})
    for _ in range(5):
        keyring = keyring_process()
        outcomes = sum(executor.map(lambda number: lane(lab, number), range(LANES)), [])
        if keyring and keyring == keyring_process():
            break
        print("again, since gnome-keyring has ended meanwhile")
    failed = [outcome for outcome in outcomes if outcome.get("source") != "network"]
    check(f"each of {len(outcomes)} starts renewed a token", len(outcomes) == LANES * STARTS and not failed, failed)
finish()
