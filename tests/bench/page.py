# SPDX-License-Identifier: MIT
"""docs/benchmarks.md: a head, the summary of all goals, a section for each suite with its plot."""

import re

import plot
import tell

HEAD = """\
# Benchmarks

`tools/bench` writes this page. It builds what it needs and starts the quick start's stack, and everything that it is
compared with, on the loopback address of one machine. In each round it drives all of them in turn. `tools/bench all
peers cluster console --write` makes this page again; `tools/bench --help` lists its options.

**No absolute number is a result.** Load generator, web server, workers and database share the processors, and other
programs may run beside them. The results are ratios within a round: the median [minimum..maximum] of the rounds. A
goal is reached if the median reaches it. The column beside it has the same ratio by processor time: the work of all
processes together for a request, load generator included. Where the processors are the limit, as in most rows, both
columns should agree. Other programs change the second column less than the first; they still change it, because they
empty the caches. If the load average is well above the number of processors, measure again.

All that is compared runs in one session with the load generator, since Linux may share the processors among sessions
first (autogroups, sched(7)). What is compared with an authorised read gets the same requests, with the same paths and
tokens.
"""


def write(top, name, whole):
    """Puts the suite's section in place of its older one, or at the end."""
    path = top / "docs" / "benchmarks.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    sections = dict(re.findall(r"<!-- (\S+) -->\n(.*?)<!-- end of \1 -->\n", text, flags=re.DOTALL))
    drawing = plot.draw(whole)
    picture = f"benchmarks-{name}.svg"
    if drawing:
        (top / "docs" / picture).write_text(drawing, encoding="utf-8")
    sections[name] = section(whole, picture if drawing else None)
    assemble(path, sections)


def write_summary(top, wholes, faults):
    """Puts the table of all goals in front."""
    path = top / "docs" / "benchmarks.md"
    text = path.read_text(encoding="utf-8")
    sections = dict(re.findall(r"<!-- (\S+) -->\n(.*?)<!-- end of \1 -->\n", text, flags=re.DOTALL))
    rows = [(whole["suite"], row) for whole in wholes for row in whole["comparisons"]]
    missed = sum(not row["holds"] for _, row in rows)
    lines = ["## Goals", "", f"`{wholes[0]['command']}`, {wholes[0]['date']}: {len(rows) - missed} of {len(rows)} "
                             f"goals "
             f"reached{f', {missed} not' if missed else ''}.", "", *goals(rows), ""]
    lines += [f"Errors: {'; '.join(faults) or 'none'}.", ""]
    assemble(path, {"goals": "\n".join(lines)} | {name: text for name, text in sections.items() if name != "goals"})


def assemble(path, sections):
    """Writes the page."""
    parts = [f"<!-- {name} -->\n{text}<!-- end of {name} -->\n" for name, text in sections.items()]
    path.write_text("\n".join([HEAD, *parts]), encoding="utf-8")


def section(whole, picture):
    """The suite's part of the page."""
    length = f" of {whole['seconds']:g} s" if whole["seconds"] else ""
    lines = [f"## {whole['title']}", "", f"`{whole['command']}`, {whole['date']}, {whole['rounds']} rounds{length}; "
             f"{whole['workers']} workers; {whole['machine']}; load average, ours included, "
             f"{whole['load']:.1f}; {'; '.join(whole['versions'])}.", ""]
    for note in whole.get("notes", []):
        lines += [note.rstrip(), ""]
    if whole["comparisons"]:
        lines += [*goals([(None, row) for row in whole["comparisons"]]), "", *reasons(whole["comparisons"])]
    if picture:
        lines += [f"![{whole['title'].lower()}: ratios, latencies, curves]({picture})", ""]
    if any(whole["measured"].values()):
        lines += [*rates(whole["measured"]), ""]
    for table in whole.get("tables", []):
        lines += [f"{table['title']}:", "", *grid(table["head"], table["rows"]), ""]
    for what, values in whole.get("memory", {}).items():
        lines += [f"{what}: {', '.join(map(str, values))}.", ""]
    lines += [f"Errors, answers of 400 and above, memory growth: {'; '.join(whole['faults']) or 'none'}.", ""]
    return "\n".join(lines)


def grid(head, rows):
    """A table of the page."""
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *["| " + " | ".join(map(str, row)) + " |" for row in rows]]


def goals(rows):
    """The table of goals; each row with the suite it is from, or None."""
    suites = rows[0][0] is not None
    head = ["suite"] * suites + ["what", "against", "connections", "goal", "median [minimum..maximum]",
                                 "by processor time", ""]
    return grid(head, [[suite] * suites + [
        row["of"], row["to"], row["connections"], tell.goal(row), tell.found(row),
        "" if row["processor"] is None else f"{row['processor']:.2f}", "reached" if row["holds"] else "**not reached**"]
                       for suite, row in rows])


def reasons(rows):
    """Why goals were not reached: a line each."""
    lines = [f"- Not reached, {row['of']} / {row['to']}, {row['connections']} connections: {row['why']}" for row in rows
             if row.get("why")]
    return [*lines, ""] if lines else []


def rates(measured):
    """The table of what was driven."""
    return grid(["target", "connections", "a second", "p50 ms", "p99 ms", "processor us each"],
                [[target, count, f"{tell.middle(entries, lambda one: one['rate']):.4g}",
                  f"{tell.latency(entries, '50'):.2f}", f"{tell.latency(entries, '99'):.2f}",
                  f"{tell.middle(entries, lambda one: one['processor']):.0f}"]
                 for count, rows in measured.items() for target, entries in rows.items()])
