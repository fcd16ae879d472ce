"""A training whose every number is known: a small network learns three spirals, in plain Python, so
that each machine gets the same runs. Written as TensorBoard's event files: curves with gaps (the
precision of a class that is never predicted is 0/0), settings, histograms of what the hidden units
get, pictures of what the network says about each point of the plane, two runs of one name.
"""
import math
import random

import runs_data

T0 = 1796194499.0
HIDDEN, BATCH, STEPS = 32, 20, 480
COLORS = ((68, 119, 170), (238, 153, 51), (68, 170, 119))
# name, optimizer, learning rate, seed
RUNS = (("adam_0.003", "adam", 0.003, 1), ("adam_0.01", "adam", 0.01, 1),
        ("adam_0.01", "adam", 0.01, 2), ("adam_0.03", "adam", 0.03, 1),
        ("sgd_0.3", "sgd", 0.3, 1), ("sgd_3", "sgd", 3.0, 1))


def spirals(rng, count):
    points = []
    for i in range(count):
        arm, along = i % 3, rng.uniform(0.08, 1.0)
        angle = arm * 2.0 * math.pi / 3.0 + 5.0 * along + rng.gauss(0.0, 0.12)
        points.append((along * math.cos(angle), along * math.sin(angle), arm))
    return points


class Network:
    """Two numbers, one hidden layer, three classes; all weights in one list a layer."""

    def __init__(self, rng):
        self.inner = [[rng.gauss(0, 1.2), rng.gauss(0, 1.2), rng.gauss(0, 0.5)]
                      for _ in range(HIDDEN)]
        self.outer = [[0.0] * (HIDDEN + 1) for _ in range(3)]

    def before(self, x, y):
        return [a * x + b * y + c for a, b, c in self.inner]

    def forward(self, x, y):
        hidden = [math.tanh(value) for value in self.before(x, y)]
        logits = [sum(map(float.__mul__, row, hidden)) + row[-1] for row in self.outer]
        most = max(logits)
        parts = [math.exp(value - most) for value in logits]
        total = sum(parts)
        return hidden, [part / total for part in parts]

    def gradient(self, batch):
        inner = [[0.0, 0.0, 0.0] for _ in range(HIDDEN)]
        outer = [[0.0] * (HIDDEN + 1) for _ in range(3)]
        loss = 0.0
        for x, y, label in batch:
            hidden, parts = self.forward(x, y)
            loss -= math.log(max(parts[label], 1e-12)) / BATCH
            off = [(p - (k == label)) / BATCH for k, p in enumerate(parts)]
            for k, row in enumerate(outer):
                outer[k] = [g + off[k] * h for g, h in zip(row, hidden)] + [row[-1] + off[k]]
            for i, h in enumerate(hidden):
                back = (1.0 - h * h) * sum(off[k] * self.outer[k][i] for k in range(3))
                inner[i] = [inner[i][0] + back * x, inner[i][1] + back * y, inner[i][2] + back]
        return loss, inner, outer


def histogram(values, low=-8.0, high=8.0, bins=30):
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, max(0, int((value - low) / (high - low) * bins)))] += 1
    return [low + (high - low) * (i + 1) / bins for i in range(bins)], counts


def plane(network, side=48):
    rows = []
    for j in range(side):
        row = b""
        for i in range(side):
            _, parts = network.forward(2.2 * (i + 0.5) / side - 1.1, 1.1 - 2.2 * (j + 0.5) / side)
            row += bytes(int(sum(p * c[k] for p, c in zip(parts, COLORS))) for k in range(3))
        rows.append(row)
    return rows


def train(name, optimizer, rate, seed, path):
    rng = random.Random(seed)
    network, test = Network(rng), spirals(rng, 120)
    moments = {}
    events = []
    begun = T0 + 1200.0 * seed + 100.0 * rate
    pace = 0.21 + 0.05 * seed + 0.02 * len(name)

    def move(key, row, gradient, step, now):
        for i, g in enumerate(gradient):
            if optimizer == "adam":
                m, v = moments.get((key, i), (0.0, 0.0))
                m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
                moments[key, i] = m, v
                g = m / (1 - 0.9 ** step) / (math.sqrt(v / (1 - 0.99 ** step)) + 1e-8)
            row[i] -= now * g

    for step in range(STEPS):
        wall = begun + pace * step
        now = rate * 0.5 * (1.0 + math.cos(math.pi * step / STEPS))
        loss, inner, outer = network.gradient(spirals(rng, BATCH))
        norm = math.sqrt(sum(g * g for row in inner + outer for g in row))
        events.append(runs_data.scalar("train/loss", step, wall, loss))
        if step % 4 == 0:
            events.append(runs_data.scalar("train/gradient norm", step, wall, norm))
            events.append(runs_data.scalar("train/learning rate", step, wall, now))
        if step % 10 == 0:
            said = [max(range(3), key=network.forward(x, y)[1].__getitem__) for x, y, _ in test]
            right = [s == label for s, (_, _, label) in zip(said, test)]
            third = [r for r, s in zip(right, said) if s == 2]
            events.append(runs_data.scalar("test/accuracy", step, wall, sum(right) / len(test)))
            events.append(runs_data.scalar(
                "test/precision of class 3", step, wall,
                sum(third) / len(third) if third else math.nan))
        if step % 24 == 0:
            limits, counts = histogram([v for x, y, _ in test for v in network.before(x, y)])
            events.append(runs_data.histogram("hidden/before tanh", step, wall, limits, counts))
        if step % 120 == 119:
            right = [[sum(1 for s, (_, _, label) in zip(said, test) if (s, label) == (a, b))
                      for b in range(3)] for a in range(3)]
            lines = [f"After {step + 1} steps, {sum(r[i] for i, r in enumerate(right))} of "
                     f"{len(test)} points are right.", "",
                     "said \\ is   1     2     3"]
            lines += [f"{i + 1}      " + "".join(f"{n:6}" for n in row)
                      for i, row in enumerate(right)]
            events.append(runs_data.text("confusion", step, wall, "\n".join(lines)))
        if step % 96 == 0 or step == STEPS - 1:
            events.append(runs_data.image("plane", step, wall, plane(network)))
        for i in range(HIDDEN):
            move(("inner", i), network.inner[i], inner[i], step + 1, now)
        for k in range(3):
            move(("outer", k), network.outer[k], outer[k], step + 1, now)
    runs_data.write_events(path, events, {"optimizer": optimizer, "learning rate": rate,
                                          "seed": float(seed), "hidden": float(HIDDEN),
                                          "batch": float(BATCH)}, begun)


def write(folder):
    """A folder for each seed: two runs of one name cannot lie in one. Answers the folders."""
    folders = []
    for name, optimizer, rate, seed in RUNS:
        root = folder / f"seed_{seed}"
        if root not in folders:
            folders.append(root)
        train(name, optimizer, rate, seed, root / name / "events.out.tfevents.1796194499.host")
    return folders
