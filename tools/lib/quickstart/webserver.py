# SPDX-License-Identifier: MIT
"""nginx and Apache: the main configuration that a machine's own would be, around the installed sample site."""

import os
import signal

import configuration
import options
from layout import write
from processes import SANITIZER_OPTIONS
from supervisor import Service

# With some room for a thousand clients, each of which may have a worker's connection beside its own.
NGINX = """\
# Written by tools/quickstart at every start.
daemon off;
{user}pid {run}/nginx.pid;
error_log {log}/nginx.log warn;
worker_processes {cores};
events {{
    worker_connections 4096;
}}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    client_body_temp_path {temporary}/nginx-body;
    fastcgi_temp_path {temporary}/nginx-fastcgi;
    proxy_temp_path {temporary}/nginx-proxy;
    scgi_temp_path {temporary}/nginx-scgi;
    uwsgi_temp_path {temporary}/nginx-uwsgi;
    include {site};
}}
"""

APACHE = """\
# Written by tools/quickstart at every start.
ServerRoot {etc}
DefaultRuntimeDir {run}
PidFile {run}/apache.pid
ErrorLog {log}/apache.log
LogLevel warn
ServerName localhost
Listen {listen}
ListenBacklog 1024
{modules}
TypesConfig /dev/null
ServerLimit 4
StartServers 4
ThreadLimit 320
ThreadsPerChild 320
MaxRequestWorkers 1280
MinSpareThreads 320
MaxSpareThreads 1280
GracefulShutdownTimeout 5
{more}
Include {site}
"""

FCGID = """\
FcgidIPCDir {run}/fcgid
FcgidProcessTableFile {run}/fcgid_shm
FcgidInitialEnv {sanitizers}"""

MODULES = "/usr/lib/apache2/modules"
COMMON_MODULES = ("mpm_event", "alias", "authz_core", "deflate", "dir", "env", "filter", "headers", "macro", "mime",
                  "reqtimeout", "rewrite", "setenvif", "unique_id", "xsendfile")
PROXY_MODULES = ("authnz_fcgi", "buffer", "proxy", "proxy_fcgi")
FCGID_MODULES = ("fcgid",)


def service(chosen, layout):
    """The web server, its files written."""
    return nginx(chosen, layout) if chosen.web_server == "nginx" else apache(chosen, layout)


def nginx(chosen, layout):
    site = configuration.write_site(chosen, layout, "nginx", "gatehouse.conf")
    main = layout.etc / "nginx" / "nginx.conf"
    user = "user root;\n" if os.geteuid() == 0 else ""
    write(main, NGINX.format(user=user, run=layout.run, log=layout.log, site=site, temporary=layout.temporary,
                             cores=options.cores()))
    return Service("nginx", layout.log / "nginx.log",
                   ["nginx", "-p", layout.state, "-e", layout.log / "nginx.log", "-c", main],
                   ending=((signal.SIGQUIT, 3), (signal.SIGTERM, 5)), batch=True)


def apache(chosen, layout):
    fcgid = chosen.web_server == "apache-fcgid"
    configuration.write_site(chosen, layout, "apache", "gatehouse-site.conf")
    site = configuration.write_site(chosen, layout, "apache",
                                    "gatehouse-fcgid.conf" if fcgid else "gatehouse-proxy-fcgi.conf")
    names = COMMON_MODULES + (FCGID_MODULES if fcgid else PROXY_MODULES)
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names)
    more = FCGID.format(run=layout.run, sanitizers=" ".join(SANITIZER_OPTIONS)) if fcgid else ""
    main = layout.etc / "apache" / "apache.conf"
    write(main, APACHE.format(etc=layout.etc, run=layout.run, log=layout.log, site=site, modules=modules, more=more,
                              listen=f"{configuration.HOST}:{chosen.port}"))
    return Service("apache", layout.log / "apache.log",
                   ["apache2", "-DFOREGROUND", "-d", layout.etc, "-f", main], prefix=apache_user(),
                   ending=((signal.SIGWINCH, 3), (signal.SIGTERM, 5)), batch=True)


def apache_user():
    """Apache will not serve as root: it gets its usual user, and root's right to reach the state folder."""
    if os.geteuid() != 0:
        return ()
    return ("--reuid", configuration.APACHE_USER, "--regid", configuration.APACHE_USER, "--clear-groups",
            "--inh-caps", "+dac_override", "--ambient-caps", "+dac_override")
