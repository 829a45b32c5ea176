# SPDX-License-Identifier: MIT
"""Results for people and programs: a table on the terminal, a JSON file, a section of docs/benchmarks.md with a plot."""

import datetime
import json
import os
import platform
import re
import statistics
import subprocess

import plot

PACKAGES = ("nginx", "mariadb-server-core", "libmariadb3", "libfcgi0ldbl", "libssl3", "wrk", "php8.2-fpm",
            "glewlwyd", "postgresql-15")
HEAD = """\
# Benchmarks

Written by `tools/bench`, which builds what it needs, starts the quick start's stack and everything it is compared with on
the loopback address of one machine, and drives them in turn within each round. **No absolute number is a result**: load
generator, web server, workers and database share the processors, and other programs may run beside them. Results are
ratios within a round, told as median [minimum..maximum] of the rounds. Beside them stands the same ratio by processor
time: what all processes together, load generator included, worked for a request. Where the processors are the bound, which
is so here, both should say the same; the second moves less when others use the machine at the same time, but it moves, since
their work puts ours out of the caches. A load average well above the number of processors means: measure again.
"""


def show(name, result):
    """The tables on the terminal."""
    print(f"\n{name}: {result['rounds']} rounds of {result['seconds']:g} s")
    for row in result["comparisons"]:
        bound = ">=" if row["least"] else "<="
        print(f"  {row['median']:7.3f} [{row['minimum']:.3f}..{row['maximum']:.3f}] {bound} {row['goal']:g} "
              f"{'ok  ' if row['holds'] else 'MISS'} "
              f"{by_processor(row):5} by processor time  {row['connections']:3} conn.  {row['of']} / {row['to']}")
    for count, rows in result["measured"].items():
        for target, entries in rows.items():
            print(f"  {middle(entries, lambda one: one['rate']):9.0f}/s  p50 {latency(entries, '50'):7.2f} ms"
                  f"  p99 {latency(entries, '99'):7.2f} ms"
                  f"  {middle(entries, lambda one: one['processor']):6.1f} us busy  {count:3} conn.  {target}")
    for what, found in result.get("memory", {}).items():
        print(f"  {what}: {found}")
    for fault in result["faults"]:
        print(f"  FAULT: {fault}")


def by_processor(row):
    """The ratio by processor time, where there is one."""
    return "" if row["processor"] is None else f"{row['processor']:.2f}"


def middle(entries, value):
    """The median over the rounds."""
    return statistics.median(value(entry) for entry in entries)


def latency(entries, percent):
    """The median of a percentile over the rounds, in milliseconds."""
    return middle(entries, lambda one: one["latency"][percent] / 1000)


def machine():
    """What the numbers were found on."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    if found:
        model = found[1]
    with open("/proc/meminfo", encoding="ascii") as file:
        gib = int(re.search(r"MemTotal: +(\d+)", file.read())[1]) / 1048576
    return f"{len(os.sched_getaffinity(0))} cores ({model}), {gib:.0f} GiB, Linux {platform.release().split('-')[0]}"


def versions():
    """The packages that matter, as installed."""
    said = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return [line for line in said.splitlines() if len(line.split()) == 2]


def keep(top, name, result, stack, options):
    """The JSON file beside the build, and with --write the documents."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    whole = {"suite": name, "date": now, "machine": machine(), "versions": versions(), "workers": stack.workers,
             "load": os.getloadavg()[1], **result}
    path = stack.build_directory / f"bench-{name}.json"
    path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    print(f"  kept in {path}")
    if not options.write:
        return
    page = top / "docs" / "benchmarks.md"
    text = page.read_text(encoding="utf-8") if page.exists() else HEAD
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    text = re.sub(re.escape(begin) + ".*?" + re.escape(end), "", text, flags=re.DOTALL).rstrip() + "\n"
    page.write_text(f"{text}\n{begin}{section(name, whole)}{end}", encoding="utf-8")
    if result["comparisons"]:
        (top / "docs" / f"benchmarks-{name}.svg").write_text(plot.draw(whole), encoding="utf-8")


def section(name, whole):
    """The suite's part of docs/benchmarks.md."""
    lines = [f"## {whole['title']}", "", f"`tools/bench {name} --write`, {whole['date']}, {whole['rounds']} rounds of "
             f"{whole['seconds']:g} s; {whole['workers']} workers; {whole['machine']}; load average, ours included, "
             f"{whole['load']:.1f}; {'; '.join(whole['versions'])}.", ""]
    for note in whole.get("notes", []):
        lines += [note.rstrip(), ""]
    if whole["comparisons"]:
        lines += ["| what | against | connections | goal | median [minimum..maximum] | by processor time | |",
                  "|---|---|---|---|---|---|---|"]
        for row in whole["comparisons"]:
            lines.append(f"| {row['of']} | {row['to']} | {row['connections']} | "
                         f"{'≥' if row['least'] else '≤'} {row['goal']:g} | {row['median']:.2f} [{row['minimum']:.2f}..{row['maximum']:.2f}] | "
                         f"{by_processor(row)} | {'holds' if row['holds'] else 'missed'} |")
        lines += ["", f"![ratios and latencies](benchmarks-{name}.svg)", ""]
    lines += ["| target | connections | requests/s | p50 ms | p99 ms | processor us a request |", "|---|---|---|---|---|---|"]
    for count, rows in whole["measured"].items():
        for target, entries in rows.items():
            lines.append(f"| {target} | {count} | {middle(entries, lambda one: one['rate']):.0f} | "
                         f"{latency(entries, '50'):.2f} | {latency(entries, '99'):.2f} | "
                         f"{middle(entries, lambda one: one['processor']):.0f} |")
    for what, found in whole.get("memory", {}).items():
        lines += ["", f"{what}: {', '.join(map(str, found))}."]
    lines += ["", f"Errors, answers of 400 and above, memory growth: {'; '.join(whole['faults']) or 'none'}.", ""]
    return "\n".join(lines)
