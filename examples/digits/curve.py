"""The loss curve of a training run as a picture, from tdlrun's --log.

	curve.py LOG.csv PICTURE.svg

A point per step, a line through the mean of the steps around it, and rings
where the run was evaluated.  The losses' axis is logarithmic.
"""
import csv
import math
import sys

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48
INK, MUTED, GRID = "#1f2933", "#52606d", "#e4e7eb"
STEP, MEAN, TEST = "#9fb3c8", "#0b69a3", "#c65d21"


def read(path):
    """Step, loss of the training, loss of the evaluation or None."""
    rows = []
    with open(path, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            test = row.get("evaluate_loss") or None
            rows.append((int(row["step"]), float(row["loss"]),
                         float(test) if test else None))
    return rows


class Axes:
    """Where a step and a loss lie in the picture."""

    def __init__(self, rows):
        values = [v for _, x, y in rows for v in (x, y) if v]
        self.last = rows[-1][0]
        self.low = math.floor(math.log10(min(values)))
        self.high = math.ceil(math.log10(max(values)))
        self.high += self.high == self.low

    def x(self, step):
        return LEFT + (WIDTH - LEFT - RIGHT) * step / self.last

    def y(self, loss):
        at = (math.log10(loss) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * at

    def steps(self):
        """About six round numbers of steps."""
        each = 10 ** math.floor(math.log10(max(1, self.last / 6)))
        each *= next(m for m in (1, 2, 5, 10) if self.last / each / m <= 8)
        return range(0, self.last + 1, each)


def means(rows, width):
    """The mean of each step's loss and those of its neighbours."""
    for i, (step, _, _) in enumerate(rows):
        near = rows[max(0, i - width):i + width + 1]
        yield step, sum(loss for _, loss, _ in near) / len(near)


def text(x, y, words, anchor="middle", colour=MUTED):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'fill="{colour}">{words}</text>')


def grid(axes):
    for power in range(axes.low, axes.high + 1):
        y = axes.y(10 ** power)
        yield (f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRID}"/>')
        yield text(LEFT - 8, y + 4, f"{10.0 ** power:g}", "end")
    for step in axes.steps():
        yield text(axes.x(step), HEIGHT - BOTTOM + 20, step)
    yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "step")


def legend(tested):
    words = [("a step", STEP), ("mean of the steps around", MEAN)]
    words += [("test", TEST)] if tested else []
    for i, (word, colour) in enumerate(words):
        y = TOP + 16 + 18 * i
        yield (f'<circle cx="{WIDTH - RIGHT - 190}" cy="{y - 4}" r="4" '
               f'fill="{colour}"/>')
        yield text(WIDTH - RIGHT - 178, y, word, "start", INK)


def picture(rows):
    axes = Axes(rows)
    tested = [(step, test) for step, _, test in rows if test]
    line = " ".join(f"{axes.x(s):.1f},{axes.y(v):.1f}"
                    for s, v in means(rows, max(2, len(rows) // 60)))
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">')
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    yield from grid(axes)
    for step, loss, _ in rows:
        yield (f'<circle cx="{axes.x(step):.1f}" cy="{axes.y(loss):.1f}" '
               f'r="1.5" fill="{STEP}"/>')
    yield (f'<polyline points="{line}" fill="none" stroke="{MEAN}" '
           'stroke-width="2"/>')
    for step, loss in tested:
        yield (f'<circle cx="{axes.x(step):.1f}" cy="{axes.y(loss):.1f}" '
               f'r="3.5" fill="#fff" stroke="{TEST}" stroke-width="2"/>')
    yield from legend(tested)
    yield "</svg>"


def main():
    rows = read(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(picture(rows)) + "\n")


main()
