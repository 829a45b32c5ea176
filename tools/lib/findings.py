# SPDX-License-Identifier: MIT
"""Looks at the C sources with a program that takes seconds of processor for a file.

A file without a finding is remembered by the digest of all that its findings depend on: its text before and after the
preprocessor, the program's version and options. The digests are in ~/.cache/gatehouse ($XDG_CACHE_HOME), in a folder
with the check's name; delete that folder, and all is looked at again.
"""

import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The warnings of configure.ac.
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wvla",
            "-Wformat=2", "-Wundef", "-Wwrite-strings", "-Wpointer-arith")
TOP = pathlib.Path(__file__).resolve().parents[2]
FLAGS = (*WARNINGS, "-std=gnu11", "-D_GNU_SOURCE", '-DPACKAGE_VERSION="0"', '-DGATEHOUSE_SYSCONFDIR="/etc"',
         '-DGATEHOUSE_DATADIR="/usr/share/gatehouse"', "-I/usr/include/mariadb")


def output_of(command, root):
    """Status and output of a program."""
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Look:
    """One check: the program that finds, the one whose preprocessor shows what a file depends on, the command for a
    file and its flags, and the files of the tree that say what is looked for. `classify` takes the program's output
    and gives what is left to tell and the findings that have a reason to stay."""

    def __init__(self, name, programs, command, rules, classify=lambda said: (said, [])):
        self.name = name
        self.finder, self.compiler = programs
        self.command = command
        self.rules = rules
        self.classify = classify

    def begin(self, root, folder):
        """Makes the folder of digests, and what all files have in common."""
        self.root, self.folder = root, folder
        self.flags = [*FLAGS, f"-I{folder}", "-Iinclude", "-Isrc"]
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        self.cache = cache / "gatehouse" / self.name
        self.cache.mkdir(parents=True, exist_ok=True)
        self.common = "\n".join([output_of([self.finder, "--version"], root)[1], *FLAGS, *self.command("", [])])
        self.common += (TOP / self.rules).read_text(encoding="utf-8")

    def look(self, path):
        """What the program says of a file, "" for nothing; the findings that may stay; and whether that was known."""
        status, text, said = output_of([self.compiler, "-E", *self.flags, path], self.root)
        if status != 0:
            return said, [], False
        # Comments decide, too, where they silence a check. The folder has another name each time.
        whole = (self.common + text.replace(self.folder, "")).encode() + (self.root / path).read_bytes()
        known = self.cache / hashlib.sha256(whole).hexdigest()
        if known.exists():
            return "", known.read_text(encoding="utf-8").splitlines(), True
        status, found, said = output_of([self.finder, *self.command(path, self.flags)], self.root)
        if status != 0 and not found.strip():
            found = said or f"{path}: {self.finder} ended with {status}"
        left, kept = self.classify(found.strip())
        if left:
            return left, kept, False
        known.write_text("\n".join(kept), encoding="utf-8")
        return "", kept, False


def changed_last(root, files, number):
    """So many of the files: those with changes that are not committed, then those of the newest commits. Where git does
    not know them, the first ones."""
    wanted = ["--name-only", "--no-renames", "--relative", "--diff-filter=d"]
    said = output_of(["git", "diff", *wanted, "HEAD", "--", "src"], root)[1]
    said += output_of(["git", "ls-files", "--others", "--exclude-standard", "--", "src"], root)[1]
    said += output_of(["git", "log", "--format=", *wanted, "--", "src"], root)[1]
    there = {str(path.relative_to(root)): path for path in files}
    changed = [there[name] for name in dict.fromkeys(said.splitlines()) if name in there]
    return list(dict.fromkeys(changed + files))[:number]


def sources(look):
    """The root, its files of src, or those that the command line chooses, and whether these are the whole tree."""
    arguments = sys.argv[1:]
    last = int(arguments.pop(0).partition("=")[2]) if arguments and arguments[0].startswith("--last=") else 0
    named = [pathlib.Path(argument).resolve() for argument in arguments]
    root = named[0] if len(named) == 1 and named[0].is_dir() else TOP
    found = named if named and root not in named else sorted(root.glob("src/**/*.c"))
    if not found:
        sys.exit(f"check-{look.name}: there is no source to read")
    chosen = changed_last(root, found, last) if last else found
    return root, [str(path.relative_to(root)) for path in chosen], not named and not last


def main(look):
    """Looks at the sources. Returns the findings that have a reason to stay, None when it did not look at the whole
    tree. Ends the process with 1 when there is another finding, and when there is no file to read."""
    root, files, whole = sources(look)
    name = f"check-{look.name}"
    programs = dict.fromkeys((look.finder, look.compiler))
    if not all(map(shutil.which, programs)):
        sys.exit(f"{name}: {' or '.join(programs)} is missing (Debian: apt-get install {' '.join(programs)})")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "config.h").touch()
        look.begin(root, folder)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            results = list(pool.map(look.look, files))
    told = [said for said, _, _ in results if said]
    if told:
        sys.exit("\n".join([*told, f"{name}: see above what {look.finder} finds"]))
    kept = [finding for _, reasoned, _ in results for finding in reasoned]
    print(f"{name}: {look.finder} finds nothing{' else' if kept else ''} in {len(files)} files, "
          f"{sum(known for _, _, known in results)} of which it had seen before")
    return kept if whole else None
