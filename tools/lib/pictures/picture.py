# SPDX-License-Identifier: MIT
"""Makes an SVG of a few lines of text. The same text always makes the same picture, so that a check can compare them.

The first line is `title WORDS`, the second the kind of picture. Empty lines and lines that begin with # say nothing.

`sequence`, who says what to whom, from top to bottom:

    actor ID NAME               a column
    ID -> ID: WORDS             a message; --> an answer
    ID: WORDS                   what somebody does by themselves; | begins a new line
    part WORDS                  a heading between the steps

`stack`, floors of a house from top to bottom:

    floor NUMBER | ROOM, ROOM (WING, WING) | WORDS

`map`, boxes on a grid and arrows between them:

    box ID COLUMN ROW WIDTH HEIGHT KIND | NAME | WORDS    numbers may be fractions; KIND is plain, ours, store or edge
    frame COLUMN ROW WIDTH HEIGHT | NAME
    arrow ID -> ID | WORDS"""

import math
import html
import re

FONT = 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", Helvetica, Arial, sans-serif'
STYLE = """
svg { --paper: #ffffff; --ink: #1f2933; --soft: #52606d; --rule: #cbd2d9; --plain: #f5f7fa;
  --ours: #e3f0fb; --ours-rule: #2f6fa8; --store: #eaf6ec; --store-rule: #3b8754;
  --edge: #fdf3e0; --edge-rule: #b7791f; }
@media (prefers-color-scheme: dark) { svg {
  --paper: #12181f; --ink: #e4e9ee; --soft: #a3b1bf; --rule: #3b4754; --plain: #1c252e;
  --ours: #17304a; --ours-rule: #6cb0ea; --store: #17332a; --store-rule: #6fc28d;
  --edge: #3a2f17; --edge-rule: #e0b050; } }
text { fill: var(--ink); font-family: FONT; font-size: 14px; }
.title { font-size: 18px; font-weight: 600; } .name { font-weight: 600; } .soft { fill: var(--soft); font-size: 13px; }
.part { fill: var(--soft); font-size: 13px; font-weight: 600; }
.number { font-size: 11px; font-weight: 600; fill: var(--paper); }
.paper { fill: var(--paper); } .rule { stroke: var(--rule); fill: none; }
.line { stroke: var(--ours-rule); fill: none; stroke-width: 1.6; }
.answer { stroke-dasharray: 6 4; } .head { fill: var(--ours-rule); } .dot { fill: var(--ours-rule); }
.plain { fill: var(--plain); stroke: var(--rule); } .ours { fill: var(--ours); stroke: var(--ours-rule); }
.store { fill: var(--store); stroke: var(--store-rule); } .edge { fill: var(--edge); stroke: var(--edge-rule); }
.label { paint-order: stroke; stroke: var(--paper); stroke-width: 5px; stroke-linejoin: round; }
""".replace("FONT", FONT)

NARROW, WIDE = set("fijlrtI.,:;'|!()[]/ "), set("mwMWOQGDCHNU@%")
KINDS = ("plain", "ours", "store", "edge")


class Problem(Exception):
    """A text that is no picture."""


def width(words, size=14):
    """About how wide a line of text is."""
    units = math.fsum(0.37 if sign in NARROW else 0.88 if sign in WIDE else 0.61 for sign in words)
    return units * size


def name_width(words, size=14):
    """The same for a name, which is bold."""
    return 1.08 * width(words, size)


class Canvas:
    """Collects shapes."""

    def __init__(self):
        self.parts = []

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
                          f"{html.escape(words, False)}</text>")

    def box(self, x, y, wide, high, kind, radius=6, more=""):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="{radius}" '
                          f'class="{kind}"{more}/>')

    def path(self, points, kind):
        self.parts.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" class="{kind}"/>')

    def arrow(self, points, kind="line"):
        """A line with a head at its end."""
        (x1, y1), (x2, y2) = points[-2:]
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        across, down = (x2 - x1) / length, (y2 - y1) / length
        back = (x2 - 9 * across, y2 - 9 * down)
        self.path([*points[:-1], back], kind)
        self.parts.append(f'<path d="M{x2:.1f} {y2:.1f} L{back[0] - 4.5 * down:.1f} {back[1] + 4.5 * across:.1f} '
                          f'L{back[0] + 4.5 * down:.1f} {back[1] - 4.5 * across:.1f} Z" class="head"/>')

    def number(self, x, y, number):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9.5" class="dot"/>')
        self.text(x, y + 4, str(number), "number", "middle")

    def svg(self, title, wide, high):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" role="img" '
                f'aria-label="{html.escape(title)}">\n<style>{STYLE}</style>\n'
                f'<rect width="{wide:.0f}" height="{high:.0f}" rx="10" class="paper"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


# ---- sequence ----------------------------------------------------------------------------------------

class Sequence:
    """Columns, and steps between them."""

    GAP, LEFT, TOP = 36, 30, 54

    def __init__(self, title, lines):
        self.title, self.actors, self.steps = title, [], []
        for line in lines:
            self.read(line)
        self.place = self.columns()

    def read(self, line):
        actor = re.fullmatch(r"actor (\w+) (.+)", line)
        part = re.fullmatch(r"part (.+)", line)
        said = re.fullmatch(r"(\w+) (-->|->) (\w+): (.+)", line)
        done = re.fullmatch(r"(\w+): (.+)", line)
        known = [name for name, _ in self.actors]
        if actor:
            self.actors.append((actor[1], actor[2]))
        elif part:
            self.steps.append(("part", None, None, part[1]))
        elif said and said[1] in known and said[3] in known:
            self.steps.append((said[2], said[1], said[3], said[4]))
        elif done and done[1] in known:
            self.steps.append(("does", done[1], None, done[2]))
        else:
            raise Problem(f"cannot read: {line}")

    def columns(self):
        """The x of each actor: as near to each other as the words between them allow."""
        names = [name for name, _ in self.actors]
        need = [0.0] * max(0, len(names) - 1)
        for index in range(len(need)):
            need[index] = math.fsum(name_width(self.actors[index + more][1]) / 2 + 14 for more in (0, 1)) + 24
        for kind, source, target, words in self.steps:
            if kind not in ("->", "-->"):
                continue
            low, high = sorted((names.index(source), names.index(target)))
            wanted = max(width(line) for line in words.split("|")) + 50
            if high - low == 1:
                need[low] = max(need[low], wanted)
        self.own_steps(names, need)
        self.long_steps(names, need)
        place, x = {}, self.LEFT + self.reach(names[0])
        for index, name in enumerate(names):
            place[name] = x
            x += need[index] if index < len(need) else 0
        return place

    def own_steps(self, names, need):
        """What somebody does by themselves needs room on both sides."""
        for kind, source, _, words in self.steps:
            if kind != "does":
                continue
            index, half = names.index(source), self.half(words)
            for side in (index - 1, index):
                if 0 <= side < len(need):
                    need[side] = max(need[side], half + 24)

    def long_steps(self, names, need):
        """Messages past several columns: what they lack is added to the last."""
        for kind, source, target, words in self.steps:
            if kind not in ("->", "-->"):
                continue
            low, high = sorted((names.index(source), names.index(target)))
            lacking = max(width(line) for line in words.split("|")) + 50 - math.fsum(need[low:high])
            need[high - 1] += max(0.0, lacking)

    @staticmethod
    def half(words):
        return max(width(line, 13) for line in words.split("|")) / 2 + 18

    def reach(self, name):
        """How far the actor's own boxes reach to a side."""
        own = [self.half(words) for kind, source, _, words in self.steps if kind == "does" and source == name]
        return max([name_width(dict(self.actors)[name]) / 2 + 14, *own])

    def draw(self):
        canvas, numbers = Canvas(), 0
        last = self.actors[-1][0]
        wide = max(self.place[last] + self.reach(last) + self.LEFT, name_width(self.title, 18) + 60)
        y, shapes = self.TOP + 62, []
        for kind, source, target, words in self.steps:
            lines = words.split("|")
            if kind == "part":
                y += 12
                shapes.append((self.part, (y, wide, words)))
                y += 30
                continue
            numbers += 1
            if kind == "does":
                high = 12 + 17 * len(lines)
                shapes.append((self.own, (y - 20, source, lines, numbers, high)))
                y += high + 14
            else:
                y += 17 * (len(lines) - 1)
                shapes.append((self.said, (y, kind, source, target, lines, numbers)))
                y += 40
        canvas.text(self.LEFT, 34, self.title, "title")
        for name, words in self.actors:
            half = name_width(words) / 2 + 14
            canvas.path([(self.place[name], self.TOP + 30), (self.place[name], y - 6)], "rule")
            canvas.box(self.place[name] - half, self.TOP, 2 * half, 32, "plain")
            canvas.text(self.place[name], self.TOP + 21, words, "name", "middle")
        for shape, values in shapes:
            shape(canvas, *values)
        return canvas.svg(self.title, wide, y + 10)

    def part(self, canvas, y, wide, words):
        canvas.path([(self.LEFT, y), (wide - self.LEFT, y)], "rule")
        canvas.text(self.LEFT + 4, y - 6, words, "part label")

    def own(self, canvas, y, source, lines, number, high):
        x, half = self.place[source], self.half("|".join(lines))
        canvas.box(x - half, y, 2 * half, high, "ours")
        for index, line in enumerate(lines):
            canvas.text(x + 3, y + 19 + 17 * index, line, "soft", "middle")
        canvas.number(x - half, y + high / 2, number)

    def said(self, canvas, y, kind, source, target, lines, number):
        start, end = self.place[source], self.place[target]
        side = 1 if end > start else -1
        canvas.arrow([(start + side * 10, y), (end - side * 1, y)], "line answer" if kind == "-->" else "line")
        for index, line in enumerate(lines):
            canvas.text((start + end) / 2 + side * 4, y - 7 - 17 * (len(lines) - 1 - index), line, "label", "middle")
        canvas.number(start, y, number)


# ---- stack -------------------------------------------------------------------------------------------

class Stack:
    """Floors above one another."""

    HIGH, LEFT, TOP, NUMBER = 58, 30, 54, 40

    def __init__(self, title, lines):
        self.title, self.floors = title, []
        for line in lines:
            found = re.fullmatch(r"floor (\d+) \| (.+) \| (.+)", line)
            if not found:
                raise Problem(f"cannot read: {line}")
            rooms = re.findall(r"(\w+)(?: \(([\w, ]+)\))?(?:, |$)", found[2])
            self.floors.append((found[1], rooms, found[3]))

    def draw(self):
        canvas = Canvas()
        rooms = max(math.fsum(self.room(room) + 12 for room in floor) for _, floor, _ in self.floors)
        words = max(width(text, 13) for _, _, text in self.floors)
        wide = self.LEFT * 2 + self.NUMBER + rooms + words + 40
        canvas.text(self.LEFT, 34, self.title, "title")
        for index, (number, floor, text) in enumerate(self.floors):
            y = self.TOP + index * (self.HIGH + 8)
            canvas.box(self.LEFT, y, wide - 2 * self.LEFT, self.HIGH, "plain")
            canvas.text(self.LEFT + self.NUMBER / 2, y + self.HIGH / 2 + 5, number, "name", "middle")
            x = self.LEFT + self.NUMBER
            for room in floor:
                canvas.box(x, y + 8, self.room(room), self.HIGH - 16, "ours")
                self.name(canvas, x + self.room(room) / 2, y + self.HIGH / 2, room)
                x += self.room(room) + 12
            canvas.text(self.LEFT + self.NUMBER + rooms + 12, y + self.HIGH / 2 + 5, text, "soft")
        return canvas.svg(self.title, wide, self.TOP + len(self.floors) * (self.HIGH + 8) + 20)

    @staticmethod
    def room(room):
        return max(name_width(room[0]), width(room[1], 13)) + 24

    @staticmethod
    def name(canvas, x, y, room):
        canvas.text(x, y + (5 if not room[1] else -3), room[0], "name", "middle")
        if room[1]:
            canvas.text(x, y + 15, room[1], "soft", "middle")


# ---- map ---------------------------------------------------------------------------------------------

class Map:
    """Boxes on a grid."""

    WIDE, HIGH, LEFT, TOP, GAP = 200, 96, 30, 58, 34

    def __init__(self, title, lines):
        self.title, self.boxes, self.frames, self.arrows = title, {}, [], []
        for line in lines:
            self.read([part.strip() for part in line.split("|")])

    def read(self, parts):
        box = re.fullmatch(r"box (\w+) ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) (\w+)", parts[0])
        frame = re.fullmatch(r"frame ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)", parts[0])
        arrow = re.fullmatch(r"arrow (\w+) -> (\w+)", parts[0])
        if box and box[6] in KINDS and len(parts) >= 2:
            self.boxes[box[1]] = (*self.rectangle(map(float, box.groups()[1:5]), self.GAP), box[6], parts[1], parts[2:])
        elif frame and len(parts) == 2:
            self.frames.append((*self.rectangle(map(float, frame.groups()), 4), parts[1]))
        elif arrow and arrow[1] in self.boxes and arrow[2] in self.boxes:
            self.arrows.append((arrow[1], arrow[2], parts[1] if len(parts) > 1 else ""))
        else:
            raise Problem(f"cannot read: {' | '.join(parts)}")

    def rectangle(self, numbers, gap):
        """Grid to pixels."""
        column, row, wide, high = numbers
        return (self.LEFT + column * self.WIDE + gap / 2, self.TOP + row * self.HIGH + gap / 2,
                wide * self.WIDE - gap, high * self.HIGH - gap)

    def draw(self):
        canvas = Canvas()
        everything = [box[:4] for box in self.boxes.values()] + [frame[:4] for frame in self.frames]
        wide = max(x + w for x, _, w, _ in everything) + self.LEFT
        high = max(y + h for _, y, _, h in everything) + 24
        canvas.text(self.LEFT, 34, self.title, "title")
        for x, y, w, h, words in self.frames:
            canvas.box(x, y, w, h, "rule", 10, ' stroke-dasharray="3 4"')
            canvas.text(x + 12, y + 20, words, "part")
        for source, target, _ in self.arrows:
            canvas.arrow(self.way(source, target))
        for box in self.boxes.values():
            self.box(canvas, *box)
        for source, target, words in self.arrows:
            (x1, y1), (x2, y2) = self.way(source, target)
            if words:
                canvas.text((x1 + x2) / 2, (y1 + y2) / 2 - (8 if y1 == y2 else -4), words, "soft label", "middle")
        return canvas.svg(self.title, max(wide, name_width(self.title, 18) + 60), high)

    @staticmethod
    def box(canvas, x, y, w, h, kind, name, lines):
        canvas.box(x, y, w, h, kind)
        top = y + h / 2 + 5 - 17 * len(lines) / 2
        canvas.text(x + w / 2, top, name, "name", "middle")
        for index, line in enumerate(lines):
            canvas.text(x + w / 2, top + 18 + 17 * index, line, "soft", "middle")

    def way(self, source, target):
        """From edge to edge: straight down or across where the boxes face each other."""
        x1, y1, w1, h1 = self.boxes[source][:4]
        x2, y2, w2, h2 = self.boxes[target][:4]
        left, right = max(x1, x2), min(x1 + w1, x2 + w2)
        top, bottom = max(y1, y2), min(y1 + h1, y2 + h2)
        if right - left > 20:
            x = (left + right) / 2
            return [(x, y1 + h1), (x, y2)] if y1 < y2 else [(x, y1), (x, y2 + h2)]
        if bottom - top > 20:
            y = (top + bottom) / 2
            return [(x1 + w1, y), (x2, y)] if x1 < x2 else [(x1, y), (x2 + w2, y)]
        side = 0.3 if x1 < x2 else -0.3
        start = (x1 + w1 * (0.5 + side), y1 + h1 if y1 < y2 else y1)
        return [start, (x2 + w2 * (0.5 - side), y2 if y1 < y2 else y2 + h2)]


DRAWERS = {"sequence": Sequence, "stack": Stack, "map": Map}


def draw(text, name):
    """The SVG of a text; `name` is told where it is wrong."""
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#")]
    if len(lines) < 3 or not lines[0].startswith("title ") or lines[1] not in DRAWERS:
        raise Problem(f"{name}: begins with a title and one of {', '.join(DRAWERS)}")
    try:
        return DRAWERS[lines[1]](lines[0].removeprefix("title "), lines[2:]).draw()
    except Problem as problem:
        raise Problem(f"{name}: {problem}") from problem
