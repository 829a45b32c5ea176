# SPDX-License-Identifier: MIT
"""tuspy as a program uses it: what to do is one JSON text, what happened is one JSON text a line."""

import asyncio
import concurrent.futures
import hashlib
import json
import sys
import threading

from tusclient.client import TusClient
from tusclient.storage.filestorage import FileStorage
from tusclient.uploader import AsyncUploader, Uploader

ORDER = json.loads(sys.argv[1])


def tell(**what):
    print(json.dumps(what), flush=True)


def prepare(kind, number, **more):
    """An uploader; with checksums those of the service, since tuspy's own ones are SHA-1."""
    setattr(kind, "CHECKSUM_ALGORITHM_PAIR", ("sha256", hashlib.sha256))
    client = TusClient(ORDER["endpoint"], headers={"Authorization": f"Bearer {ORDER['token']}"})
    return kind(ORDER["paths"][number], client=client, chunk_size=ORDER.get("chunkSize") or sys.maxsize, retries=3,
                retry_delay=1, upload_checksum=ORDER.get("checksum", False),
                metadata={"bucket": "files", "type": "misc", "filename": ORDER["names"][number]}, **more)


def stored():
    """Addresses of uploads outlive the program."""
    return {"store_url": True, "url_storage": FileStorage(ORDER["storage"])}


def tell_end(uploader, first):
    tell(url=uploader.url, first=first, id=uploader.request.response_headers.get("upload-file-id"))


def whole(number):
    uploader = prepare(Uploader, number)
    uploader.upload()
    tell_end(uploader, None)


async def whole_with_coroutines():
    uploaders = [prepare(AsyncUploader, number) for number in range(len(ORDER["paths"]))]
    await asyncio.gather(*(uploader.upload() for uploader in uploaders))
    for uploader in uploaders:
        tell_end(uploader, None)


def main():
    if ORDER.get("coroutines"):
        asyncio.run(whole_with_coroutines())
    elif len(ORDER["paths"]) > 1:
        with concurrent.futures.ThreadPoolExecutor(len(ORDER["paths"])) as pool:
            list(pool.map(whole, range(len(ORDER["paths"]))))
    elif ORDER.get("resume"):
        uploader = prepare(Uploader, 0, **stored())
        first = uploader.offset
        uploader.upload()
        tell_end(uploader, first)
    elif ORDER.get("stopAt") is None:
        whole(0)
    else:
        uploader = prepare(Uploader, 0, **stored())
        uploader.upload(stop_at=ORDER["stopAt"])
        if ORDER["then"] == "hang":
            tell(hanging=uploader.offset, url=uploader.url)
            threading.Event().wait()
        tell(aborted=uploader.offset, url=uploader.url)
        again = prepare(Uploader, 0, url=uploader.url)
        first = again.offset
        again.upload()
        tell_end(again, first)


main()
