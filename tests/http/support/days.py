# SPDX-License-Identifier: MIT
"""Days, which are those of UTC."""

import pytest

from support.stack import wait_until

# A test of one day begins no later than this before the next one.
END_OF_DAY_SECONDS = 120


@pytest.fixture()
def one_day(database):
    """The day, by the database's clock, does not end meanwhile."""
    wait_until(
        lambda: database.run("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), UTC_DATE() + INTERVAL 1 DAY) > %s",
                             END_OF_DAY_SECONDS)[0][0], 2 * END_OF_DAY_SECONDS, "the next day", 1)
