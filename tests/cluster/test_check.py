# SPDX-License-Identifier: MIT
"""gatehousectl check names each database node and each address of the store, and which of them is missing."""


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
