# SPDX-License-Identifier: MIT
"""HAProxy in front of the hosts of a cluster.

A host gets requests while its /system/health/ready answers 200. When no host is ready (the database is away), those
that live at all get them, so that clients hear from the service itself what is missing; when none lives, HAProxy
answers in the service's form. A request is sent to a second host if the first has not had it, or if it only reads:
also where nginx answers 502, since its workers have died before it.

A host is taken out before it is stopped: `set server hosts/h3 state drain` on the socket, and `ready` afterwards.
"""

import json
import signal

import configuration
from layout import write
from supervisor import Service

REQUEST_ID = "^[A-Za-z0-9._-]{8,128}$"
# Status, code and message of what HAProxy answers itself, as the web servers' own configurations have them.
ERRORS = (
    (400, "request.malformed", "The request could not be read. Correct its syntax and send it again.", None),
    (408, "request.malformed", "The request could not be read. Correct its syntax and send it again.", None),
    (500, "internal", "Something went wrong on our side. Try again; if it stays, report the request id.", 5),
    (502, "service.unavailable", "The service cannot be reached at the moment. Try again shortly.", 5),
    (503, "service.unavailable", "The service cannot be reached at the moment. Try again shortly.", 5),
    (504, "service.timeout", "The service did not answer in time. Try again shortly.", 5),
)
HEADERS = (("X-Request-Id", "%ID"), ("X-Api-Version", "1.0.0"), ("Cache-Control", "no-store"),
           ("X-Content-Type-Options", "nosniff"))

CONFIGURATION = """\
# Written by tools/quickstart at every start.
global
    maxconn 4096
    stats socket {socket} mode 600 level admin
defaults
    mode http
    timeout connect 1s
    timeout client 60s
    timeout http-request 15s
    timeout http-keep-alive 30s
    timeout server 310s
    timeout check 3s
    retries 3
    option redispatch 1
    retry-on conn-failure empty-response 502
    option http-server-close
    source {source}
{errors}
frontend front
    bind {listen}
    # What a client says of itself is not believed.
    http-request del-header X-Forwarded-For
    option forwardfor
    # The client's id of the request is kept when it is fit to be written into logs and replies.
    unique-id-format %[var(txn.id)]
    http-request set-var(txn.id) req.hdr(X-Request-Id) if {{ req.hdr(X-Request-Id) -m reg {request_id} }}
    http-request set-var(txn.id) uuid() unless {{ var(txn.id) -m found }}
    http-request set-header X-Request-Id %[var(txn.id)]
    # What writes may have been done already: it is not repeated once it has been sent.
    http-request disable-l7-retry unless METH_GET || {{ method HEAD }}
    use_backend alive if {{ nbsrv(hosts) eq 0 }}
    default_backend hosts
backend hosts
    balance leastconn
    option httpchk GET /system/health/ready
    http-check expect status 200
    default-server inter 1s fastinter 300ms fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down
{hosts}
backend alive
    balance leastconn
    option httpchk GET /system/health/live
    http-check expect status 200
    default-server inter 1s fastinter 300ms fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down
{hosts}
"""


def errors():
    """The answers of HAProxy's own, in the service's form and with the request's id."""
    lines = []
    for status, code, message, retry in ERRORS:
        body = json.dumps({"status": "error", "message": message, "stack": "", "code": code,
                           "body": {"requestId": "%ID"}, "validation": []}, separators=(",", ":"))
        headers = HEADERS + ((("Retry-After", str(retry)),) if retry else ())
        words = " ".join(f'hdr {name} "{value}"' for name, value in headers)
        lines.append(f"    http-error status {status} content-type \"application/json; charset=utf-8\" "
                     f"lf-string '{body}' {words}")
    return "\n".join(lines)


def service(chosen, layout, hosts):
    """HAProxy, its file written. `hosts`: name and address of each."""
    servers = "\n".join(f"    server {name} {listen} check" for name, listen in hosts)
    main = layout.etc / "haproxy.cfg"
    words = {"socket": socket(layout), "source": configuration.FRONT, "errors": errors(), "request_id": REQUEST_ID,
             "listen": f"{configuration.HOST}:{chosen.port}", "hosts": servers}
    write(main, CONFIGURATION.format(**words))
    # USR1: no new connections, and an end when the last request is answered.
    return Service("haproxy", layout.log / "haproxy.log", ["haproxy", "-db", "-f", main],
                   ending=((signal.SIGUSR1, 5), (signal.SIGTERM, 5)))


def socket(layout):
    """Where HAProxy takes commands."""
    return layout.run / "haproxy.sock"
