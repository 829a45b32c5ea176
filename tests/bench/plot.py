# SPDX-License-Identifier: MIT
"""An SVG of one suite's result: the ratios with their spread and goals, the latency distributions, its own curves."""

import html
import math
import statistics

WIDTH, ROW, LEFT = 960, 34, 470
HEIGHT, RIGHT = 220, WIDTH - 330
COLOURS = ("#1b6ca8", "#c0392b", "#27864a", "#8e44ad", "#b9770e", "#566573", "#117864", "#7b241c", "#2e4053", "#d35400")


def text(x, y, words, size=13, anchor="start", colour="#222"):
    """One line of text."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">'
            f"{html.escape(words)}</text>")


def line(x1, y1, x2, y2, colour="#999", width=1.0, dash=""):
    """One straight line."""
    extra = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{extra}/>')


def short(words, most):
    """At most so many characters of the words."""
    return words if len(words) <= most else words[:most - 1] + "…"


def share_of(value, goal):
    """A value as a share of its goal, from 0 to 2: what is drawn. Past a goal of nothing, everything is too much."""
    return max(0.0, min(2.0, value / goal if goal else 2.0 * (value > 0)))


def ratios(rows, top):
    """Each comparison as a share of its goal (dashed): a bar for the median, a whisker from minimum to maximum."""
    parts = [text(20, top, "Median of each as a share of its goal (dashed), with minimum and maximum", 15)]
    scale = (WIDTH - LEFT - 60) / 2.0
    for number, row in enumerate(rows):
        y = top + 14 + number * ROW
        share = [share_of(row[key], row["goal"]) for key in ("minimum", "median", "maximum")]
        good = "#27864a" if row["holds"] else "#c0392b"
        parts.append(text(LEFT - 10, y + 12, short(f"{row['of']} / {row['to']}", 74), 11, "end"))
        parts.append(text(LEFT - 10, y + 25, f"{row['connections']} connections, goal {'≥' if row['least'] else '≤'} "
                          f"{row['goal']:.3g}: {row['median']:.2f}{row['unit'] and ' ' + row['unit']}", 10, "end",
                          "#666"))
        parts.append(f'<rect x="{LEFT}" y="{y + 4}" width="{share[1] * scale:.1f}" height="18" fill="{good}" '
                     'opacity="0.75"/>')
        parts.append(line(LEFT + share[0] * scale, y + 13, LEFT + share[2] * scale, y + 13, "#222", 1.5))
    bottom = top + 18 + len(rows) * ROW
    parts.append(line(LEFT + scale, top + 10, LEFT + scale, bottom, "#222", 1.2, "5 4"))
    return parts, bottom


class Axis:
    """A scale, linear or logarithmic, onto a stretch of the picture."""

    def __init__(self, values, start, end, logarithmic):
        self.logarithmic = logarithmic
        self.start, self.end = start, end
        ends = [self.turn(value) for value in values]
        self.low = min(ends) if logarithmic else min(0.0, *ends)
        self.span = (max(ends) - self.low) or 1.0

    def turn(self, value):
        """The value itself, or its logarithm."""
        return math.log10(max(value, 1e-3)) if self.logarithmic else float(value)

    def place(self, value):
        """Where in the picture."""
        return self.start + (self.turn(value) - self.low) / self.span * (self.end - self.start)

    def marks(self):
        """Round values between the ends."""
        if self.logarithmic:
            steps = (1, 2, 5) if self.span < 2.5 else (1, )
            marks = [step * 10.0 ** power for power in range(-4, 10) for step in steps]
            return [mark for mark in marks if -1e-9 <= math.log10(mark) - self.low <= self.span + 1e-9]
        step = 10.0 ** math.floor(math.log10(self.span))
        step = next(step * share for share in (0.1, 0.2, 0.5, 1, 2, 5) if self.span / (step * share) <= 6)
        return [step * number for number in range(int(self.low / step), int((self.low + self.span) / step) + 1)]


def chart(title, series, top, log_x=False, log_y=False, ticks=None):
    """Curves: {name: [(x, y)]}. `ticks` names places on the horizontal axis, [(x, name)]."""
    parts = [text(20, top, title, 15)]
    points = [point for curve in series.values() for point in curve]
    across = Axis([x for x, _ in points], 60, RIGHT, log_x)
    upwards = Axis([y for _, y in points], top + 20 + HEIGHT, top + 20, log_y)
    for mark in upwards.marks():
        y = upwards.place(mark)
        parts += [line(60, y, RIGHT, y, "#ddd"), text(54, y + 4, f"{mark:g}", 10, "end")]
    for x, name in ticks or [(mark, f"{mark:g}") for mark in across.marks()]:
        parts += [line(across.place(x), top + 20, across.place(x), top + 20 + HEIGHT, "#eee"),
                  text(across.place(x), top + HEIGHT + 36, name, 10, "middle")]
    for number, (name, curve) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        parts.append('<polyline fill="none" stroke="{}" stroke-width="1.8" points="{}"/>'.format(
            colour, " ".join(f"{across.place(x):.1f},{upwards.place(y):.1f}" for x, y in curve)))
        if len(curve) < 12:
            parts += [f'<circle cx="{across.place(x):.1f}" cy="{upwards.place(y):.1f}" r="2.6" fill="{colour}"/>'
                      for x, y in curve]
        parts.append(line(RIGHT + 14, top + 24 + number * 20, RIGHT + 34, top + 24 + number * 20, colour, 3))
        parts.append(text(RIGHT + 40, top + 28 + number * 20, short(name, 46), 11))
    return parts, top + max(HEIGHT + 50, 30 + 20 * len(series))


def distributions(measured, connections, top):
    """Latency by percentile, the median of the rounds; each step to the right leaves a tenth of the requests."""
    ticks, series = {}, {}
    for name, entries in measured.items():
        curve = []
        for percent in entries[0]["latency"]:
            rest = 1 / (1 - float(percent) / 100)
            ticks[rest] = percent
            curve.append((rest, statistics.median(entry["latency"][percent] for entry in entries) / 1000))
        series[name] = curve
    told = ("1", "50", "75", "90", "99", "99.9", "99.99")
    ticks = [(rest, f"{percent}%") for rest, percent in ticks.items() if percent in told]
    return chart(f"Latency by percentile at {connections} connections (ms, both axes logarithmic)", series, top, True,
                 True, ticks)


def draw(whole):
    """The whole picture; None where there is nothing to show."""
    parts, y = ratios(whole["comparisons"], 34) if whole["comparisons"] else ([], 0)
    for connections, measured in whole["measured"].items():
        if measured and len(measured) <= 2 * len(COLOURS):
            more, y = distributions(measured, connections, y + 40)
            parts += more
    for curve in whole.get("curves", []):
        more, y = chart(curve["title"], curve["series"], y + 40, curve.get("log_x", False), curve.get("log_y", False),
                        curve.get("ticks"))
        parts += more
    if not parts:
        return None
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10:.0f}" font-family="sans-serif">'
            f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n')
