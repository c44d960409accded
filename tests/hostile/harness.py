"""Runs a program on broken input and judges how it ends.

Each must end with status 1, one clear message on standard error, nothing on
standard output, nothing written, within two seconds and 200 MB.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import sample  # noqa: E402, F401 -- for the tests

TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")
SANITIZED = os.environ.get("SANITIZE") == "yes"

SECONDS = 20.0 if SANITIZED else 2.0    # of processor time
MEGABYTES = 200                         # not measured under a sanitizer
ERROR = re.compile(rb"(^|: )error: ", re.M)
# Anything but text, newlines and UTF-8 could write over a user's terminal.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


def _limit(seconds):
    cpu = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Judge:
    """Collects what is wrong; .folder is where the inputs go."""

    def __init__(self):
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = self._temporary.name
        self.out = os.path.join(self.folder, "out")
        os.mkdir(self.out)
        self.ncases = self.nfaults = 0
        self.worst = {"seconds": (0.0, ""), "MB": (0.0, "")}

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data.encode() if isinstance(data, str) else data)
        return path

    def fault(self, case, what, err=b""):
        self.nfaults += 1
        print(f"FAIL {case}: {what}")
        for line in err[:400].splitlines()[:4]:
            print("    ", line.decode("utf-8", "replace"))

    def run(self, case, command, status=(1,), errors=1, seconds=SECONDS):
        """Runs a command.  errors is the number of messages that it must give
        when it ends with 1; None for any number from 1 to 101.  seconds: of
        processor time, its own and its children's."""
        self.ncases += 1
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err,
                                 preexec_fn=lambda: _limit(seconds))
            _, ended, usage = os.wait4(p.pid, 0)
            p.returncode = code = os.waitstatus_to_exitcode(ended)
            out.seek(0)
            err.seek(0)
            stdout, stderr = out.read(100), err.read()
        self._judge_end(case, code, status, stderr)
        self._judge_use(case, usage, seconds)
        if code != 1:
            return code
        n = len(ERROR.findall(stderr))
        if not (1 <= n <= 101 if errors is None else n == errors):
            self.fault(case, f"{n} messages", stderr)
        if len(stderr) > 100_000:
            self.fault(case, f"{len(stderr)} bytes of messages", stderr)
        if CONTROL.search(stderr):
            self.fault(case, "control characters in the message")
        if stdout:
            self.fault(case, "something on standard output", stdout)
        for name in os.listdir(self.out):
            self.fault(case, f"wrote {name}")
            os.remove(os.path.join(self.out, name))
        return code

    def _judge_end(self, case, code, status, stderr):
        if code in status:
            return
        how = f"killed by signal {-code}" if code < 0 else f"status {code}"
        self.fault(case, how, stderr)

    def _judge_use(self, case, usage, most):
        seconds = usage.ru_utime + usage.ru_stime
        megabytes = usage.ru_maxrss / 1024
        for name, used in ("seconds", seconds), ("MB", megabytes):
            self.worst[name] = max(self.worst[name], (used, case))
        if seconds > most:
            self.fault(case, f"{seconds:.2f} s of processor time")
        if megabytes > MEGABYTES and not SANITIZED:
            self.fault(case, f"{megabytes:.0f} MB")

    def finish(self):
        for name, (used, case) in self.worst.items():
            print(f"most {name}: {used:.3g} ({case})")
        print(f"{self.ncases} cases, {self.nfaults} faults")
        sys.exit(self.nfaults > 0)
