# SPDX-License-Identifier: MIT
"""The web server and the workers' socket: framing of requests, HTTP/2, FastCGI, installed sites, pages."""
