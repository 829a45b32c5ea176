# SPDX-License-Identifier: MIT
"""gatehousectl check names each database node and each address of the store, and which of them is missing."""

import contextlib


def test_check_names_each_node_and_each_address_that_is_missing(cluster):
    said = cluster.check()
    places = [f"{node['host']}:{node['port']}" for node in cluster.facts()["databases"]]
    for place in places:
        assert any(place in line and "Synced" in line for line in said.splitlines()), said
    store = cluster.facts()["store"]["endpoints"][1]
    cluster.hold("db3", "store2")
    cluster.kill("db3", "store2")
    said = cluster.check()
    assert f"The database host {places[2]} cannot be used" in said, said
    assert any(store in line for line in said.splitlines()), said


def test_check_warns_of_a_node_that_would_wait_long_for_a_lock(cluster):
    node = cluster.facts()["databases"][1]
    said = "Its innodb_lock_wait_timeout is 50"
    assert said not in cluster.check()
    try:
        cluster.databases[1].run("SET GLOBAL innodb_lock_wait_timeout = 50")
        lines = cluster.check().splitlines()
    finally:
        cluster.databases[1].run("SET GLOBAL innodb_lock_wait_timeout = 1")
    told = [line for line in lines if said in line]
    assert len(told) == 1 and f"{node['host']}:{node['port']}" in told[0], lines


def test_check_names_a_node_that_refuses_statements(cluster):
    """By order of its operator, as before it ends; it calls itself ready and synced all the same."""
    node = cluster.facts()["databases"][1]
    with contextlib.closing(cluster.databases[1].fresh()) as connection, connection.cursor() as cursor:
        cursor.execute("SET GLOBAL wsrep_reject_queries = 'ALL'")
        try:
            said = cluster.check()
        finally:
            cursor.execute("SET GLOBAL wsrep_reject_queries = 'NONE'")
    assert f"{node['host']}:{node['port']} is not ready: Synced, refuses statements." in said, said
    assert "has set wsrep_reject_queries" in said, said
    assert "refuses statements" not in cluster.check()
