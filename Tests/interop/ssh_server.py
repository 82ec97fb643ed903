"""A real sshd on loopback, with keys of its own, for this user alone."""
import os
import pwd
import shutil
import subprocess

from peers import free_port

USER = pwd.getpwuid(os.geteuid()).pw_name


class SSHServer:
    host = f"{USER}@127.0.0.1"

    def __init__(self, directory):
        self.directory = directory
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{directory}/{name}"], check=True)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        # Another program may take the port before it is used.
        for _ in range(20):
            self.port = free_port()
            if self.starts():
                break
        with open(f"{directory}/host_key.pub", encoding="utf-8") as key:
            known = f"[127.0.0.1]:{self.port} {key.read()}"
        with open(f"{directory}/known_hosts", "w", encoding="utf-8") as file:
            file.write(known)
        self.options = [
            "-F", "none", "-i", f"{directory}/user_key", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
            "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={directory}/known_hosts",
            "-o", "LogLevel=ERROR", "-o", "ExitOnForwardFailure=yes", "-o", "StreamLocalBindUnlink=yes"]

    def starts(self):
        with open(f"{self.directory}/sshd_config", "w", encoding="utf-8") as file:
            file.write(
                f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.directory}/host_key\nPidFile none\n"
                f"AuthorizedKeysFile {self.directory}/user_key.pub\nStrictModes no\nUsePAM no\nAllowUsers {USER}\n"
                "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
                "AllowStreamLocalForwarding yes\nStreamLocalBindUnlink yes\n")
        self.process = subprocess.Popen(
            [shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin"), "-D", "-e", "-f",
             f"{self.directory}/sshd_config"], stderr=subprocess.PIPE, text=True)
        while line := self.process.stderr.readline():
            if "Server listening on 127.0.0.1" in line:
                # The rest, which is little, is not read.
                return True
        self.process.wait(60)
        return False

    def command(self, *arguments):
        return ["ssh", *self.options, "-p", str(self.port), *arguments]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.process.stderr.close()
