# SPDX-License-Identifier: MIT
"""Resumable uploads with clients as their registries have them, that die while their host dies: a new one goes on
through another host."""

import os

import pytest
from support import files, samples
from support.database import key
from support.stack import wait_until
from uploads import support_tus as tus
from uploads.support_tus_programs import BROWSERS, CLIENTS, Clients

SIZE = 3_000_000
CHUNK = 256 * 1024
# In a quick run the client of browsers, as a program.
CHOSEN = CLIENTS if os.environ.get("GATEHOUSE_TEST_FULL") else CLIENTS[:1]


@pytest.fixture()
def clients(stack, customer, tmp_path):
    if "GATEHOUSE_TUS_CLIENTS" not in os.environ:
        pytest.skip("GATEHOUSE_TUS_CLIENTS does not name the clients (tools/lib/emulators/fetch tus-clients)")
    with Clients(stack, customer.token, tmp_path) as begun:
        yield begun


def only(cluster, host):
    """HAProxy has no other host."""
    for name in cluster.servers():
        if name != host:
            cluster.take_out(name)


def others(cluster, host):
    """All but this host, which dies and stays dead."""
    cluster.hold(*cluster.of_host(host))
    cluster.kill(*cluster.of_host(host))
    for name in cluster.servers():
        if name != host:
            cluster.bring_back(name)


@pytest.mark.parametrize("client", CHOSEN)
def test_a_client_that_has_died_with_its_host_goes_on_through_another(cluster, database, customer, clients, client):
    """Programs and browsers meet kill -9, and so does the host. Its writer had ended before."""
    data = [samples.noise(SIZE)]
    only(cluster, "h1")
    first = clients.begin(client, data, chunkSize=CHUNK, stopAt=2 * CHUNK,
                          then="wait" if client in BROWSERS else "hang")
    url = first.next("url")["url"]
    if client in BROWSERS:
        wait_until(lambda: first.kept(url), 60, "the browser to keep what the page knows")
    first.kill()
    identity = url.rsplit("/", 1)[1]
    wait_until(lambda: not database.run("SELECT holder FROM file_upload WHERE id = %s", key(identity))[0][0], 60,
               "the last writer to end")
    others(cluster, "h1")
    at = int(tus.head(customer, f"/system/uploads/{identity}")["Upload-Offset"])
    assert 2 * CHUNK <= at < SIZE
    done = clients.begin(client, data, chunkSize=CHUNK, resume=True).next("id")
    assert done["url"] == url and done["first"] >= at, "what was acknowledged is not sent again"
    assert files.info(customer, done["id"])["hash"] == files.sha256(data[0])
    assert [record["id"] for record in files.listed(customer)] == [done["id"]]
