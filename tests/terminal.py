# Tests: compiler/driver compiler/portfolio
"""The progress of a search that takes more than a second is shown on a terminal, and
elsewhere where that is asked for."""
import os
import pty
import subprocess
import tempfile
import time

from programs import MODELS, TDLC, expect, finish

MODEL = os.path.join(MODELS, "mlp.tdl")
ERASE = b"\r\033[K"


def on_terminal(words, term):
    """Standard output, and what the terminal of standard error received."""
    ours, theirs = pty.openpty()
    got = b""
    with tempfile.TemporaryFile() as out:
        run = subprocess.Popen([TDLC, *words], stdin=subprocess.DEVNULL,
                               stdout=out, stderr=theirs,
                               env=dict(os.environ, TERM=term))
        os.close(theirs)
        try:
            while some := os.read(ours, 4096):
                got += some
        except OSError:  # the program has ended
            pass
        os.close(ours)
        expect(f"{words}: status 0", run.wait() == 0)
        out.seek(0)
        return out.read(), got


def piped(words):
    return subprocess.run([TDLC, *words], capture_output=True, check=False,
                          env=dict(os.environ, TERM="xterm")).stderr


def long_search(command, *words):
    """The words of one that takes some seconds on this machine, and what it left
    on a terminal: with more layers, until it does."""
    for layers in (4, 8, 16, 32, 64):
        line = [command, os.path.join(MODELS, "gpt2.tdl"), "-D",
                f"layers={layers}", "-k", "8", "--train", "--topology",
                "8xh100-nvlink", *words]
        begun = time.monotonic()
        shown = on_terminal(line, "xterm")
        if time.monotonic() - begun > 3:
            break
    return line, *shown


def check_long(*words):
    """One that takes seconds, on a terminal."""
    words, out, shown = long_search(*words)
    expect(f"{words}: no progress on standard output", b"\033" not in out)
    expect(f"{words}: {shown}", b"'" in shown and b" (1 s)" in shown and
           shown.startswith(ERASE))
    expect(f"{words}: the line is erased", shown.endswith(ERASE))
    expect(f"{words}: and only replaced", b"\n" not in shown)
    return words


def check_elsewhere(words):
    """In a pipe, and on a terminal that erases nothing, it is asked for."""
    expect(f"{words}: nothing in a pipe", piped(words) == b"")
    shown = on_terminal(words, "dumb")[1]
    expect(f"{words}: {shown} on a dumb terminal", shown == b"")
    lines = piped([*words, "--progress"]).decode().splitlines()
    expect(f"{words}: {lines}", lines and all(
        x.startswith(("searching ", "comparing ")) and x.endswith(" s)")
        for x in lines) and len(lines) == len(set(lines)))


def check_short(*words):
    """One that takes no second, if nobody else computes here."""
    words = [words[0], MODEL, "-k", "4", "--train", *words[1:], "--progress"]
    for term in ("xterm", "dumb"):
        out, shown = on_terminal(words, term)
        expect(f"{words}: no progress on standard output", b"\033" not in out)
        expect(f"{words} on {term}: {shown}", shown == b"" or b"1 s" in shown)


if os.environ.get("SANITIZE") != "yes":  # with which they take minutes
    check_long("plan", "--algorithm", "auto")
    check_elsewhere(check_long("compare"))
check_short("plan", "--algorithm", "tofu")
check_short("plan", "--frontier")
finish()
