# SPDX-License-Identifier: MIT
"""The sites that `make install` fills in work in every way that docs/installing.md tells to switch on."""

import pytest

from support import files, samples
from support.installed import Site, workers

POOLS = {"as it stands": ("worker", "login"), "file": ("worker", "login"), "unbuffered": ("worker", "login", "upload")}


@pytest.fixture()
def folder(tmp_path_factory):
    """A folder that a web server under another name can enter."""
    made = tmp_path_factory.mktemp("site")
    made.chmod(0o755)
    return made


def site_for(stack, folder, way):
    if way != "as it stands" and not stack.nginx:
        pytest.skip("only nginx has other ways for uploads")
    return Site(stack, folder, () if way == "as it stands" else (way,))


def settings(site, way):
    return {"files_body_directory": site.folder / "bodies" if way == "file" else ""}


@pytest.mark.parametrize("way", list(POOLS))
def test_the_installed_site_takes_uploads_and_sends_them_back(stack, keeper, folder, way):
    site = site_for(stack, folder, way)
    with workers(site, POOLS[way], **settings(site, way)), site.running():
        account = site.account(keeper)
        for size in (1_000, 3_000_000):
            data = samples.noise(size)
            record = files.upload(account, data, f"installed-{way}-{size}.bin".replace(" ", "-"))
            assert record["info"]["hash"] == files.sha256(data) and record["info"]["size"] == size
            assert files.download(account, record["id"], status=200).content == data
        assert not list((folder / "bodies").iterdir())


def test_bodies_are_handed_over_as_files_where_that_is_switched_on(stack, keeper, folder):
    """Workers that are not told of the folder refuse what nginx names."""
    site = site_for(stack, folder, "file")
    with workers(site, POOLS["file"], files_body_directory=""), site.running():
        files.send(site.account(keeper), files.form(samples.noise(1000), "named.bin"), status=500, code="storage.unavailable")


def test_unbuffered_uploads_have_workers_of_their_own(stack, keeper, folder):
    """Without that pool there is nobody for uploads, and everything else goes on."""
    site = site_for(stack, folder, "unbuffered")
    with workers(site, ("worker", "login")), site.running():
        account = site.account(keeper)
        files.send(account, files.form(samples.noise(1000), "nobody.bin"), status=502, code="service.unavailable", edge=True)
        assert account.get("/customers/me", status=200).json()["user"]["id"] == keeper.id
