"""arch_probe with the driver's own libraries, where there is no GPU.

    driver_libraries.py ARCH_PROBE CACHE

Debian's libcuda1 and libnvidia-ml1 run in a mount namespace with a /dev of their own, since a driver library that is
run as root makes device nodes. Exit 77 where they are not fetched, or where this machine has a driver.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PRIVATE_DEV = """set -e
mount -t tmpfs none "$1"
for node in null zero urandom; do touch "$1/$node"; mount --bind "/dev/$node" "$1/$node"; done
mount --move "$1" /dev
shift
"$@" || status=$?
ls /dev >&2
exit ${status:-0}
"""


def main():
    probe, cache = sys.argv[1:]
    folder = pathlib.Path(cache, "driver-535/debian/usr/lib/x86_64-linux-gnu/nvidia/current").absolute()
    library = folder / "libcuda.so.1"
    if not library.exists():
        print("SKIPPED: tests/support/fetch driver-535")
        sys.exit(77)
    if os.path.exists("/proc/driver/nvidia/version"):
        print("SKIPPED: this machine has a driver of its own")
        sys.exit(77)
    version = os.readlink(library).removeprefix("libcuda.so.")
    environment = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "LC_ALL": "C", "LD_LIBRARY_PATH": str(folder)}
    before = sorted(os.listdir("/dev"))
    with tempfile.TemporaryDirectory() as dev:
        unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
        run = subprocess.run([*unshare, "bash", "-c", PRIVATE_DEV, "bash", dev, probe, "--format", "json"], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    if not run.stdout and "unshare" in run.stderr:
        print("SKIPPED: no mount namespace here: %s" % run.stderr.strip())
        sys.exit(77)
    document = json.loads(run.stdout)
    said = [(each["stage"], each["code"], each["name"], each["cause"], each["fix"]) for each in document["diagnostics"]]
    print("libcuda %s: exit %d\n%s" % (version, run.returncode, "\n".join(map(str, said))))
    print("its /dev afterwards: %s" % " ".join(run.stderr.split()))
    expected = {
        "exit": 3, "status": "none", "devices": [],
        "driver": {"version": None, "cuda_version": "12.2", "library": str(library), "library_version": version},
        "said": [("cuInit", 100, "CUDA_ERROR_NO_DEVICE",
                  "libcuda (%s) is installed, but the nvidia kernel module is not loaded on this machine" % library,
                  "load the nvidia kernel module, or give a fleet file on a machine without a GPU"),
                 ("nvml", 9, "NVML_ERROR_DRIVER_NOT_LOADED", "nvmlInit failed: the nvidia kernel module is not loaded",
                  "load the nvidia kernel module")]}
    actual = {"exit": run.returncode, "status": document["status"], "devices": document["devices"],
              "driver": document["driver"], "said": said}
    wrong = ["%s: expected %s, found %s" % (key, expected[key], actual[key]) for key in expected if actual[key] != expected[key]]
    if sorted(os.listdir("/dev")) != before:
        wrong.append("/dev of this machine changed")
    if wrong:
        sys.exit("\n".join(wrong))


main()
