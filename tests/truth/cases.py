"""All cases of a record: what is tried, through which interface, and under which variables."""
import damage
import images
import programs
import registrations
from maker import CannotMake


class NoSuchCase(Exception):
    pass


LOADING = ({}, {"CUDA_MODULE_LOADING": "EAGER"})
# What the environment of a program may say, and the cases that are tried under it, too.
ENVIRONMENTS = [
    *({name: value} for name in ("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT") for value in ("1", "0", "")),
    {"CUDA_FORCE_PTX_JIT": "1", "CUDA_DISABLE_PTX_JIT": "1"}, {"CUDA_FORCE_JIT": "1", "CUDA_DISABLE_JIT": "1"},
    {"CUDA_FORCE_PTX_JIT": "1", "CUDA_MODULE_LOADING": "EAGER"}, {"CUDA_DISABLE_PTX_JIT": "1", "CUDA_MODULE_LOADING": "EAGER"},
    {"CUDA_CACHE_DISABLE": "0"}, {"CUDA_CACHE_MAXSIZE": "0"}, {"CUDA_MODULE_DATA_LOADING": "LAZY"}, {"CUDA_MODULE_DATA_LOADING": "EAGER"},
    {"CUDA_BINARY_LOADER_THREAD_COUNT": "4"}, {"CUDA_LAUNCH_BLOCKING": "1"},
    {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, {"CUDA_AUTO_BOOST": "0"}, {"CUDA_SCALE_LAUNCH_QUEUES": "2x"},
    {"CUDA_DISABLE_PERF_BOOST": "1"}, {"CUDA_FORCE_PRELOAD_LIBRARIES": "1"},
    {"CUDA_VISIBLE_DEVICES": ""}, {"CUDA_VISIBLE_DEVICES": "-1"}, {"CUDA_VISIBLE_DEVICES": "99"},
]


def steered(number):
    """The cases for all of ENVIRONMENTS."""
    return {"sass %d" % number, "sass 80", "ptx %d" % number, "ptx 80", "sass %d, ptx %d" % (number, number), "ptx 75 of ISA 99.0, sass %d" % number,
            "sass %d, bare" % number, "ptx %d, bare" % number, "ptx 100, bare",
            "ptx 100 of ISA 99.0, bare", "ptx 75 of ISA 99.0, bare", "elf packed with size",
            "nvrtc sass and ptx in nvfatbin", "program of sm_80 compute_80", "program of sm_%d" % number,
            "separate compilation, sass and ptx", "separate compilation, sass that fits", "separate compilation, ptx alone", "ptx 80 as data", "sass %d as data" % number}


def for_each_runtime(name):
    """The cases for the runtimes of other releases: what number an error has is theirs to say."""
    return name in ("sass 80", "sass 80, sass 100", "ptx 100", "ptx 75 of ISA 99.0, ptx 75 of ISA 99.0", "elf packed with size", "ptx packed with speed",
                    "hollow kernel, sass", "ptx 80 of 32 bits", "relocatable sass 90 that is whole") or name.startswith("kernel missing in the")


def made_of(group, maker, number):
    """What the group yields, to where it cannot go on."""
    try:
        yield from group(maker, number)
    except CannotMake as reason:
        maker.skipped.append("the rest of %s: %s" % (group.__name__, reason))


GROUPS = (*images.GROUPS, *programs.GROUPS, *registrations.GROUPS, damage.damaged)


def cases(maker, number, releases, wanted=None):
    """(name, path, damaged, runs) of every case, or of those of these names and groups; a run is (through, environment): "driver", "runtime", or "runtime 11.8"
    for one of these releases. What cannot be made is in maker.skipped. Refuses a name that neither a group nor a case has, since nothing of it would be made."""
    unknown = set(wanted or ())
    for group in GROUPS:
        unknown.discard(group.__name__)
        for name, make in made_of(group, maker, number):
            unknown.discard(name)
            if wanted is not None and group.__name__ not in wanted and name not in wanted:
                continue
            path = maker.made_or_skipped(name, make)
            if path is None:
                continue
            ways = ("driver", "runtime") if path.endswith(".fatbin") else ("driver",) if path.endswith((".cubin", ".ptx")) else ("program",)
            damaged = group is damage.damaged
            under = LOADING[:1] if damaged and not path.endswith(".cubin") else LOADING
            under = [*under, *(ENVIRONMENTS if name in steered(number) else [])]
            others = [("runtime " + release, {}) for release in releases] if for_each_runtime(name) else []
            yield name, path, damaged, [*((through, env) for env in under for through in ways), *others]
    if unknown:
        why = "no group and no case is named %s; the groups are %s" % (
            ", ".join(map(repr, sorted(unknown))), ", ".join(group.__name__ for group in GROUPS))
        if not maker.skipped:
            raise NoSuchCase(why)
        maker.skipped.append(why)  # the rest of a group that cannot go on may have it
