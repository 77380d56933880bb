"""What others would say of a package: the rules of EasyBuild's CUDA check and of torch's own, and what a project's list of
architectures means by NVIDIA's documentation. All work on what bench/packages_scan.py found, not on archguard's answer."""
import re

FAMILIES = {"100f": ("10.0", "10.3"), "103f": ("10.3",), "110f": ("11.0",), "120f": ("12.0", "12.1"), "121f": ("12.1",)}
TEGRA = ("8.7", "11.0")


def number(device):
    return int(device.replace(".", ""))


def served_by(entry, device):
    """Whether a device runs what one entry of a build's list makes: "86" and "90a" are SASS, "80-ptx" is PTX."""
    if entry.endswith("-ptx"):
        return number(device) >= int(entry[:-4])
    if entry.endswith("f"):
        return device in FAMILIES[entry]
    arch = int(entry.rstrip("a"))
    if entry.endswith("a") or device in TEGRA:
        return arch == number(device)
    return arch // 10 == number(device) // 10 and arch <= number(device) and arch not in (32, 53, 62, 72, 87, 88, 101)


def stated(statement, devices):
    """By device True, False, or None where the project says nothing."""
    if not statement:
        return {device: None for device in devices}
    if "built" in statement:
        return {device: any(served_by(entry, device) for entry in statement["built"].split()) for device in devices}
    serves, leaves_out = statement.get("serves", "").split(), statement.get("leaves_out", "").split()
    return {device: True if device in serves else False if device in leaves_out else None for device in devices}


def sass(file):
    return [key.split(" ", 1)[1] for key in file["images"] if key.startswith("sass ")]


def easybuild(files, device):
    """EasyBuild 5.1: each file with device code holds SASS whose number, with its `a`, is the device's own."""
    wanted = device.replace(".", "")
    return all(wanted in [re.sub("f$", "", arch) for arch in sass(file)] for file in files)


def torch(files, device):
    """torch: one of the architectures has the device's major number."""
    major = number(device) // 10
    return any(int(re.match("[0-9]+", arch).group()) // 10 == major for file in files for arch in sass(file))
