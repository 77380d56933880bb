"""Images and fat binaries that are damaged, one way each: (name, what makes the file). Offsets are those of docs/reference/fatbin.md."""
import struct

ELF_FIELDS = {"e_phoff": (32, 8), "e_shoff": (40, 8), "e_flags": (48, 4), "e_phnum": (56, 2), "e_shnum": (60, 2), "e_shstrndx": (62, 2)}
FAT_HEADER = 16
COMPRESSED = 0x2000 | 0x8000  # LZ4, zstd


def put(data, at, layout, value):
    changed = bytearray(data)
    struct.pack_into("<" + layout, changed, at, value)
    return bytes(changed)


def zeroed(data, begin, size):
    return data[:begin] + bytes(min(size, len(data) - begin)) + data[begin + size:]


def field(data, name):
    at, size = ELF_FIELDS[name]
    return int.from_bytes(data[at:at + size], "little")


def sections(cubin):
    """(name, type, offset, size) of each section."""
    at, count, names = field(cubin, "e_shoff"), field(cubin, "e_shnum"), field(cubin, "e_shstrndx")
    rows = [struct.unpack_from("<IIQQQQ", cubin, at + 64 * index) for index in range(count)]
    text = rows[names][4]
    for name, kind, _, _, offset, size in rows:
        yield cubin[text + name:cubin.index(b"\0", text + name)].decode(), kind, offset, size


def damaged_cubins(cubin):
    size = len(cubin)
    for percent in (10, 25, 50, 75, 90, 99):
        yield "cut at %d %%" % percent, cubin[:size * percent // 100]
    yield "without its last byte", cubin[:-1]
    yield "with zeros behind it", cubin + bytes(64)
    for percent in (25, 50, 75, 90):
        yield "of zeros from %d %% on" % percent, zeroed(cubin, size * percent // 100, size)
    yield "with zeroed program headers", zeroed(cubin, field(cubin, "e_phoff"), 56 * field(cubin, "e_phnum"))
    yield "with zeroed section headers", zeroed(cubin, field(cubin, "e_shoff"), 64 * field(cubin, "e_shnum"))
    for name, kind, offset, length in sections(cubin):
        if kind not in (0, 8) and length > 0:
            yield "with zeros for %s" % name, zeroed(cubin, offset, length)
        if name.startswith(".text."):
            yield "with a first instruction of zeros", zeroed(cubin, offset, 16)
            yield "with a later instruction of zeros", zeroed(cubin, offset + 32, 16)
            yield "with code of 0xff", cubin[:offset] + b"\xff" * length + cubin[offset + length:]
    yield "with another magic", b"\x7fELG" + cubin[4:]
    yield "of 32 bits", put(cubin, 4, "B", 1)
    yield "that is big-endian", put(cubin, 5, "B", 2)
    for value in (0, 3, 0x33, 0x41, 0xff):
        if cubin[7] != value:
            yield "with OS/ABI 0x%x" % value, put(cubin, 7, "B", value)
    for value in (0, 6, 7, 8, 9, 255):
        if cubin[8] != value:
            yield "with ABI version %d" % value, put(cubin, 8, "B", value)
    for value in (0, 1, 3, 4, 5):
        yield "with e_type %d" % value, put(cubin, 16, "H", value)
    yield "with e_machine 191", put(cubin, 18, "H", 191)
    yield "with e_version 0", put(cubin, 20, "I", 0)
    flags = field(cubin, "e_flags")
    for bit in range(32):
        yield "with bit %d of e_flags changed" % bit, put(cubin, 48, "I", flags ^ 1 << bit)
    yield "without program headers", put(put(cubin, 56, "H", 0), 32, "Q", 0)
    yield "without a section count", put(cubin, 60, "H", 0)
    yield "with its section headers behind its end", put(cubin, 40, "Q", size + 4096)


def damaged_ptx(text):
    size = len(text)
    kernel, end = text.index(b"{"), text.rindex(b"}")
    yield "cut within its kernel", text[:(kernel + end) // 2]
    yield "cut before its last brace", text[:end]
    yield "cut at half a word", text[:text.index(b"ret;") + 2]
    yield "cut before its kernel", text[:kernel]
    yield "of zeros from the middle on", zeroed(text, size // 2, size)
    yield "with a NUL in its kernel", zeroed(text, (kernel + end) // 2, 1)
    yield "with 16 zeros in its kernel", zeroed(text, (kernel + end) // 2, 16)
    yield "with a NUL behind its kernel, then text", text[:end + 1] + b"\0unheard of"
    yield "with text behind its kernel", text[:end + 1] + b"\nunheard of"
    yield "without .version", text.replace(b".version", b"//")
    yield "without .target", text.replace(b".target", b"//")
    yield "with a head of zeros", zeroed(text, 0, 16)
    yield "that is empty", b""
    yield "that is no PTX", b"404: Not Found\n"


def damaged_fat_binaries(data):
    """Of a fat binary with one entry, whose header says what follows it."""
    entry = FAT_HEADER
    header_size, payload = struct.unpack_from("<IQ", data, entry + 4)
    (compressed,) = struct.unpack_from("<I", data, entry + 16)
    body = entry + header_size
    (size,) = struct.unpack_from("<Q", data, 8)
    yield "with another magic", put(data, 0, "I", 0xBA55ED51)
    yield "with the older magic", put(data, 0, "I", 0x1EE55A01)
    for value in (0, 2):
        yield "of version %d" % value, put(data, 4, "H", value)
    for value in (0, 8, 24):
        yield "with a header of %d bytes" % value, put(data, 6, "H", value)
    for value in (0, size // 2, size - 8, size + 8, 1 << 40):
        yield "with a size of %s" % {0: "0", 1 << 40: "2^40"}.get(value, "%+d bytes" % (value - size)), put(data, 8, "Q", value)
    for value in (0, 3, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0xffff):
        yield "with an entry of kind 0x%x" % value, put(data, entry, "H", value)
    for value in (0, 0x0100, 0x0102, 0x0201):
        yield "with an entry of version 0x%x" % value, put(data, entry + 2, "H", value)
    for value in (0, 56, 72):
        yield "with an entry's header of %d bytes" % value, put(data, entry + 4, "I", value)
    for value in (0, payload - 8, payload + 8, 1 << 40):
        yield "with a payload of %s" % {0: "0", 1 << 40: "2^40"}.get(value, "%+d bytes" % (value - payload)), put(data, entry + 8, "Q", value)
    for value in (0, 20, 75, 89, 91, 100, 0xffff):
        yield "with an entry for %d" % value, put(data, entry + 28, "I", value)
    (flags,) = struct.unpack_from("<Q", data, entry + 40)
    for bit in range(32):
        yield "with bit %d of an entry's flags changed" % bit, put(data, entry + 40, "Q", flags ^ 1 << bit)
    yield "with zeros for an entry's header", zeroed(data, entry, header_size)
    yield "with zeros for its payload", zeroed(data, body, payload)
    yield "with zeros from the middle of its payload on", zeroed(data, body + payload // 2, payload)
    if compressed:
        for value in (0, compressed // 2, compressed - 1, compressed + 1):
            yield "with a compressed size of %s" % (value and "%+d" % (value - compressed)), put(data, entry + 16, "I", value)
        (inflated,) = struct.unpack_from("<Q", data, entry + 56)
        for value in (0, inflated - 1, inflated + 1, inflated * 2):
            yield "with an inflated size of %s" % (value and "%+d" % (value - inflated)), put(data, entry + 56, "Q", value)
        for at in (0, 4, compressed // 2, compressed - 2):
            yield "with byte %d of its payload changed" % at, put(data, body + at, "B", data[body + at] ^ 0x55)
    else:
        yield "with a compressed size", put(data, entry + 16, "I", payload // 2)


def damaged(maker, number):
    """(name, what makes it) of every damaged file; a damaged image within a fat binary and by itself."""
    exact, older = str(number), str(min(80, number))
    cubin, text = maker.cubin(exact), maker.ptx(older).encode()
    for kind, name, arch, suffix, variants in (("elf", "sass", exact, ".cubin", damaged_cubins(cubin)),
                                               ("ptx", "ptx", older, ".ptx", damaged_ptx(text))):
        for how, content in variants:
            label = "%s %s %s" % (name, arch, how)
            yield label + ", bare", lambda content=content, suffix=suffix: maker.bare(content, suffix)
            yield label, lambda kind=kind, arch=arch, content=content: maker.bare(
                refilled(maker, kind, arch, content), ".fatbin")
    for kind, name, arch in (("elf", "sass", exact), ("ptx", "ptx", older)):
        for mode in ("none", "size"):
            path = maker.made_or_skipped("fat binaries of %s, packed with %s, that are damaged" % (name, mode), lambda kind=kind, arch=arch, mode=mode:
                                         maker.fatbin([maker.image(kind, arch)], "-compress-all", "-compress-mode=" + mode))
            if path is None:
                continue
            with open(path, "rb") as file:
                data = file.read()
            for how, content in damaged_fat_binaries(data):
                yield "fat binary of %s, %s, %s" % (name, {"none": "raw", "size": "zstd"}[mode], how), \
                    lambda content=content: maker.bare(content, ".fatbin")


def refilled(maker, kind, arch, content):
    """A raw fat binary whose payload is `content`: fatbinary itself refuses most of what is damaged."""
    with open(maker.fatbin([maker.image(kind, arch)]), "rb") as file:
        data = file.read()
    (header_size,) = struct.unpack_from("<I", data, FAT_HEADER + 4)
    payload = content + bytes(-len(content) % 8)
    header = put(put(data[FAT_HEADER:FAT_HEADER + header_size], 8, "Q", len(payload)), 16, "I", 0)
    (flags,) = struct.unpack_from("<Q", header, 40)
    header = put(put(header, 40, "Q", flags & ~COMPRESSED), 56, "Q", 0)
    return put(data[:FAT_HEADER], 8, "Q", len(header) + len(payload)) + header + payload
