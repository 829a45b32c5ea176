# SPDX-License-Identifier: MIT
"""An SVG of one suite's result: the ratios with their spread and goals, then the latency distributions."""

import html
import math
import statistics

WIDTH, ROW, LEFT = 960, 34, 470
COLOURS = ("#1b6ca8", "#c0392b", "#27864a", "#8e44ad", "#b9770e", "#566573", "#117864", "#7b241c")


def text(x, y, words, size=13, anchor="start", colour="#222"):
    """One line of text."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">'
            f"{html.escape(words)}</text>")


def line(x1, y1, x2, y2, colour="#999", width=1.0, dash=""):
    """One straight line."""
    extra = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{extra}/>')


def ratios(rows, top):
    """Each comparison as a share of its goal (dashed): a bar for the median, a whisker from minimum to maximum."""
    parts = [text(20, top, "Median of each ratio as a share of its goal (dashed), with minimum and maximum", 15)]
    scale = (WIDTH - LEFT - 60) / 2.0
    for number, row in enumerate(rows):
        y = top + 14 + number * ROW
        share = [min(2.0, row[key] / row["goal"]) for key in ("minimum", "median", "maximum")]
        good = "#27864a" if row["holds"] else "#c0392b"
        label = f"{row['of']} / {row['to']}"
        parts.append(text(LEFT - 10, y + 12, label if len(label) < 74 else label[:72] + "…", 11, "end"))
        parts.append(text(LEFT - 10, y + 25, f"{row['connections']} connections, goal {'≥' if row['least'] else '≤'} "
                          f"{row['goal']:g}: {row['median']:.2f}", 10, "end", "#666"))
        parts.append(f'<rect x="{LEFT}" y="{y + 4}" width="{share[1] * scale:.1f}" height="18" fill="{good}" '
                     'opacity="0.75"/>')
        parts.append(line(LEFT + share[0] * scale, y + 13, LEFT + share[2] * scale, y + 13, "#222", 1.5))
    bottom = top + 18 + len(rows) * ROW
    parts.append(line(LEFT + scale, top + 10, LEFT + scale, bottom, "#222", 1.2, "5 4"))
    return parts, bottom


def distributions(measured, connections, top):
    """Latency by percentile, the median of the rounds, milliseconds on a logarithmic scale from 0.05 to 500."""
    height, right = 220, WIDTH - 330
    parts = [text(20, top, f"Latency by percentile at {connections} connections (ms, logarithmic)", 15)]
    names = list(measured)
    points = list(measured[names[0]][0]["latency"])

    def place(index, milliseconds):
        share = (math.log10(max(milliseconds, 0.05)) + 1.301) / 4.0
        return 60 + index * (right - 60) / (len(points) - 1), top + 20 + height * (1 - min(share, 1.0))

    for mark in (0.05, 0.5, 5, 50, 500):
        _, y = place(0, mark)
        parts += [line(60, y, right, y, "#ddd"), text(54, y + 4, f"{mark:g}", 10, "end")]
    for index, percent in enumerate(points):
        parts.append(text(place(index, 1)[0], top + height + 36, percent, 10, "middle"))
    for number, name in enumerate(names):
        colour = COLOURS[number % len(COLOURS)]
        curve = [place(index, statistics.median(entry["latency"][percent] for entry in measured[name]) / 1000)
                 for index, percent in enumerate(points)]
        parts.append('<polyline fill="none" stroke="{}" stroke-width="1.8" points="{}"/>'.format(
            colour, " ".join(f"{x:.1f},{y:.1f}" for x, y in curve)))
        parts.append(line(right + 14, top + 24 + number * 20, right + 34, top + 24 + number * 20, colour, 3))
        parts.append(text(right + 40, top + 28 + number * 20, name if len(name) < 46 else name[:44] + "…", 11))
    return parts, top + height + 50


def draw(whole):
    """The whole picture."""
    parts, y = ratios(whole["comparisons"], 34)
    for connections, measured in whole["measured"].items():
        more, y = distributions(measured, connections, y + 40)
        parts += more
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10:.0f}" font-family="sans-serif">'
            f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n')
