# SPDX-License-Identifier: MIT
"""Small file systems on loop devices, and pulling their plug."""

import fcntl
import os
import pathlib
import shutil
import subprocess

# _IOR('X', 125, __u32): EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are one number; 2 stands for "without flushing the
# log".
SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = (2).to_bytes(4, "little")
MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
SMALLEST_MIB = {"ext4": 64, "xfs": 300}


def run(*arguments):
    """Runs a program that must succeed."""
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, arguments))}: {done.stderr.strip()}"


def missing(kind):
    """Why there can be no such file system here, None when there can."""
    if os.geteuid() != 0:
        return "mounting takes root"
    if shutil.which(MAKE[kind][0], path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin") is None:
        return f"{MAKE[kind][0]} is not installed"
    return None


class Disk:
    """A file system in an image file; open() raises OSError or fails an assertion where the machine has none."""

    def __init__(self, folder, kind, mib=None, options=()):
        self.kind = kind
        self.image = pathlib.Path(folder) / f"{kind}.img"
        self.mount_point = pathlib.Path(folder) / f"{kind}-disk"
        self.mount_point.mkdir()
        with open(self.image, "wb") as file:
            file.truncate((mib or SMALLEST_MIB[kind]) << 20)
        run(*MAKE[kind], *options, self.image)
        self.mounted = False

    def mount(self):
        """Mounts it, which recovers its journal."""
        run("mount", "-o", "loop", self.image, self.mount_point)
        self.mounted = True

    def unmount(self):
        """Takes it away again; nobody may use it any more."""
        run("umount", self.mount_point)
        self.mounted = False

    def pull_the_plug(self):
        """From now on nothing reaches the disk: what is in memory only, the journal's included, is lost."""
        fd = os.open(self.mount_point, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(fd, SHUTDOWN, NO_LOG_FLUSH)
        finally:
            os.close(fd)

    def files(self):
        """The folder for blobs on it, which outlives a power cut itself."""
        folder = self.mount_point / "files"
        folder.mkdir(mode=0o750, exist_ok=True)
        self.unmount()
        self.mount()
        return folder

    def close(self):
        """Unmounts it if need be."""
        if self.mounted:
            run("umount", "-l", self.mount_point)
            self.mounted = False
        self.image.unlink(missing_ok=True)
