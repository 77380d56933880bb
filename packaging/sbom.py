"""Prints what the programs of the wheels and archives are made of, as SPDX 2.3: sbom.py VERSION CACHE REPOSITORY"""
import datetime
import json
import os
import pathlib
import re
import sys

# By the name of its pkg-config file.
LIBRARIES = [("CLI11", "BSD-3-Clause"), ("nlohmann_json", "MIT"), ("fmt", "MIT"), ("libzstd", "BSD-3-Clause"),
             ("liblz4", "BSD-2-Clause"), ("zlib", "Zlib")]


def version_of(unpacked, name):
    for path in unpacked.rglob(name + ".pc"):
        return re.search(r"^Version: *(\S+)", path.read_text(), re.MULTILINE).group(1)
    sys.exit("sbom.py: no %s.pc in %s; tests/support/fetch static-amd64" % (name, unpacked))


def package(name, version, licence, origin):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version, "supplier": "NOASSERTION",
            "downloadLocation": origin, "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION"}


def main():
    version, cache, repository = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    publisher = dict(line.split(" ", 1) for line in (repository / "packaging/publisher").read_text().splitlines()
                     if not line.startswith("#"))
    packages = [package("ArchGuard", version, "Apache-2.0", "git+" + publisher["repository"])]
    for name, licence in LIBRARIES:
        packages.append(package(name, version_of(cache / "static-amd64", name), licence, "NOASSERTION"))
    zig = re.search(r"ziglang==(\S+)", (cache / "zig-0.17/.packages").read_text()).group(1)
    packages.append(package("libc++, libc++abi, libunwind and compiler-rt of zig", zig, "Apache-2.0 WITH LLVM-exception", "NOASSERTION"))
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    own = packages[0]["SPDXID"]
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "archguard-" + version,
        "documentNamespace": "%s/spdx/archguard-%s-%s" % (publisher["repository"], version, os.environ["SOURCE_DATE_EPOCH"]),
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: packaging/sbom.py"]},
        "packages": packages,
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own}] +
                         [{"spdxElementId": own, "relationshipType": "STATIC_LINK", "relatedSpdxElement": each["SPDXID"]}
                          for each in packages[1:]]}, indent=1))


main()
