# SPDX-License-Identifier: MIT
"""Results for people and programs: tables on the terminal, a JSON file, docs/benchmarks.md (page.py)."""

import datetime
import json
import os
import platform
import re
import subprocess

import page
from tell import found, goal, latency, middle

# With the names of Debian 12 and of Debian 13.
PACKAGES = ("nginx", "mariadb-server-core", "libmariadb3", "libfcgi0ldbl", "libfcgi0t64", "libssl3", "libssl3t64",
            "libsodium23", "wrk", "php8.2-fpm", "php8.4-fpm", "glewlwyd", "postgresql-15", "postgresql-17")


def show(name, result):
    """The tables on the terminal."""
    length = f" of {result['seconds']:g} s" if result["seconds"] else ""
    print(f"\n{name}: {result['rounds']} rounds{length}")
    show_rows(result["comparisons"])
    for count, rows in result["measured"].items():
        for target, entries in rows.items():
            print(f"  {middle(entries, lambda one: one['rate']):9.0f}/s  p50 {latency(entries, '50'):7.2f} ms"
                  f"  p99 {latency(entries, '99'):7.2f} ms"
                  f"  {middle(entries, lambda one: one['processor']):6.1f} us busy  {count:3} conn.  {target}")
    for table in result.get("tables", []):
        show_table(table)
    for what, values in result.get("memory", {}).items():
        print(f"  {what}: {values}")
    for fault in result["faults"]:
        print(f"  FAULT: {fault}")


def show_rows(rows):
    """The rows of goals."""
    for row in rows:
        print(f"  {'reached' if row['holds'] else 'NOT REACHED':11}  {found(row):24} {goal(row):10}"
              f"  {row['of']} / {row['to']}, {row['connections']} conn."
              + (f"  (by processor time {row['processor']:.2f})" if row["processor"] is not None else ""))


def show_table(table):
    """A table of a suite's own."""
    print(f"  {table['title']}")
    cells = [table["head"], *[[str(cell) for cell in row] for row in table["rows"]]]
    widths = [max(len(row[at]) for row in cells) for at in range(len(table["head"]))]
    for row in cells:
        print("    " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def machine():
    """What the numbers were found on."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    said = re.search(r"model name\s*: (.*)", text)
    if said:
        model = said[1] + ("" if re.search(r"^flags\s*:.*\bsha_ni\b", text, re.MULTILINE) else ", no SHA extensions")
    with open("/proc/meminfo", encoding="ascii") as file:
        gib = int(re.search(r"MemTotal: +(\d+)", file.read())[1]) / 1048576
    return f"{len(os.sched_getaffinity(0))} cores ({model}), {gib:.0f} GiB, Linux {platform.release().split('-')[0]}"


def versions():
    """The packages that matter, as installed."""
    said = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return [line for line in said.splitlines() if len(line.split()) == 2]


def keep(top, name, result, stack, options):
    """The JSON file beside the build, and with --write the documents. Returns all that is known of the run."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    whole = {"suite": name, "date": now, "machine": machine(), "versions": versions(), "workers": stack.workers,
             "load": os.getloadavg()[1], "command": options.command, **result}
    path = stack.build_directory / f"bench-{name}.json"
    path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    print(f"  kept in {path}", flush=True)
    if options.write:
        page.write(top, name, whole)
    return whole


def summarise(top, wholes, troubles, options):
    """All goals of the run in one table. `troubles`: why suites have no result."""
    rows = [row for whole in wholes for row in whole["comparisons"]]
    faults = troubles + [f"{whole['suite']}: {fault}" for whole in wholes for fault in whole["faults"]]
    print(f"\nAll goals: {sum(row['holds'] for row in rows)} of {len(rows)} reached")
    show_rows(rows)
    print(f"  errors: {'; '.join(faults) or 'none'}")
    if options.write:
        page.write_summary(top, wholes, faults)
