"""A second opinion on which fat binaries a file holds, for bench/packages: it searches for the signature anywhere, walks the
entries, and shares no code with archguard. It knows no sections, no object formats and no compression."""
import collections
import struct

SIGNATURE = struct.pack("<I", 0xBA55ED50)
KINDS = {1: "ptx", 2: "sass", 8: "ltoir", 0x40: "reloc-ptx"}
SUFFIXES = ((0x100000, "a"), (0x200000, "f"))
LEAST_ENTRY = 64


def entries(data, at):
    """The images of the fat binary at an offset as (kind, arch), and its end; None where there is no whole one."""
    if at + 16 > len(data):
        return None
    _, version, header, size = struct.unpack_from("<IHHQ", data, at)
    end = at + header + size
    if version != 1 or header != 16 or size % 8 or end > len(data):
        return None
    found, position = [], at + header
    while position < end:
        if end - position < LEAST_ENTRY:
            return None
        kind, _, header, payload = struct.unpack_from("<HHIQ", data, position)
        arch, = struct.unpack_from("<I", data, position + 28)
        flags, = struct.unpack_from("<Q", data, position + 40)
        if header < LEAST_ENTRY or header % 8 or header + payload > end - position:
            return None
        suffix = "".join(letter for bit, letter in SUFFIXES if flags & bit)
        found.append((KINDS.get(kind, "other"), "%d%s" % (arch, suffix)))
        position += header + payload
    return found, end


def scan(data):
    """How many fat binaries the bytes hold, and a Counter of their images by (kind, arch)."""
    containers, images = 0, collections.Counter()
    at = data.find(SIGNATURE)
    while at >= 0:
        whole = entries(data, at)
        if whole:
            containers += 1
            images.update(whole[0])
        at = data.find(SIGNATURE, whole[1] if whole else at + 1)
    return containers, images
