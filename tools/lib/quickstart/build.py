# SPDX-License-Identifier: MIT
"""Builds and installs Gatehouse below the build folder, so that the very files of `make install` are run."""

import fcntl
import os
import shlex
import shutil

import options
from output import say, tail
from problem import Problem

STAMP = "configured-with"


def build(chosen, layout, processes):
    """Brings the installed programs up to date with the sources."""
    if (chosen.top / "config.status").exists():
        raise Problem(f"The source folder {chosen.top} is configured itself, so it cannot be built elsewhere. Run make "
                      "distclean in it first.")
    if not all(character.isalnum() or character in "._/+-" for character in str(chosen.top)):
        raise Problem(f"The path of the sources, {chosen.top}, holds a blank or another sign that configure and make do "
                      "not take. Move the sources to a plainer path.")
    Build(chosen, layout, processes).run()


class Build:
    """One build and its log."""

    def __init__(self, chosen, layout, processes):
        self.chosen = chosen
        self.layout = layout
        self.processes = processes
        self.log = layout.log / "build.log"

    def run(self):
        """autoreconf where a clone needs it, configure, make, make install."""
        self.log.unlink(missing_ok=True)
        self.layout.build.mkdir(mode=0o755, parents=True, exist_ok=True)
        # Generated files lie among the sources: one build of them at a time.
        sources = os.open(self.chosen.top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.wait_for(sources)
            if not self.is_generated():
                self.step("Preparing the sources", ["autoreconf", "-fi"], self.chosen.top)
            self.configure()
            self.step("Building", ["make", f"-j{options.cores()}"], self.layout.build)
            if self.chosen.build_directory == self.chosen.state:  # nobody else runs from it
                shutil.rmtree(self.layout.install, ignore_errors=True)
            # -C: what is there and equal is not replaced, since others may be running it at this moment.
            self.step(None, ["make", "install", "INSTALL=install -C"], self.layout.build)
        finally:
            os.close(sources)

    def wait_for(self, sources):
        said = False
        while True:
            try:
                fcntl.flock(sources, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if not said:
                    say("Waiting for another build of the same sources")
                said = True
                self.processes.pause(0.5)

    def is_generated(self):
        top = self.chosen.top
        names = ("configure", "Makefile.in", "config.h.in", "build-aux/install-sh")
        return all((top / name).exists() for name in names)

    def configure(self):
        arguments = [f"--prefix={self.layout.install}", "--quiet", *shlex.split(self.chosen.configure_arguments)]
        wanted = "\n".join([str(self.chosen.top), *arguments])
        stamp = self.layout.build / STAMP
        if stamp.exists() and stamp.read_text() == wanted and (self.layout.build / "Makefile").exists():
            return
        shutil.rmtree(self.layout.build)
        self.layout.build.mkdir(mode=0o755)
        self.step("Configuring", [self.chosen.top / "configure", *arguments], self.layout.build)
        stamp.write_text(wanted)

    def step(self, what, arguments, folder):
        if what:
            say(f"{what}")
        if self.processes.run(arguments, self.log, folder=folder) != 0:
            raise Problem(f"{' '.join(map(str, arguments[:1]))} failed; the end of {self.log}:\n{tail(self.log, 25)}")
