# SPDX-License-Identifier: MIT
"""A small real Ceph cluster as the S3 store, from Debian's own packages: a monitor, a manager, three object storage
daemons (OSDs), and gateways that speak S3. Each byte lies in all three OSDs; two of them are enough to go on.

All daemons listen on the loopback address. They run as the caller and keep what they have in the state folder. The
monitor is the first to start and the last to end, and the gateways are the other way round: a gateway whose OSDs are
gone does not end.
"""

import hashlib
import json
import re
import shutil
import signal
import uuid

import ports
from layout import write
from output import say, tail
from problem import Problem
from providers.base import HOST, status_of
from store import ACCESS_KEY, BUCKET, REGION, Bucket
from supervisor import Service

OSDS = 3
GATEWAYS = 2
# A sparse file: what is not written takes no room.
OSD_BYTES = 8 << 30
UP_SECONDS = 180
COMMAND_SECONDS = 120
# The SHA-256 of an empty body.
NOTHING = hashlib.sha256().hexdigest()
TIMEOUT = ("--connect-timeout", "30")

# What a single machine needs: an OSD that says nothing for 6 s is taken for dead, one other OSD's word is enough for
# that, and the copies lie in different OSDs, not on different machines. The rest keeps memory and waits small.
CONFIGURATION = """[global]
fsid = {fsid}
mon_host = [v2:{host}:{v2},v1:{host}:{v1}]
mon_initial_members = a
public_addr = {host}
cluster_addr = {host}
ms_bind_ipv6 = false
keyring = {folder}/keyring
run_dir = {run}
admin_socket = {run}/$name.asok
log_file = {log}/ceph-$name.log
log_to_stderr = false
err_to_stderr = true
mon_cluster_log_file = {log}/ceph-cluster.log
crash_dir = {folder}/crash
auth_allow_insecure_global_id_reclaim = false
osd_heartbeat_interval = 2
osd_heartbeat_grace = 6
mon_osd_adjust_heartbeat_grace = false
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 3
osd_pool_default_min_size = 2
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_pool_default_pg_autoscale_mode = off
rgw_rados_pool_pg_num_min = 8
[mon]
mon_data = {folder}/mon.$id
mon_data_avail_warn = 2
mon_data_avail_crit = 1
mon_osd_reporter_subtree_level = osd
mon_memory_target = 256M
mon_osd_cache_size_min = 32M
[mgr]
mgr_data = {folder}/mgr.$id
mgr_initial_modules =
[osd]
osd_data = {folder}/osd.$id
osd_objectstore = bluestore
bluestore_block_size = {osd_bytes}
bluestore_block_db_create = false
bluestore_block_wal_create = false
bluestore_cache_autotune = false
bluestore_cache_size = 64M
osd_memory_target = 896M
osd_op_num_shards = 2
osd_op_num_threads_per_shard = 2
osd_mclock_skip_benchmark = true
osd_recovery_sleep_hdd = 0
osd_max_pg_log_entries = 500
osd_min_pg_log_entries = 100
[client]
rgw_thread_pool_size = 32
rgw_cache_lru_size = 1000
rgw_enable_usage_log = false
"""

RIGHTS = {
    "mon.": {"mon": "allow *"},
    "client.admin": {"mon": "allow *", "osd": "allow *", "mgr": "allow *"},
    "mgr.a": {"mon": "allow profile mgr", "osd": "allow *"},
    **{f"osd.{number}": {"mon": "allow profile osd", "mgr": "allow profile osd", "osd": "allow *"}
       for number in range(OSDS)},
    "client.gateways": {"mon": "allow rw", "osd": "allow rwx", "mgr": "allow rw"},
}


class Ceph(Bucket):
    """The cluster of a state folder."""

    def __init__(self, _, layout, processes):
        self.layout = layout
        self.processes = processes
        self.data = layout.providers / "ceph"
        self.configuration = self.data / "ceph.conf"
        self.log = layout.log / "ceph.log"
        self.environment = processes.environment | {"CEPH_CONF": str(self.configuration), "CEPH_ARGS": "",
                                                    "PYTHONDONTWRITEBYTECODE": "1"}
        self.monitor = None
        self.complete = self.data / "complete"

    def fetch(self):
        """The programs are Debian's packages (tools/lib/packages.txt)."""

    # ---- bringing it up

    def start(self, supervisor):
        """Up from nothing, or again with what it had."""
        fresh = not self.complete.exists()
        say("Creating the Ceph cluster" if fresh else "Starting the Ceph cluster again")
        if fresh:
            shutil.rmtree(self.data, ignore_errors=True)
        for folder in ("mon.a", "mgr.a", "crash"):
            (self.data / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.take_places()
        write(self.configuration, self.written(fresh))
        if fresh:
            self.create_monitor()
        monitor = self.add(supervisor, "ceph-mon", "ceph-mon", "-i", "a")
        supervisor.await_answer(monitor, lambda: self.ask("mon", "stat") is not None, UP_SECONDS,
                                "The monitor of Ceph does not answer")
        self.add(supervisor, "ceph-mgr", "ceph-mgr", "-i", "a")
        if fresh:
            self.create_osds()
        for number in range(OSDS):
            last = self.add(supervisor, f"ceph-osd{number}", "ceph-osd", "-i", str(number))
        supervisor.await_answer(last, self.osds_are_up, UP_SECONDS, "The OSDs of Ceph are not up")
        self.start_gateways(supervisor)
        if fresh:
            self.create_bucket()
        supervisor.await_answer(last, self.is_clean, UP_SECONDS, "The copies in Ceph are not complete")
        self.complete.touch()

    def take_places(self):
        """The ports of the first start, as far as they are free. That of the monitor is part of its data."""
        path = self.data / "ports.json"
        kept = json.loads(path.read_text(encoding="ascii")) if path.exists() else {}
        self.monitor = ports.take_ports(kept.get("monitor", {}), HOST, ("v1", "v2"))
        if kept and self.monitor != kept["monitor"]:
            raise Problem(f"A port of Ceph's monitor ({kept['monitor']}) is taken by another program. End it, or "
                          "choose another folder with --state.")
        gateways = ports.take_ports(kept.get("gateways", {}), HOST,
                                    [f"store{at}" for at in range(1, GATEWAYS + 1)])
        self.places = self.places or {name: (HOST, port) for name, port in gateways.items()}
        write(path, json.dumps({"monitor": self.monitor, "gateways": gateways}))

    def written(self, fresh):
        """ceph.conf. The cluster's own number stays."""
        number = uuid.uuid4() if fresh else re.search(r"fsid = (.*)", self.configuration.read_text("ascii"))[1]
        return CONFIGURATION.format(fsid=number, host=HOST, folder=self.data, run=self.layout.run, log=self.layout.log,
                                    osd_bytes=OSD_BYTES, **self.monitor)

    def create_monitor(self):
        """The keys of all, and the monitor's own data."""
        keyring = self.data / "keyring"
        for name, rights in RIGHTS.items():
            caps = [word for kind, text in rights.items() for word in ("--cap", kind, text)]
            self.run("ceph-authtool", *([] if keyring.exists() else ["--create-keyring"]), keyring, "--gen-key", "-n",
                     name, *caps)
        keyring.chmod(0o600)
        number = re.search(r"fsid = (.*)", self.configuration.read_text(encoding="ascii"))[1]
        where = f"[v2:{HOST}:{self.monitor['v2']},v1:{HOST}:{self.monitor['v1']}]"
        self.run("monmaptool", "--create", "--clobber", "--fsid", number, "--addv", "a", where, self.data / "monmap")
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", self.data / "monmap", "--keyring", keyring)

    def create_osds(self):
        """Their numbers, then their data, side by side."""
        numbers = {number: str(uuid.uuid4()) for number in range(OSDS)}
        children = []
        for number, name in numbers.items():
            self.run("ceph", *TIMEOUT, "osd", "new", name, str(number))
            (self.data / f"osd.{number}").mkdir(mode=0o700, exist_ok=True)
            command = ["ceph-osd", "-i", number, "--mkfs", "--osd-uuid", name]
            children.append((self.processes.start(command, self.log, environment=self.environment), number))
        for pid, number in children:
            if self.processes.wait(pid, "ceph-osd --mkfs", self.log, COMMAND_SECONDS) != 0:
                raise Problem(f"The data of OSD {number} could not be made; the end of {self.log}:\n{tail(self.log)}")

    def start_gateways(self, supervisor):
        """The first one makes the pools, in which the others find each other."""
        for name, (address, port) in self.places.items():
            gateway = self.add(supervisor, name, "radosgw", "-n", "client.gateways", "--rgw-frontends",
                               f"beast endpoint={address}:{port}")
            supervisor.await_answer(gateway, lambda at=(address, port): status_of("/", *at) == 200, UP_SECONDS,
                                    f"The gateway {name} of Ceph does not answer")

    def create_bucket(self):
        """The account, and its bucket. curl signs the request; its options come from a file, since others see those of
        a command line."""
        secret = self.layout.secret("s3-secret-key")
        self.run("radosgw-admin", "user", "create", "--uid", ACCESS_KEY, "--display-name", ACCESS_KEY, "--access-key",
                 ACCESS_KEY, "--secret-key", secret)
        options = self.layout.temporary / "bucket.curl"
        write(options, f'user = "{ACCESS_KEY}:{secret}"\naws-sigv4 = "aws:amz:{REGION}:s3"\nrequest = "PUT"\n'
                       f'header = "x-amz-content-sha256: {NOTHING}"\n'
                       f'url = "{self.urls[0]}/{BUCKET}"\nfail\nsilent\nshow-error\n')
        self.run("curl", "--disable", "--config", options)
        options.unlink()

    # ---- daemons and commands

    def add(self, supervisor, service, program, *arguments):
        """Starts a daemon, to be kept running."""
        one = Service(service, self.layout.log / f"{service}.log", [program, *arguments, "-f"],
                      environment=self.environment, ending=((signal.SIGTERM, 15),))
        supervisor.add(one)
        return one

    def run(self, *command):
        """A command that must go well."""
        if self.processes.run(command, self.log, environment=self.environment, limit=COMMAND_SECONDS) != 0:
            raise Problem(f"{command[0]} failed; the end of {self.log}:\n{tail(self.log)}")

    def ask(self, *words):
        """What the cluster answers to a question, None: nothing."""
        out = self.layout.temporary / "ceph.json"
        out.unlink(missing_ok=True)
        command = ["ceph", *TIMEOUT, "-f", "json", "-o", out, *words]
        done = self.processes.run(command, self.log, environment=self.environment, limit=COMMAND_SECONDS)
        return json.loads(out.read_text(encoding="utf-8") or "null") if done == 0 and out.exists() else None

    def osds_are_up(self):
        return (self.ask("osd", "stat") or {}).get("num_up_osds") == OSDS

    def is_clean(self):
        """Whether all OSDs are up and hold all copies."""
        state = self.ask("status")
        if not state or state["osdmap"].get("num_up_osds") != OSDS:
            return False
        groups = state["pgmap"]
        clean = sum(one["count"] for one in groups["pgs_by_state"] if one["state_name"] == "active+clean")
        return clean == groups["num_pgs"] > 0

    # ---- what others know of it

    def facts(self):
        """What quickstart.json says of it: the bytes lie in no folder."""
        known = super().facts()
        return {"blobDirectory": None, "store": known["store"] | {"cephConfiguration": str(self.configuration)}}
