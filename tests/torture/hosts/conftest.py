# SPDX-License-Identifier: MIT
"""The host of the commands, which the tests of a file share."""

import pytest

from support_command_site import command_site


@pytest.fixture(scope="module")
def site(stack, tmp_path_factory):
    with command_site(stack, tmp_path_factory) as found:
        yield found
