"""Four processes with five silent calls each, and refresh tokens that work once."""
from peers import ALICE, Lab, Worker, check, device_sign_in, finish, worker

PROCESSES, CALLS = 4, 5

with Lab() as lab:
    # Shorter than the time before its end at which a token counts as expired.
    lab.tell(configure={"strictRefreshTokens": True, "tokenLifetime": 60, "deviceInterval": 1})
    signed_in = device_sign_in(lab, lab.authority).outcomes()[-1]
    check("a sign-in by device code", signed_in.get("username") == ALICE, signed_in)
    lab.tell(configure={"tokenLifetime": 3600})
    lab.tell(clearLog={})

    workers = [Worker("silent", lab.authority, "--times", str(CALLS), "--wait") for _ in range(PROCESSES)]
    for process in workers:
        assert process.line() == "ready"
    for process in workers:
        process.process.stdin.write("go\n")
        process.process.stdin.flush()
    outcomes = [outcome for process in workers for outcome in process.outcomes()]
    check("every call gets a token", len(outcomes) == PROCESSES * CALLS
          and all("tokenHash" in outcome for outcome in outcomes), outcomes)
    check("all get the same one", len({outcome.get("tokenHash") for outcome in outcomes}) == 1)
    check("it is a new one", outcomes[0].get("tokenHash") != signed_in.get("tokenHash"))
    requests = lab.log("token")
    check("the lab saw one token request", len(requests) == 1, [entry["form"] for entry in requests])
    check("no account lock or cache failed", all(process.process.returncode == 0 for process in workers))

    renewed = worker("force", lab.authority)
    check("the refresh token was not lost", renewed.get("source") == "network", renewed)
    spent = [entry["form"]["refresh_token"] for entry in lab.log("token")]
    check("no refresh token was sent twice", len(set(spent)) == len(spent) == 2)
finish()
