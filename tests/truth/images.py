"""Fat binaries, cubins and PTX that are as NVIDIA's tools write them: (name, what makes the file) of each."""
import itertools

from maker import number_of

NEWER_ISA = "99.0"
ISAS = ["6.3", "6.4", "6.5", "7.0", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5",
        "8.6", "8.7", "8.8", "9.0", "9.1", "9.2", "9.3", "9.4", "9.5"]


# The first that knows the target, so that older assemblers take it.
FIRST_ISAS = {"80": "7.0", "86": "7.1", "87": "7.4", "89": "7.8", "90": "7.8", "100": "8.6", "120": "8.7", "103": "8.8", "121": "8.8"}


def spellings(number):
    """The names of one arch: 90 and 90a; 100, 100a and 100f."""
    return [str(number)] + (["%da" % number] if number >= 90 else []) + (["%df" % number] if number >= 100 else [])


def older_of(maker, number):
    return str(max((arch for arch in maker.toolkit.archs if arch < number), default=number))


def architectures(maker, number):
    """One image of each arch, in a fat binary and by itself."""
    toolkits = [(maker.toolkit, "", lambda arch: True)]
    for toolkit in maker.other_toolkits():
        new = number_of(toolkit.version) > number_of(maker.toolkit.version)
        toolkits.append((toolkit, " of nvcc " + toolkit.version, lambda arch, new=new: new and arch in (75, 80, number) or
                         not new and (arch not in maker.toolkit.archs or arch in (80, number))))
    for toolkit, of, wanted in toolkits:
        for arch in (each for known in toolkit.archs if wanted(known) for each in spellings(known)):
            for kind, name, suffix in (("elf", "sass", ".cubin"), ("ptx", "ptx", ".ptx")):
                image = lambda kind=kind, arch=arch, toolkit=toolkit: maker.image(kind, arch, toolkit=toolkit)
                yield "%s %s%s" % (name, arch, of), lambda image=image, toolkit=toolkit: maker.fatbin([image()], toolkit=toolkit)
                yield "%s %s%s, bare" % (name, arch, of), lambda image=image, suffix=suffix: maker.bare(image()[2], suffix)


def ptx_versions(maker, number):
    # Of the last ones neither the ISA nor the target suits a device before 10.0.
    for arch, isa in [*(("75", isa) for isa in ISAS), ("75", NEWER_ISA), ("100", NEWER_ISA), ("100a", NEWER_ISA)]:
        text = lambda arch=arch, isa=isa: maker.image("ptx", arch, isa=isa)
        yield "ptx %s of ISA %s" % (arch, isa), lambda text=text: maker.fatbin([text()])
        yield "ptx %s of ISA %s, bare" % (arch, isa), lambda text=text: maker.bare(text()[2], ".ptx")


def orders(maker, number):
    """Which of several images is taken."""
    exact, older = str(number), older_of(maker, number)
    images = {"sass 80": ("elf", "80", None), "sass %s" % exact: ("elf", exact, None), "sass 100": ("elf", "100", None),
              "ptx 75": ("ptx", "75", None), "ptx 80": ("ptx", "80", None), "ptx %s" % exact: ("ptx", exact, None),
              "ptx 75 of ISA 99.0": ("ptx", "75", NEWER_ISA), "ptx %s of ISA 99.0" % exact: ("ptx", exact, NEWER_ISA)}
    if number >= 90:
        images["sass %sa" % exact] = ("elf", exact + "a", None)
        images["ptx %sa" % exact] = ("ptx", exact + "a", None)
        if number >= 100:
            images["sass %sf" % exact] = ("elf", exact + "f", None)
            images["ptx %sf" % exact] = ("ptx", exact + "f", None)
    for lower in (arch for arch in maker.toolkit.archs if arch // 10 == number // 10 and arch < number):
        images["sass %d" % lower] = ("elf", str(lower), None)

    def packed(names):
        return maker.fatbin([maker.image(images[name][0], images[name][1], mark=mark, isa=images[name][2])
                             for mark, name in enumerate(names, 1)])

    several = [*itertools.product(images, repeat=2)]
    fitting = ["sass %s" % exact, "ptx %s" % exact, "ptx 80"] + (["sass %sa" % exact, "ptx %sa" % exact] if number >= 90 else [])
    several += itertools.permutations(fitting, 3)
    several += itertools.permutations(["ptx 75", "ptx 80", "ptx %s of ISA 99.0" % exact], 3)
    for names in several:
        yield ", ".join(names), lambda names=names: packed(names)

    # What another number of images and a kernel that one of them lacks change.
    image = maker.image
    without = {"sass": lambda: image("elf", exact, "-DWITHOUT"), "ptx": lambda: image("ptx", exact, "-DWITHOUT")}
    others = {"ptx": lambda: image("ptx", exact, "-DBOTH", mark=2), "older ptx": lambda: image("ptx", older, "-DBOTH", mark=2),
              "sass": lambda: image("elf", exact, "-DBOTH", mark=2), "sass 80": lambda: image("elf", "80", "-DBOTH", mark=2)}
    for lacking, present in itertools.product(without, others):
        yield "kernel missing in the exact %s, present in %s" % (lacking, present), \
            lambda lacking=lacking, present=present: maker.fatbin([without[lacking](), others[present]()])
    for kind, name in (("elf", "sass"), ("ptx", "ptx")):
        yield "hollow kernel, " + name, lambda kind=kind: maker.fatbin([image(kind, exact, "-DHOLLOW")])


def packing(maker, number):
    """Compressed by fatbinary, and by nvFatbin what NVRTC compiles."""
    exact = str(number)
    for mode in ("none", "speed", "balance", "size"):
        for kind in ("elf", "ptx"):
            yield "%s packed with %s" % (kind, mode), lambda mode=mode, kind=kind: maker.fatbin(
                [maker.image(kind, exact)], "-compress-all", "-compress-mode=" + mode)
    newer = next((each for each in maker.other_toolkits() if number_of(each.version) >= (13, 4)), None)
    if newer is not None:
        for kinds in (("80", exact), ("80", "86"), (exact, exact + "a")):
            yield "sass %s in one entry, by fatbinary %s" % (" and ".join(kinds), newer.version), lambda kinds=kinds: maker.fatbin(
                [maker.image("elf", arch, mark=mark) for mark, arch in enumerate(kinds, 1)], "-compress-all", "--concat", toolkit=newer)
    for name, images in (("sass", [("elf", exact)]), ("ptx", [("ptx", exact)]), ("sass and ptx", [("elf", exact), ("ptx", exact)])):
        yield "nvrtc %s in nvfatbin" % name, lambda images=images: maker.library_fatbin(images)
        for mode in ("none", "speed", "size"):
            yield "nvrtc %s in nvfatbin, packed with %s" % (name, mode), lambda images=images, mode=mode: maker.library_fatbin(
                images, "-compress-all", "-compress-mode=" + mode)


def releases(maker, number):
    """SASS of the ptxas of each release."""
    text = lambda arch: maker.ptx(arch, isa=FIRST_ISAS.get(arch))
    for release, ptxas in maker.assemblers():
        for arch in dict.fromkeys(("80", str(number))):
            cubin = lambda ptxas=ptxas, arch=arch: maker.cubin(arch, text=text(arch), ptxas=ptxas)
            yield "sass %s of ptxas %s" % (arch, release), lambda cubin=cubin, arch=arch: maker.fatbin([("elf", arch, cubin())])
            yield "sass %s of ptxas %s, bare" % (arch, release), lambda cubin=cubin: maker.bare(cubin(), ".cubin")


def unusual(maker, number):
    """What loads only under conditions, or never by itself."""
    exact, older = str(number), older_of(maker, number)
    ptx, bare = maker.ptx, maker.bare

    def both(name, kind, arch, content):
        yield name, lambda: maker.fatbin([(kind, arch, content())])
        yield name + ", bare", lambda: bare(content(), ".cubin" if kind == "elf" else ".ptx")

    for arch in dict.fromkeys((older, exact)):
        text = lambda arch=arch: ptx(arch, "-rdc=true", "-DOPEN").encode()
        yield from both("ptx %s that calls what nobody defines" % arch, "ptx", arch, text)
        yield from both("relocatable sass %s that calls what nobody defines" % arch, "elf", arch, lambda arch=arch: maker.cubin(
            arch, text=ptx(arch, "-rdc=true", "-DOPEN"), options=["-c"]))
        yield from both("relocatable sass %s that is whole" % arch, "elf", arch, lambda arch=arch: maker.cubin(
            arch, text=ptx(arch, "-rdc=true"), options=["-c"]))
        yield from both("ptx %s of -rdc that is whole" % arch, "ptx", arch, lambda arch=arch: ptx(arch, "-rdc=true").encode())
    for arch in dict.fromkeys(("80", exact)):
        yield from both("sass %s with 8008 bytes of parameters" % arch, "elf", arch, lambda arch=arch: maker.cubin(arch, "-DLARGE"))
        yield from both("ptx %s with 8008 bytes of parameters" % arch, "ptx", arch, lambda arch=arch: ptx(arch, "-DLARGE").encode())
        yield from both("ptx %s with 8008 bytes of parameters, ISA 8.0" % arch, "ptx", arch,
                        lambda arch=arch: ptx(arch, "-DLARGE", isa="8.0").encode())
    edits = {
        "of 32 bits": (".address_size 64", ".address_size 32"),
        "without .address_size": (".address_size 64", ""),
        "with .target texmode_independent": (".target sm_80", ".target sm_80, texmode_independent"),
        "with .target debug": (".target sm_80", ".target sm_80, debug"),
        "with a comment that is not ASCII": (".target", "// \u00e9\n.target"),
        "with lines of CR LF": ("\n", "\r\n"),
        "with a byte order mark": (None, "\ufeff"),
        "for a target that nobody knows": (".target sm_80", ".target sm_81"),
        "of a later target": (".target sm_80", ".target sm_121"),
        "whose ISA is too old for its target": (".version 9.0", ".version 6.0"),
        "of ISA 1.0": (".version 9.0", ".version 1.0"),
        "of ISA 9.9": (".version 9.0", ".version 9.9"),
        "with an unknown directive": (".visible .entry", ".unheard of;\n.visible .entry"),
        "with an unknown instruction": ("ret;", "unheard.b32 %r1, %r1;\nret;"),
        "with an undeclared register": ("ret;", "mov.u32 %r1, %r99;\nret;"),
        "with .maxntid above what a device has": ("{", ".maxntid 4096, 1, 1\n{"),
        "with an instruction of ISA 7.8 for sm_90": ("ret;", "barrier.cluster.arrive.aligned;\nret;"),
    }
    for name, (old, new) in edits.items():
        edited = lambda old=old, new=new: (new + ptx("80", isa="9.0") if old is None
                                           else ptx("80", isa="9.0").replace(old, new)).encode()
        yield from both("ptx 80 " + name, "ptx", "80", edited)
    if number >= 90:
        wgmma = lambda: ptx("90").replace("ret;", "wgmma.fence.sync.aligned;\nret;").encode()
        yield from both("ptx 90 with an instruction of 90a", "ptx", "90", wgmma)
        text = lambda isa: ptx("90", isa=isa).replace("ret;", "barrier.cluster.arrive.aligned;\nret;").encode()
        yield from both("ptx 90 with an instruction of ISA 7.8", "ptx", "90", lambda: text("8.0"))
    yield from both("two modules in one PTX", "ptx", "80", lambda: (ptx("80") + ptx("80").replace("mark", "other")).encode())
    yield from both("ptx without a kernel", "ptx", "80", lambda: b".version 7.0\n.target sm_80\n.address_size 64\n")
    for function in ("cudaGraphKernelNodeSetParam", "cudaDeviceMemcpyAsync", "cudaGraphSetConditional"):
        calling = lambda function=function, arch="80": ptx(arch, isa=FIRST_ISAS.get(arch)).replace(
            ".visible .entry", ".extern .func (.param .b32 r) %s (.param .b64 a, .param .b64 b);\n.visible .entry" % function).replace(
            "ret;", "setp.ne.u64 %%p1, %%rd1, %%rd1;\n@%%p1 bra call;\nret;\ncall: { .param .b64 a; .param .b64 b; .param .b32 r;\n"
                    "st.param.b64 [a], 0; st.param.b64 [b], 0;\ncall.uni (r), %s, (a, b); }\nret;" % function, 1).replace(
            ".reg .b64", ".reg .pred %p<2>;\n.reg .b64", 1)
        yield from both("ptx 80 that may call %s" % function, "ptx", "80", lambda calling=calling: calling().encode())
        for release, ptxas in [each for each in maker.assemblers() if number_of(each[0]) in ((12, 9), (13, 5))]:
            yield from both("sass %s of ptxas %s that may call %s" % (exact, release, function), "elf", exact,
                            lambda calling=calling, ptxas=ptxas: maker.cubin(exact, text=calling(arch=exact), ptxas=ptxas))


GROUPS = (architectures, ptx_versions, orders, packing, releases, unusual)
