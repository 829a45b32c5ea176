# SPDX-License-Identifier: MIT
"""A web server for the tests, which misbehaves as the path says. Prints its port, then serves each client in a thread.

Every request's first line is noted in DIRECTORY/log; /echo answers with the whole request. With --certificate it speaks
TLS."""

import argparse
import os
import socket
import ssl
import struct
import threading
import time

LOCK = threading.Lock()


def read_request(connection):
    """The bytes of one request; b"" when the client is gone."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
        if name.lower() == b"expect":
            connection.sendall(b"HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n")
    while len(body) < length:
        more = connection.recv(65536)
        if not more:
            return b""
        body += more
    return head + b"\r\n\r\n" + body


def answer(status, body, headers=b""):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), headers, body)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def answer_second(connection, request, mark):
    """The first one is read and gets no answer."""
    if os.path.exists(mark):
        connection.sendall(answer(b"200 OK", request))
        return True
    with open(mark, "w", encoding="utf-8"):
        return False


FIXED = {
    "/redirect": answer(b"302 Found", b"", b"Location: /echo\r\n"),
    "/long": answer(b"200 OK", b"x" * 5000),
    "/headers": answer(b"200 OK", b"", b"X-Long: %s\r\nX-Empty:\r\nX-Blank: \t \r\n" % (b"x" * 5000) +
                       b"".join(b"X-%d:\tvalue %d \t\r\n" % (i, i) for i in range(40))),
}


def behave(connection, path, request, directory):
    """Answers one request; False when the connection is over."""
    if path in ("/echo", "/"):
        connection.sendall(answer(b"200 OK", request, b"X-Kind:  two words \r\n"))
    elif path in FIXED:
        connection.sendall(FIXED[path])
    elif path.startswith("/status/"):
        connection.sendall(answer(path[8:].encode() + b" Said", b"<html>no</html>"))
    elif path == "/close-once":
        return answer_second(connection, request, os.path.join(directory, "closed"))
    elif path == "/stall":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        time.sleep(30)
        return False
    elif path == "/half":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        return False
    elif path == "/drip":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)
    elif path == "/silent":
        time.sleep(60)
    elif path == "/reset":
        reset(connection)
        return False
    elif path == "/nonsense":
        connection.sendall(b"this is no HTTP\r\n\r\n")
        return False
    elif path == "/leave":
        connection.sendall(answer(b"200 OK", b"{}"))
        return False
    else:
        connection.sendall(answer(b"404 Not Found", b""))
    return True


def serve(connection, options, context):
    try:
        if context is not None:
            connection = context.wrap_socket(connection, server_side=True)
        going = True
        while going:
            request = read_request(connection)
            if not request:
                break
            line = request.split(b"\r\n", 1)[0].decode()
            with LOCK, open(os.path.join(options.directory, "log"), "a", encoding="utf-8") as log:
                log.write(line + "\n")
            going = behave(connection, line.split()[1], request, options.directory)
    except OSError:
        pass
    finally:
        connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--certificate")
    options = parser.parse_args()
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate + "-cert.pem", options.certificate + "-key.pem")
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        print(server.getsockname()[1], flush=True)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, options, context), daemon=True).start()


main()
