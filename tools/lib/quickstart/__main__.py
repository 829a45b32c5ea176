# SPDX-License-Identifier: MIT
"""tools/quickstart: builds Gatehouse and runs all of it in one folder.

The way through the modules: options reads the command line, layout knows the state folder, packages and build put the
programs there, configuration fills in the files that the programs read, database and webserver describe the servers,
start puts them into an order, supervisor starts and watches them, background and stop are the two other ways to run.
"""

import sys

import background
import options
import start
import stop
from problem import Interrupted, Problem, sentence


def main():
    chosen = options.read(sys.argv[1:])
    try:
        if chosen.stop:
            return stop.run(chosen)
        if chosen.build_only:
            return start.build_only(chosen)
        if chosen.background:
            return background.run(chosen)
        return start.run(chosen)
    except Problem as problem:
        print(f"quickstart: {problem}", file=sys.stderr)
        return 1
    except (Interrupted, KeyboardInterrupt):
        return 130
    except OSError as error:
        print(f"quickstart: {sentence(error, chosen.state)}", file=sys.stderr)
        return 1


sys.exit(main())
