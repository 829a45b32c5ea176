# SPDX-License-Identifier: MIT
"""What is measured, running: the quick start, and beside it, behind the same nginx, the probes and peers."""

import glob
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

READERS = 64
PROBES = ("null", "roundtrip", "mint", "durable", "argon", "start", "send", "storm")

# As the quick start runs workers and MariaDB: see CPUSchedulingPolicy in systemd/gatehouse.service.in.
TURNS = ("chrt", "--batch", "0")


class Trouble(Exception):
    """Why nothing can be measured, in a sentence."""


def free_port():
    """A port of the loopback address that nobody has, nor gets by chance."""
    program = pathlib.Path(__file__).parents[2] / "tools" / "lib" / "quickstart" / "ports.py"
    return int(subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout)


def server_block(site):
    """The text of the last server {...} block of an nginx site, and what stands before it."""
    start = site.rindex("\nserver {") + 1
    depth = 0
    for at in range(start, len(site)):
        depth += {"{": 1, "}": -1}.get(site[at], 0)
        if depth == 0 and site[at] == "}":
            return site[start:at + 1]
    raise Trouble("The site of the quick start's nginx has no server block.")


def dashed(text):
    """An id as clients write it."""
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


class Started:
    """A context: what start() starts is up inside, all of it, and end() leaves nothing."""

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        """All or an exception."""
        raise NotImplementedError

    def end(self):
        """Also of what start() has only begun."""
        raise NotImplementedError


class Stack(Started):
    """The service, and what is measured beside it."""

    def __init__(self, top, options):
        self.top = top
        self.kept = options.state is not None
        self.state = pathlib.Path(os.path.realpath(options.state or tempfile.mkdtemp(prefix="ghb.")))
        self.build_directory = pathlib.Path(os.path.realpath(options.build_directory))
        self.configure_arguments = options.configure_arguments
        self.build = self.build_directory / "build"
        self.worker = self.build_directory / "install" / "libexec" / "gatehouse" / "gatehouse.fcgi"
        self.folder = self.state / "bench"
        self.children = []
        self.servers = {}
        self.facts = {}
        self.supervisor = None

    # ---- starting and ending ---------------------------------------------------------------------------------------

    def start(self):
        """The quick start, its database filled, and the probes built."""
        print("Starting the service", flush=True)
        # A worker that is replaced in the middle of a run would hide whether memory grows.
        self.quickstart("--port", str(free_port()), "--no-install", "--set", "service.requests_per_worker=1000000000")
        self.folder.mkdir(exist_ok=True)
        if subprocess.run(["make", "-C", self.build, "-j2", *[f"tests/bench/{probe}" for probe in PROBES]],
                          stdout=subprocess.DEVNULL, check=False).returncode != 0:
            raise Trouble("The probes could not be built.")
        self.workers = len(self.worker_pids())
        self.fill()

    def quickstart(self, *arguments):
        """Starts tools/quickstart on our state folder, and waits until it is ready. It is a child of ours as everything
        else that is measured or drives, so that all are in one session: Linux schedules sessions as groups, and by
        default shares the processors among the groups first (autogroups, sched(7))."""
        command = ["setpriv", "--pdeathsig", "TERM", "--", self.top / "tools" / "quickstart", "--state", self.state,
                   "--build-directory", self.build_directory, f"--configure-arguments={self.configure_arguments}",
                   *arguments]
        with tempfile.TemporaryFile() as said:
            self.supervisor = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                               process_group=0)
            while not self.is_up():
                if self.supervisor.poll() is not None:
                    said.seek(0)
                    raise Trouble(f"The quick start failed: {said.read().decode('utf-8', 'replace')[-2000:]}")
                time.sleep(0.1)

    def is_up(self):
        """Whether the quick start says that the service is ready; then its facts are ours."""
        try:
            self.facts = json.loads((self.state / "quickstart.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        return self.facts["pids"]["quickstart"] == self.supervisor.pid

    def end(self):
        """Ends the probes, then the quick start."""
        self.finish(list(self.children))
        if self.supervisor:
            self.finish([self.supervisor], seconds=150)
        stopped = subprocess.run([self.top / "tools" / "quickstart", "--state", self.state, "--stop"], text=True,
                                 check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        if stopped.returncode != 0:
            print(f"bench: {self.state} stays: {stopped.stderr.strip()}", file=sys.stderr, flush=True)
        elif not self.kept:
            shutil.rmtree(self.state, ignore_errors=True)

    def finish(self, children, number=signal.SIGTERM, seconds=10):
        """Ends some of our children before we end; empties the list."""
        for child in children:
            child.send_signal(number)
        for child in children:
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.children = [child for child in self.children if child not in children]
        children.clear()

    # ---- data ------------------------------------------------------------------------------------------------------

    def sql(self, text, name=None):
        """Runs SQL as the owner of the database (or of another one) and returns what it said."""
        database = self.facts["database"]
        done = subprocess.run(["mariadb", "--no-defaults", f"--socket={database['socket']}", "-N", "-B",
                               name or database["name"]],
                              input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"The database refused: {done.stderr[-500:]}")
        return done.stdout

    def fill(self):
        """The sample data, once a state folder, and the ids of one organisation's readers and files."""
        if self.sql("SELECT COUNT(*) FROM organisation").strip() == "1":
            self.sql((self.top / "tests" / "bench" / "sample.sql").read_text(encoding="utf-8"))
        rows = self.sql("SELECT LOWER(HEX(u.id)), LOWER(HEX(s.id)) FROM user u JOIN session s ON s.user_id = u.id WHERE"
                        " u.organisation_id = UNHEX('01930000000170008000000000000002')"
                        f" AND u.email LIKE 'person%' ORDER BY s.id LIMIT {READERS}")
        self.readers = [line.split() for line in rows.splitlines()]
        self.files = self.sql("SELECT LOWER(HEX(id)) FROM file WHERE"
                              " organisation_id = UNHEX('01930000000170008000000000000002') ORDER BY id").split()

    def note(self, name, lines):
        """A file of lines for the load or a probe."""
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        return path

    def tokens(self, name, count, configuration=None, people=None):
        """A file of so many different access tokens of the readers (or of others, [user, session] each), made with the
        keys of the service (or of another one)."""
        sessions = "".join(f"{user} {session}\n" for user, session in people or self.readers)
        path = self.folder / name
        with open(path, "wb") as output:
            mints = [subprocess.Popen([self.build / "tests" / "bench" / "mint",
                                       configuration or self.facts["configuration"],
                                       str(-(-count // self.cores()))], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                     for _ in range(self.cores())]
            for mint in mints:
                mint.stdin.write(sessions.encode("ascii"))
                mint.stdin.close()
            for mint in mints:
                shutil.copyfileobj(mint.stdout, output)
            if any(mint.wait() != 0 for mint in mints):
                raise Trouble("No tokens could be made.")
        return path

    # ---- probes ----------------------------------------------------------------------------------------------------

    def run(self, arguments, log):
        """A child of ours, ended with us."""
        with open(self.folder / log, "ab") as output:
            child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "--", *map(str, arguments)],
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=self.folder)
        self.children.append(child)
        return child

    def pool(self, name, program, *arguments):
        """A probe on as many processes as the service has workers, behind nginx as the service is. Returns its
        address."""
        _, upstream = self.spawn(name, self.workers, [self.build / "tests" / "bench" / program, *arguments])
        return self.serve(name, upstream)

    def more_workers(self, name, count, change=lambda block: block, configuration=None, environment=()):
        """So many workers of the service, of their own, behind a server of their own. `configuration`: theirs in place
        of the quick start's; `environment`: NAME=VALUE. Returns (the process that they are children of, the
        address)."""
        worker = [self.worker, "--config", configuration or self.facts["configuration"]]
        child, upstream = self.spawn(name, count, worker, environment)
        return child, self.serve(name, upstream, change)

    def spawn(self, name, count, command, environment=()):
        """So many processes of a FastCGI program on a socket, scheduled as the service's own workers are. Returns (the
        child, the upstream for nginx)."""
        path = self.folder / f"{name}.sock"
        path.unlink(missing_ok=True)
        child = self.run([*TURNS, "env", *environment, "spawn-fcgi", "-n", "-s", path, "-M", "0600", "-b", "1024", "--",
                          "/usr/bin/multiwatch", "-s", "TERM", "-t", "1000", "-r", "1000000", "-f", count, "--",
                          *command],
                         f"{name}.log")
        return child, f"unix:{path}"

    def php(self, name, script):
        """A PHP script on as many FPM children, scheduled as the workers are. Returns its address; None where there is
        no PHP-FPM."""
        programs = sorted(glob.glob("/usr/sbin/php-fpm*"))
        if not programs:
            return None
        path = self.folder / f"{name}.sock"
        settings = self.folder / f"{name}.conf"
        settings.write_text(
            f"[global]\nerror_log = {self.folder}/{name}.log\ndaemonize = no\n[bench]\nlisten = {path}\nlisten.backlog "
            f"= 1024\nlisten.mode = 0600\npm = static\npm.max_children = {self.workers}\n", encoding="ascii")
        self.run([*TURNS, programs[-1], "-n", "-R", "-F", "-y", settings, "-d", "zend_extension=opcache", "-d",
                  "opcache.enable=1", "-d", "extension=mysqlnd", "-d", "extension=mysqli"], f"{name}.log")
        database = self.facts["database"]
        return self.serve(name, f"unix:{path}", SCRIPT_FILENAME=self.top / "tests" / "bench" / script,
                          DATABASE_SOCKET=database["socket"], DATABASE_USER=database["user"],
                          DATABASE_NAME=database["name"])

    def serve(self, name, upstream, change=lambda block: block, **parameters):
        """A server of the quick start's own nginx, the service's site but for the pool behind it and what change()
        makes of its text."""
        port = free_port()
        site = (self.state / "etc" / "nginx" / "gatehouse.conf").read_text(encoding="utf-8")
        block = change(server_block(site))
        block = re.sub(r"(?m)^    listen .*$", f"    listen 127.0.0.1:{port};", block, count=1)
        more = "".join(f"    fastcgi_param {key} {value};\n" for key, value in parameters.items())
        block = block.replace("    fastcgi_keep_conn off;", more + "    fastcgi_keep_conn off;", 1)
        block = block.replace("$gatehouse_pool", f"$bench_pool_{name}")
        if f"$bench_pool_{name}" not in block:
            raise Trouble("The site of the quick start's nginx passes requests on in a way that tools/bench does not "
                          "know.")
        self.servers[name] = (f"upstream bench_{name} {{ server {upstream} max_fails=0; }}\n"
                              f"map $request_method $bench_pool_{name} {{ default bench_{name}; }}\n{block}\n", port)
        self.reload()
        self.await_answer(name, port)
        return f"http://127.0.0.1:{port}"

    def proxy(self, name, ports, path):
        """A server of the quick start's own nginx before HTTP servers on these ports, over connections that are kept.
        Returns its address."""
        port = free_port()
        servers = "".join(f" server 127.0.0.1:{one} max_fails=0;" for one in ports)
        self.servers[name] = (f"upstream bench_{name} {{{servers} keepalive 64; }}\n"
                              f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://bench_{name}; "
                              'proxy_http_version 1.1; proxy_set_header Connection ""; } }\n', port)
        self.reload()
        self.await_answer(name, port, path)
        return f"http://127.0.0.1:{port}"

    def reload(self):
        """nginx with all servers that there are."""
        extra = self.folder / "nginx.conf"
        extra.write_text("".join(text for text, _ in self.servers.values()), encoding="utf-8")
        main = self.state / "etc" / "nginx" / "nginx.conf"
        text = main.read_text(encoding="utf-8")
        if str(extra) not in text:
            main.write_text(text.rstrip().removesuffix("}") + f"    include {extra};\n}}\n", encoding="utf-8")
        os.kill(int((self.state / "run" / "nginx.pid").read_text(encoding="ascii")), signal.SIGHUP)

    def await_answer(self, name, port, path="/", seconds=20):
        """Until nginx has the server and the pool answers."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and all(child.poll() is None for child in self.children):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", path)
                if connection.getresponse().status < 500:
                    return
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.1)
        raise Trouble(f"{name} does not answer; see {self.folder}/{name}.log.")

    def await_port(self, name, port, seconds=30):
        """Until somebody listens there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and all(child.poll() is None for child in self.children):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise Trouble(f"{name} does not listen; see {self.folder}/{name}.log.")

    # ---- what is known of the processes ----------------------------------------------------------------------------

    def cores(self):
        """How many processors this process may use."""
        return len(os.sched_getaffinity(0))

    def descendants(self, root):
        """The processes below one, itself included; a list without order."""
        parents = {}
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path, encoding="ascii", errors="replace") as file:
                    parents.setdefault(int(file.read().rpartition(")")[2].split()[1]),
                                       []).append(int(path.split("/")[2]))
            except OSError:
                continue
        found = [root]
        for pid in found:
            found += parents.get(pid, [])
        return found

    def worker_pids(self, root=None):
        """The workers below a process; of the readers' pool when none is named."""
        return [pid for pid in self.descendants(root or self.facts["pids"]["workers"])
                if command_of(pid) == "gatehouse.fcgi"]

    def private_memory(self, root=None):
        """{pid: KiB that only this worker has}."""
        return {pid: memory for pid, memory in ((pid, private_kib(pid)) for pid in self.worker_pids(root)) if memory}

    def private_total(self, root):
        """The private memory in KiB of a process and all below it."""
        return sum(private_kib(pid) for pid in self.descendants(root))

    def busy(self):
        """Processor seconds that everything of ours has used so far."""
        return self.busy_of([self.facts["pids"]["quickstart"], *(child.pid for child in self.children)])

    def busy_of(self, roots):
        """Those of some processes, with all below them."""
        total = 0
        for pid in [pid for root in roots for pid in self.descendants(root)]:
            exact = 0
            for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
                try:
                    with open(path, encoding="ascii") as file:
                        exact += int(file.read().split()[0])
                except (OSError, IndexError):
                    continue
            total += max(exact / 1e9, with_ended_threads(pid))
        return total


def with_ended_threads(pid):
    """Processor seconds of a process and of its threads that have ended, by the hundredth; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def private_kib(pid):
    """The memory in KiB that only this process has; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(number) for number in re.findall(r"Private_\w+: +(\d+) kB", file.read()))
    except OSError:
        return 0


def command_of(pid):
    """The name of a process's program, "" when it is gone."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
