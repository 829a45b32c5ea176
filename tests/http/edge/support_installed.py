# SPDX-License-Identifier: MIT
"""A web server of the test's own, on the site that `make install` has filled in for the usual places.

The site is copied and changed by the very commands of docs/installing.md. Afterwards the usual places are replaced by
places of the test's own: this stands for the real /run, /var/lib and port 80 of a host."""

import contextlib
import copy
import os
import pathlib
import re
import subprocess
import sys
import types

from support.client import Api
from support.connections import ask
from support.programs import system
from support.programs.ports import free_port
from support.stack import wait_until

TOP = pathlib.Path(__file__).resolve().parents[3]
GUIDE = TOP / "docs" / "installing.md"
SITES = {"nginx": ("nginx", "gatehouse.conf"),
         "apache": ("apache", "gatehouse-proxy-fcgi.conf"),
         "apache-fcgid": ("apache", "gatehouse-fcgid.conf")}
# Where the guide has each file copied to.
PLACES = {"nginx": "/etc/nginx/sites-available/gatehouse", "apache": "/etc/apache2/sites-available/"}
# What Debian's own configuration of Apache has switched on, as far as it can matter to a site.
DEBIAN_MODULES = ("mpm_event", "alias", "authn_core", "authz_core", "authz_host", "autoindex", "dir", "env", "mime",
                  "negotiation", "setenvif", "status")
# And the format of logs that it defines. As it does, sites without a log of their own write to the main one.
DEBIAN_LOG = r'LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" combined'
NAME = "gatehouse.example.org"


class Site:
    """The copy of an installed site in a folder of the test's own. `marks`: what is switched on, as the guide says.
    With `tls` among them the port without TLS is `plain_port`. `base_path`: what configure was given with
    --with-base-path."""

    def __init__(self, stack, folder, marks=(), base_path=""):
        self.base_path = base_path
        self.stack = stack
        self.folder = folder
        self.plain_port, self.tls_port = free_port(), free_port()
        self.tls = "tls" in marks
        self.port = self.tls_port if self.tls else self.plain_port
        self.prefix = stack.ctl.parent.parent
        self.kind, self.name = SITES[stack.web_server]
        self.file = folder / self.name
        for name in ("run", "bodies", "log", "tmp", "run/fcgid"):
            (folder / name).mkdir(mode=0o700)
        self._copy()
        for mark in marks:
            self._switch_on(mark)
        self._move()
        if self.tls:
            self._certify()

    def _copy(self):
        names = {self.name} | ({"gatehouse-site.conf"} if self.kind == "apache" else set())
        for name in names:
            text = self.stack.data_file(f"{self.kind}/{name}").read_text()
            (self.folder / name).write_text(self._with_base_path(name, text) if self.base_path else text)
        self.files = sorted(self.folder / name for name in names)

    def _with_base_path(self, name, text):
        """The site as `make install` fills it in for that path; without one it must be `text`."""
        values = dict(re.findall(r"-e 's\|@(\w+)\[@\]\|(.*)\|g'", (TOP / "install.mk").read_text()))
        values["MAX_BODY"] = re.search(r"(?m)^INSTALLED_MAX_BODY = (.*)$", (TOP / "install.mk").read_text())[1]
        places = {"$(localstatedir)": f"{self.prefix}/var", "$(configdir)": f"{self.prefix}/etc/gatehouse",
                  "$(pkglibexecdir)": f"{self.prefix}/libexec/gatehouse",
                  "$(webdir)": f"{self.prefix}/share/gatehouse/web"}
        for word, value in values.items():
            for place, folder in places.items():
                value = value.replace(place, folder)
            values[word] = value
        lines = (TOP / self.kind / f"{name}.in").read_text().splitlines(keepends=True)

        def filled(base_path):
            words = {**values, "BASE_PATH": base_path}
            return "".join(line if re.match(r" *#([^\[]|$)", line)
                           else re.sub(r"@([A-Z_]+)@", lambda word: words[word[1]], line)
                           for line in lines)

        assert values["BASE_PATH"] == "$(BASE_PATH)" and filled("") == text
        return filled(self.base_path)

    def _switch_on(self, mark):
        """Runs the guide's command for it on the copies."""
        command = guide_line(rf"sed -i .*#\\\[{mark}\\\].*{re.escape(PLACES[self.kind])}.*")
        ours = {"nginx": str(self.file), "apache": f"{self.folder}/"}
        command = command.replace(PLACES[self.kind], ours[self.kind])
        assert "/etc/" not in command, command
        before = [file.read_text() for file in self.files]
        subprocess.run(["sh", "-ec", command], check=True, cwd=self.folder)
        after = [file.read_text() for file in self.files]
        left = [line for text in after for line in text.splitlines() if line.lstrip().startswith(f"#[{mark}]")]
        assert before != after and not left, f"{command} left these lines switched off: {left}"

    def _move(self):
        """Our own places for the usual ones."""
        moved = {"/run/gatehouse/": f"{self.folder}/run/", "*:80": f"127.0.0.1:{self.plain_port}",
                 "*:443": f"127.0.0.1:{self.tls_port}", f"{self.prefix}/var/lib/gatehouse/files": str(self.stack.blobs),
                 f"{self.prefix}/var/lib/gatehouse/bodies": f"{self.folder}/bodies",
                 f"{self.prefix}/etc/gatehouse/gatehouse.conf": self.stack.configuration,
                 "/etc/apache2/sites-available": str(self.folder),
                 "/var/log/nginx/": f"{self.folder}/log/", "${APACHE_LOG_DIR}/": f"{self.folder}/log/",
                 "/etc/ssl/certs/": f"{self.folder}/", "/etc/ssl/private/": f"{self.folder}/"}
        for file in self.files:
            text = file.read_text()
            for line in text.splitlines():
                assert re.match(r" *#( |$)", line) or not re.search("@[A-Z_]+@",
                                                                    line), f"{file.name}: {line} is not filled in"
            for old, new in moved.items():
                text = text.replace(old, new)
            file.write_text(text)

    def _certify(self):
        """A certificate of its own, where the site looks for one."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        f"/CN={NAME}", "-addext", f"subjectAltName=IP:127.0.0.1,DNS:{NAME}", "-keyout",
                        self.folder / "gatehouse.key", "-out", self.folder / "gatehouse.pem"], check=True,
                       capture_output=True)

    def places(self):
        """What the quick start's templates of main configurations are filled in with."""
        return {"run": self.folder / "run", "log": self.folder / "log", "temporary": self.folder / "tmp",
                "etc": self.folder, "site": self.file}

    def command(self):
        """Writes the main configuration; the command line that runs the server in the foreground."""
        webserver = quickstart("webserver")
        if self.kind == "nginx":
            user = "user root;\n" if os.geteuid() == 0 else ""
            main = webserver.NGINX.format(user=user, cores=2, **self.places())
            assert "access_log off;" in main
            main = main.replace("access_log off;", f"access_log {self.folder}/log/access.log;")
            (self.folder / "main.conf").write_text(main)
            return ["nginx", "-p", self.folder, "-e", self.folder / "log" / "nginx.log", "-c",
                    self.folder / "main.conf"]
        more = webserver.FCGID.format(sanitizers=" ".join(webserver.SANITIZER_OPTIONS), **self.places())
        more = more if self.stack.web_server == "apache-fcgid" else ""
        more += f"\n{DEBIAN_LOG}\nCustomLog {self.folder}/log/access.log combined\n"
        more += f"Listen 127.0.0.1:{self.tls_port}" if self.tls else ""
        main = webserver.APACHE.format(modules=self._modules(webserver.MODULES), listen=f"127.0.0.1:{self.plain_port}",
                                       more=more, **self.places())
        (self.folder / "main.conf").write_text(main)
        user = ["setpriv", *webserver.apache_user()] if webserver.apache_user() else []
        return [*user, "apache2", "-DFOREGROUND", "-d", self.folder, "-f", self.folder / "main.conf"]

    def _modules(self, place):
        """LoadModule lines: Debian's own choice, and what the guide has added for this site."""
        fcgid = self.stack.web_server == "apache-fcgid"
        added = guide_line(r"a2enmod .*\bfcgid\b.*" if fcgid else r"a2enmod .*\bproxy_fcgi\b.*").split()[1:]
        if self.tls:
            # mod_ssl brings the second one along.
            added += [*guide_line(r"a2enmod ssl").split()[1:], "socache_shmcb"]
        return "\n".join(f"LoadModule {name}_module {place}/mod_{name}.so" for name in (*DEBIAN_MODULES, *added))

    @contextlib.contextmanager
    def running(self):
        """The server, while it runs; what it says of itself is in the assertion if it does not start."""
        log = self.folder / "log" / "server.log"
        environment = {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin",
                       "TMPDIR": str(self.folder / "tmp")}
        with log.open("wb") as output, subprocess.Popen(self.command(), stdout=output, stderr=output, env=environment,
                                                        stdin=subprocess.DEVNULL, cwd=self.folder) as server:
            try:
                wait_until(lambda: server.poll() is not None or self._answers(), 60, "the installed site to answer")
                assert server.poll() is None, log.read_text() + self._errors()
                yield self
            finally:
                server.terminate()

    def _errors(self):
        return "".join(path.read_text(errors="replace")[-2000:] for path in (self.folder / "log").glob("*.log"))

    def _answers(self):
        try:
            return self.get("/system/health/live").status_code < 500
        except OSError:
            return False

    def get(self, path, base=None, **more):
        """A GET without an account, from this site or another base; redirects are not followed."""
        return ask("GET", (base or self.base) + path, self.verify, timeout=10, **more)

    @property
    def base(self):
        """The site's address."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{self.base_path}"

    @property
    def verify(self):
        """The file with its certificate, if it has one."""
        return str(self.folder / "gatehouse.pem") if self.tls else None

    def account(self, account):
        """The same account, asking through this site."""
        stack = copy.copy(self.stack)
        stack.base_url, stack.port = self.base, self.port
        other = copy.copy(account)
        other.api = Api(stack, account.api.document, verify=self.verify)
        return other


@contextlib.contextmanager
def workers(site, names, **settings):
    """Workers on the sockets of those names, with settings changed as system.worker() has it. None where Apache starts
    them."""
    if site.stack.web_server == "apache-fcgid":
        yield
        return
    with contextlib.ExitStack() as started:
        for name in names:
            one = started.enter_context(system.worker(site.stack, count=2, pool=name, **settings))
            (site.folder / "run" / f"{name}.sock").symlink_to(one.path)
        yield


def guide_line(pattern):
    """The one line of the guide's commands that is like the pattern."""
    found = re.findall(rf"(?m)^{pattern}$", GUIDE.read_text(encoding="utf-8"))
    assert len(found) == 1, f"{GUIDE.name} has {len(found)} lines like {pattern}"
    return found[0]


def quickstart(name):
    """A module of the quick start."""
    folder = str(TOP / "tools" / "lib" / "quickstart")
    sys.path.insert(0, folder)
    try:
        module = __import__(name)
    finally:
        sys.path.remove(folder)
    assert isinstance(module, types.ModuleType)
    return module
