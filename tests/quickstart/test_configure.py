# SPDX-License-Identifier: MIT
"""configure says in a sentence which library is missing or too old, and what to install."""

import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]

# Knows all libraries as the machine does, but for the one of $FAKED, which is of the version $FAKED_VERSION or not
# there.
PKG_CONFIG = """#!/bin/sh
case " $* " in
*" --modversion $FAKED "*) [ -n "$FAKED_VERSION" ] && echo "$FAKED_VERSION"; exit ;;
*" $FAKED "* | *" $FAKED >="*) exit 1 ;;
*) exec pkg-config "$@" ;;
esac
"""

# Adds the lengths of a parameter as libfcgi before 2.4.5 did: the sum of the two that it is given is 0.
OVERFLOWING = """
#include <fcgiapp.h>
#include <stdlib.h>
int FCGX_Init(void) { return 0; }
int FCGX_InitRequest(FCGX_Request *request, int socket, int flags) { (void)request, (void)socket; return flags; }
int FCGX_Accept_r(FCGX_Request *request) { (void)request; free(malloc(0)); return -1; }
"""


def configure(folder, options=(), **environment):
    """Runs configure in a folder of its own."""
    assert (TOP / "configure").exists(), "the build has made configure"
    return subprocess.run([TOP / "configure", *options], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600, check=False,
                          env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), **environment})


def refusal(folder, options=(), **environment):
    """The sentence with which configure ends."""
    done = configure(folder, options, **environment)
    lines = [line for line in done.stderr.splitlines() if line.startswith("configure: error: ")]
    assert done.returncode != 0 and len(lines) == 1, done.stdout + done.stderr
    return lines[0]


def faked(folder, library, version):
    """configure with another version of a library."""
    program = folder / "pkg-config"
    program.write_text(PKG_CONFIG)
    program.chmod(0o755)
    return refusal(folder, PKG_CONFIG=str(program), FAKED=library, FAKED_VERSION=version)


@pytest.mark.parametrize("library, version, wanted, package", [
    ("libcurl", "7.74.0", "libcurl 7.87 or newer", "libcurl4-openssl-dev"),
    ("libcjson", "1.7.14", "libcjson 1.7.15 or newer", "libcjson-dev"),
])
def test_a_library_that_is_too_old_is_named_with_both_versions(tmp_path, library, version, wanted, package):
    sentence = faked(tmp_path, library, version)
    assert f"{library} {version} is too old" in sentence and wanted in sentence
    assert f"apt-get install {package}" in sentence


def test_a_library_that_is_missing_is_named_with_its_package(tmp_path):
    sentence = faked(tmp_path, "inih", "")
    assert "the library inih is missing" in sentence and "apt-get install libinih-dev" in sentence


def test_without_pkg_config_that_is_what_is_missing(tmp_path):
    assert "pkg-config is missing" in refusal(tmp_path, PKG_CONFIG="no")


def test_a_libfcgi_that_does_not_bound_the_lengths_of_parameters_is_refused(tmp_path):
    (tmp_path / "old.c").write_text(OVERFLOWING)
    subprocess.run(["gcc", "-c", "old.c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "cr", "libfcgi.a", "old.o"], cwd=tmp_path, check=True)
    sentence = refusal(tmp_path, FCGI_CFLAGS=" ", FCGI_LIBS=f"{tmp_path}/libfcgi.a")
    assert "CVE-2025-23016" in sentence and "2.4.5" in sentence and "2.4.2-2+deb12u1" in sentence


def test_the_libraries_of_this_machine_are_taken(tmp_path):
    done = configure(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "whether libfcgi bounds the lengths of parameters... yes" in done.stdout


@pytest.mark.parametrize("path", ["api", "/api/", "/", "/a|b", "https://example.org/api"])
def test_a_base_path_that_is_none_is_refused(tmp_path, path):
    assert "is no path such as /api" in refusal(tmp_path, options=[f"--with-base-path={path}"])


def test_the_sites_are_filled_in_with_the_base_path(tmp_path):
    assert configure(tmp_path, options=["--with-base-path=/api/v1"]).returncode == 0
    for site in ("nginx/gatehouse.conf", "apache/gatehouse-site.conf", "apache/gatehouse-proxy-fcgi.conf",
                 "apache/gatehouse-fcgid.conf"):
        subprocess.run(["make", "-s", site], cwd=tmp_path, check=True)
        lines = [line for line in (tmp_path / site).read_text().splitlines() if not line.lstrip().startswith("# ")]
        assert any("/api/v1/system/" in line for line in lines), site
