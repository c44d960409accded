# Tests: compiler/driver compiler/portfolio
"""The progress of a long search is shown on a terminal, and nowhere else."""
import os
import pty
import subprocess
import tempfile

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


def check(*words):
    words = [words[0], MODEL, "-k", "4", "--train", *words[1:]]
    out, shown = on_terminal(words, "xterm")
    expect(f"{words}: no progress on standard output", b"\033" not in out)
    expect(f"{words}: the search is shown", b"searching with 'tofu'" in shown)
    expect(f"{words}: and the comparison",
           b"comparing plan 1 of " in shown or words[-1] == "tofu")
    expect(f"{words}: the line is erased", shown.endswith(ERASE))
    expect(f"{words}: and only replaced", b"\n" not in shown)
    expect(f"{words}: nothing on a dumb terminal",
           on_terminal(words, "dumb")[1] == b"")
    piped = subprocess.run([TDLC, *words], capture_output=True, check=False,
                           env=dict(os.environ, TERM="xterm"))
    expect(f"{words}: nothing in a pipe", piped.stderr == b"")


check("plan", "--algorithm", "tofu")
check("plan", "--algorithm", "auto")
check("plan", "--frontier")
check("compare")
finish()
