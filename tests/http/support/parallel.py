# SPDX-License-Identifier: MIT
"""Many requests at the same time, and what became of them."""

import collections
import concurrent.futures


def run(work, items, threads=40):
    """[work(item) for each item], with that many threads."""
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


def count(replies):
    """How many replies have each status."""
    return dict(collections.Counter(reply.status_code for reply in replies))
