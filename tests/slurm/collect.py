"""Runs examples/slurm/collect_fleet and verify_mirror on a real Slurm of three nodes on this machine.

    collect.py REPOSITORY ARCH_PROBE FAKE_DRIVER ARCHGUARD FIXTURE
    collect.py REPOSITORY ARCH_PROBE FAKE_DRIVER ARCHGUARD --mirror FOLDER FLEET RESULTS [OPTION...]    this mirror alone, with figures

Each node is a slurmd of its own with a fake driver: one with a partitioned GPU (MIG) beside a whole one, one with two
kinds of GPU, one whose driver fails. Everything lives in a temporary folder: configuration, keys, sockets, spools; no
file of an installed Slurm is read or written. Exit 77 where Slurm is not installed.
"""
import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile

REPOSITORY, PROBE, FAKE, ARCHGUARD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
NODES = {
    "n1": ("a100:1,gpu:l40s:1", 2, """driver 580.95.05
cuda 13000
device cc=8.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:01:00.0 mig=1 name=NVIDIA A100-SXM4-40GB
device cc=8.9 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000002 pci=0000:41:00.0 name=NVIDIA L40S
"""),
    "n2": ("h100:1,gpu:t4:1", 2, """driver 550.54.15
cuda 12040
device cc=9.0 uuid=GPU-bbbbbbbb-0000-0000-0000-000000000001 pci=0000:01:00.0 name=NVIDIA H100
device cc=7.5 uuid=GPU-bbbbbbbb-0000-0000-0000-000000000002 pci=0000:41:00.0 name=Tesla T4
"""),
    "n3": ("v100:1", 1, """driver 580.95.05
cuda 13000
device cc=7.0 uuid=GPU-cccccccc-0000-0000-0000-000000000001 pci=0000:01:00.0 name=Tesla V100
fail cuInit 802
"""),
}
GOOD = """name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host, mig.mode.current
NVIDIA A100-SXM4-40GB, 8.0, 580.95.05, 13.0, GPU-aaaaaaaa-0000-0000-0000-000000000001, 00000000:01:00.0, 1, n1, Enabled
NVIDIA L40S, 8.9, 580.95.05, 13.0, GPU-aaaaaaaa-0000-0000-0000-000000000002, 00000000:41:00.0, 1, n1, Disabled
name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host
NVIDIA H100, 9.0, 550.54.15, 12.4, GPU-bbbbbbbb-0000-0000-0000-000000000001, 00000000:01:00.0, 1, n2
Tesla T4, 7.5, 550.54.15, 12.4, GPU-bbbbbbbb-0000-0000-0000-000000000002, 00000000:41:00.0, 1, n2
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def configuration(folder):
    control, *ports = free_ports(1 + len(NODES))
    host, user = socket.gethostname(), getpass.getuser()
    lines = ["ClusterName=archguard", "SlurmctldHost=%s(127.0.0.1)" % host, "SlurmUser=%s" % user, "SlurmdUser=%s" % user,
             "SlurmctldPort=%d" % control, "AuthType=auth/munge", "AuthInfo=socket=%s/munge.socket" % folder,
             "CryptoType=crypto/munge", "StateSaveLocation=%s/state" % folder, "SlurmdSpoolDir=%s/spool-%%n" % folder,
             "SlurmctldPidFile=%s/slurmctld.pid" % folder, "SlurmdPidFile=%s/slurmd-%%n.pid" % folder,
             "SlurmctldLogFile=%s/slurmctld.log" % folder, "SlurmdLogFile=%s/slurmd-%%n.log" % folder,
             "ProctrackType=proctrack/pgid", "TaskPlugin=task/none", "SwitchType=switch/none", "MpiDefault=none",
             "JobAcctGatherType=jobacct_gather/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
             "GresTypes=gpu", "ReturnToService=2", "InactiveLimit=0", "KillWait=5", "PlugStackConfig=/dev/null",
             "CommunicationParameters=NoInAddrAny"]
    gres = []
    for (name, (kinds, count, _)), port in zip(NODES.items(), ports):
        lines.append("NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 Gres=gpu:%s State=UNKNOWN" % (
            name, host, port, kinds))
        for index, kind in enumerate(kinds.split(",")):
            device = folder / ("%s-nvidia%d" % (name, index))
            device.touch()
            gres.append("NodeName=%s Name=gpu Type=%s File=%s" % (name, kind.removeprefix("gpu:").split(":")[0], device))
        assert count == index + 1
    lines.append("PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
    (folder / "gres.conf").write_text("\n".join(gres) + "\n")
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")


class Daemons:
    """Children of this process, in the foreground, ended with it."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.running = folder, environment, []

    def start(self, *command):
        log = open(self.folder / ("%d.log" % len(self.running)), "wb")
        self.running.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=subprocess.STDOUT, start_new_session=True))

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        for process in self.running:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        # Steps of jobs are daemons of their own, and end by themselves.
        for _ in range(100):
            if not self.left():
                return
            time.sleep(0.1)
        sys.exit("these processes were left: %s" % self.left())

    def left(self):
        mark, found = str(self.folder).encode(), []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
                if int(process.name) != os.getpid() and state != "Z" and (
                        mark in (process / "cmdline").read_bytes() or mark in (process / "environ").read_bytes()):
                    found.append(process.name)
            except OSError:
                pass
        return found


def wait_for_nodes(environment, folder):
    for _ in range(300):
        states = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %t"], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, check=False).stdout.split("\n")
        if sum(line.endswith(" idle") for line in states) == len(NODES):
            return
        time.sleep(0.2)
    logs = "\n".join("== %s\n%s" % (log.name, log.read_text(errors="replace")[-2000:]) for log in sorted(folder.glob("*.log")))
    sys.exit("the nodes did not come up: %s\n%s" % (states, logs))


def collect(environment, folder, *arguments):
    done = subprocess.run([REPOSITORY / "examples/slurm/collect_fleet", *arguments], env=environment, cwd=folder, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    fleet = folder / "fleet.csv"
    return done.returncode, done.stdout, done.stderr, fleet.read_text() if fleet.exists() else ""


def expect(what, actual, expected):
    if actual != expected:
        sys.exit("%s\nexpected:\n%s\nactual:\n%s" % (what, expected, actual))


def check(environment, folder):
    # The cluster as it is: one node's driver fails, and the others are there all the same.
    status, out, err, fleet = collect(environment, folder, "fleet.csv")
    lines = [line for line in fleet.splitlines() if not line.startswith("#")]
    expect("exit", (status, out), (1, ""))
    if "srun: error: n3: task" not in err or "arch_probe: error: cuInit: the machine is not ready" not in err:
        sys.exit("the failing node is not told:\n" + err)
    for line in GOOD.splitlines():
        if line not in lines:
            sys.exit("missing: %s\nin:\n%s\nstandard error:\n%s" % (line, fleet, err))
    if not any(line.startswith("Tesla V100, 7.0, ") and line.endswith(", n3, false") for line in lines):
        sys.exit("NVML's view of the failing node is not listed as unusable:\n" + fleet)

    # arch_probe and select read it; the failing node's GPU is never selected.
    listed = json.loads(subprocess.run([PROBE, "--fleet", "fleet.csv", "--format", "json"], cwd=folder, check=True,
                                       stdout=subprocess.PIPE, text=True).stdout)
    expect("devices", [(device["host"], device["compute_capability"], device["mig"], device["visible"])
                       for device in sorted(listed["devices"], key=lambda device: device["uuid"])],
           [("n1", "8.0", True, True), ("n1", "8.9", False, True), ("n2", "9.0", False, True), ("n2", "7.5", False, True),
            ("n3", "7.0", False, False)])
    chosen = subprocess.run([PROBE, "select", "--toolkit", "13.0", "--fleet", "fleet.csv"], cwd=folder, check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    expect("architectures", chosen, "75-real;80-real;89-real;90-real;90-virtual\n")

    # The failing node has got its fabric manager.
    machine = folder / "n3.machine"
    machine.write_text(machine.read_text().replace("fail cuInit 802\n", ""))
    status, out, err, fleet = collect(environment, folder, "-p", "gpu", "fleet.csv", "--immediate=60")
    expect("exit once all drivers work", (status, out, err), (0, "", ""))
    if "Tesla V100, 7.0, 580.95.05, 13.0, GPU-cccccccc-0000-0000-0000-000000000001, 00000000:01:00.0, 1, n3\n" not in fleet:
        sys.exit("n3 is missing:\n" + fleet)
    print("".join(line for line in fleet.splitlines(True) if not line.startswith("#")), end="")

    status, out, err, _ = collect(environment, folder)
    expect("usage", (status, out, "collect_fleet [-p PARTITION] FLEET_FILE" in err), (2, "", True))


def verify_mirror(environment, folder, *arguments):
    done = subprocess.run([REPOSITORY / "examples/slurm/verify_mirror", *arguments], env=environment, cwd=folder, timeout=900,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def answers(path):
    """What a result says of each file. A file in a folder that was named is recorded with that folder, another order is that of
    the tasks; neither is an answer."""
    document = json.loads(path.read_text())
    for file in document["files"]:
        del file["record"]
    return document["verdict"], document["devices"], sorted(document["files"], key=lambda file: (file["path"], file["member"]))


def make_mirror(folder):
    """Wheels of different sizes: some run on all of the fleet, some do not; names with what a shell would split at."""
    mirror = folder / "mirror of wheels"
    mirror.mkdir()
    for number in range(12):
        with zipfile.ZipFile(mirror / ("p%d;$x 'y'\n.whl" % number if number == 7 else "p%d.whl" % number), "w") as wheel:
            for member in range(1 + number % 4):
                images = ["sm_75", "sm_80", "sm_90"][:3 - number % 3 // 2] + (["compute_70"] if number % 2 else [])
                subprocess.run([sys.argv[5], folder / "made.so", "12.4", *images], check=True)
                wheel.write(folder / "made.so", "p/lib%d.so" % member)
    return mirror


def check_mirror(environment, folder):
    """A job array over a mirror says what one run over all of it says."""
    make_mirror(folder)
    options = ["--any-of", "lib?.so"]
    program = {**environment, "ARCHGUARD": str(ARCHGUARD), "VERIFY_OPTIONS": " ".join(options)}
    whole = subprocess.run([ARCHGUARD, "verify", "mirror of wheels", "--fleet", "fleet.csv", "--brief", "--report", "json=whole.json", *options],
                           cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    status, out, err = verify_mirror(program, folder, "mirror of wheels", "fleet.csv", "the results", "5")
    expect("exit of the mirror: " + out + err, (status, err), (whole.returncode, ""))
    expect("last line", out.splitlines()[-1], whole.stdout.splitlines()[-1])
    if answers(folder / "the results/report.json") != answers(folder / "whole.json"):
        sys.exit("the mirror got another answer than one run over all of it")
    expect("tasks", len(list((folder / "the results").glob("task-*.json"))), 5)
    if "p/lib0.so" not in (folder / "the results/report.html").read_text():
        sys.exit("the page does not name the members")

    # A task that fails, such as on a node without the fleet file, is not an answer over the others.
    status, out, err = verify_mirror(program, folder, "mirror of wheels", "none.csv", "the results", "3")
    expect("exit without the fleet", (status, out), (2, ""))
    if "verify_mirror: task-0 left no result" not in err or "none.csv: no such file" not in err:
        sys.exit("the failing task is not told:\n" + err)
    status, out, err = verify_mirror(program, folder, ".", "fleet.csv", "results", "many")
    expect("usage of verify_mirror", (status, out, "verify_mirror FOLDER FLEET_FILE RESULTS TASKS" in err), (2, "", True))


def measure_mirror(environment, folder):
    mirror, fleet, results = (os.path.abspath(argument) for argument in sys.argv[6:9])
    words = {"ARCHGUARD": str(ARCHGUARD), "VERIFY_OPTIONS": " ".join(sys.argv[9:])}
    for tasks in (3, 1):
        began = time.monotonic()
        status, out, err = verify_mirror({**environment, **words}, folder, mirror, fleet, results + "-%d" % tasks, str(tasks))
        print("%d tasks: exit %d, %.1f s: %s%s" % (tasks, status, time.monotonic() - began, (out.splitlines() or [""])[-1], err))


def main():
    missing = [program for program in ("slurmctld", "slurmd", "srun", "sbatch", "munged") if shutil.which(program) is None]
    if missing:
        print("SKIPPED: no %s here (Debian: apt-get install slurmctld slurmd slurm-client munge)" % missing[0])
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="ag-slurm-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        for sub in ("state", *("spool-" + node for node in NODES)):
            (folder / sub).mkdir()
        configuration(folder)
        for node, (_, _, machine) in NODES.items():
            (folder / (node + ".machine")).write_text(machine)
        probe = folder / "arch_probe"
        probe.write_text("#!/bin/sh\nexport ARCHGUARD_FAKE_MACHINE=%s/$SLURMD_NODENAME.machine\n"
                         "export LD_LIBRARY_PATH=%s/cuda:%s/nvml\nexec %s \"$@\"\n" % (folder, FAKE, FAKE, PROBE))
        probe.chmod(0o755)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        environment = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "HOME": name, "LC_ALL": "C",
                       "SLURM_CONF": str(folder / "slurm.conf"), "ARCH_PROBE": str(probe)}
        daemons = Daemons(folder, environment)
        try:
            daemons.start("munged", "--foreground", "--force", "--key-file=%s" % key, "--socket=%s/munge.socket" % folder,
                          "--pid-file=%s/munged.pid" % folder, "--log-file=%s/munged.log" % folder,
                          "--seed-file=%s/munged.seed" % folder)
            for _ in range(100):
                if (folder / "munge.socket").exists():
                    break
                time.sleep(0.1)
            daemons.start("slurmctld", "-D", "-f", str(folder / "slurm.conf"))
            for node in NODES:
                daemons.start("slurmd", "-D", "-N", node, "-f", str(folder / "slurm.conf"))
            wait_for_nodes(environment, folder)
            if sys.argv[5] == "--mirror":
                measure_mirror(environment, folder)
            else:
                check(environment, folder)
                check_mirror(environment, folder)
        finally:
            daemons.stop()


main()
