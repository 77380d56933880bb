"""Packages and container images as others write them: each holds, to archguard, what the files in it do on their own.

Debian's own package, a .conda by rattler-build, images by buildah. What is in them is told by dpkg-deb, zipfile and the files themselves.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import common

RECIPE = """
package: {name: libscale, version: "1.0"}
source: {path: %s}
build:
  script: ["mkdir -p $PREFIX/lib", "cp *.so* $PREFIX/lib/"]
  dynamic_linking: {binary_relocation: false, missing_dso_allowlist: ["*"]}
"""
BUILD = """
import sys
import rattler_build as rattler
folder, output = sys.argv[1:]
rattler.Stage0Recipe.from_file(folder + "/recipe.yaml").run_build(
    tool_config=rattler.ToolConfiguration(test_strategy="skip"), output_dir=output, channels=[], no_build_id=True,
    env_isolation=rattler.EnvironmentIsolation.NONE)
"""


def libraries():
    """Two real libraries with device code, of different toolkits."""
    found = glob.glob(os.path.join(common.options.cache, "libraries-11.8/lib/libnppitc.so.*"))
    if not found:
        raise unittest.SkipTest("no libnppitc; run tests/support/fetch libraries-11.8")
    later = glob.glob(os.path.join(common.options.cache, "libraries-11.8/lib/libnppisu.so.*")) or \
        glob.glob(os.path.join(common.options.cache, "libraries-11.8/lib/libnvjpeg.so.*"))
    return os.path.realpath(found[0]), os.path.realpath(later[0])


def inside(path):
    """The files with device code, by their last name, with the images of each."""
    document = json.loads(common.run([common.options.archguard, "inspect", path, "--format", "json"]))
    found = {}
    for file in document["files"]:
        for container in file["containers"]:
            name = re.search(r"([^/()]+)\)*$", file["member"] or file["path"])[1]
            found.setdefault(name, []).append([(each["kind"], each["arch"], each["size"]) for each in container["images"]])
    return found


def alone(*paths):
    return {os.path.basename(path): inside(path)[os.path.basename(path)] for path in paths}


def verdict(path, device):
    done = subprocess.run([common.options.archguard, "verify", path, "--device", device], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=500)
    return done.returncode, done.stdout


class PackagesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def same(self, package, *paths):
        expected = alone(*paths)
        self.assertTrue(all(expected.values()))
        self.assertEqual(expected, inside(package))
        for device in ("3.5", "5.0", "8.6@11.8", "9.0", "12.0"):
            wanted = max(verdict(path, device)[0] for path in paths)
            self.assertEqual(wanted, verdict(package, device)[0], verdict(package, device)[1])

    def test_debian(self):
        found = glob.glob(os.path.join(common.options.cache, "deb-nppitc-11.8/*.deb"))
        if not found:
            self.skipTest("no package of Debian; run tests/support/fetch deb-nppitc-11.8")
        common.run(["dpkg-deb", "-x", found[0], self.folder])
        unpacked = [path for path in glob.glob(self.folder + "/usr/lib/**/lib*.so.*", recursive=True) if not os.path.islink(path)]
        self.assertEqual(1, len(unpacked))
        self.same(found[0], unpacked[0])

    def test_conda(self):
        rattler = os.path.join(common.options.cache, "rattler-build")
        if not os.path.isdir(rattler):
            self.skipTest("no rattler-build; run tests/support/fetch rattler-build")
        both = libraries()
        for name in ("source", "recipe"):
            os.mkdir(os.path.join(self.folder, name))
        for path in both:
            shutil.copy(path, self.folder + "/source")
        with open(self.folder + "/recipe/recipe.yaml", "w") as file:
            file.write(RECIPE % (self.folder + "/source"))
        done = subprocess.run([sys.executable, "-c", BUILD, self.folder + "/recipe", self.folder + "/channel"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, PYTHONPATH=rattler, HOME=self.folder))
        found = glob.glob(self.folder + "/channel/*/*.conda")
        self.assertEqual(1, len(found), done.stdout)
        with zipfile.ZipFile(found[0]) as package:
            self.assertTrue(any(name.startswith("pkg-") for name in package.namelist()), package.namelist())
        self.same(found[0], *both)

    def buildah(self, *command):
        at = ["--root", self.folder + "/images", "--runroot", self.folder + "/running"]
        done = subprocess.run([*(["sudo", "-n"] if os.getuid() else []), "env", "BUILDAH_ISOLATION=chroot", "STORAGE_DRIVER=vfs", "buildah", *at, *command],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500)
        self.assertEqual(0, done.returncode, " ".join(command) + "\n" + done.stdout)
        return done.stdout.split()[-1] if done.stdout.split() else ""

    def test_images(self):
        """Two layers bring a library each; in a third one of them is gone."""
        if not shutil.which("buildah"):
            self.skipTest("no buildah (Debian: apt install buildah)")
        first, second = libraries()
        base = self.buildah("from", "scratch")
        self.buildah("copy", "-q", base, first, "/opt/app/lib/" + os.path.basename(first))
        self.buildah("commit", "-q", base, "one")
        both = self.buildah("from", "--pull-never", "one")
        self.buildah("copy", "-q", both, second, "/opt/app/lib/" + os.path.basename(second))
        self.buildah("commit", "-q", both, "two")
        less = self.buildah("from", "--pull-never", "two")
        os.remove(os.path.join(self.buildah("mount", less), "opt/app/lib", os.path.basename(first)))
        self.buildah("umount", less)
        self.buildah("commit", "-q", less, "three")
        for image, paths in (("one", [first]), ("two", [first, second]), ("three", [second])):
            for form in ("docker-archive:%s.tar:app:" + image, "oci-archive:%s.tar", "oci:%s"):
                name = os.path.join(self.folder, form.split(":")[0] + "-" + image)
                self.buildah("push", "-q", image, form % name)
                self.same(name + ".tar" if form.endswith("tar") or "docker" in form else name, *paths)

    def test_a_damaged_image(self):
        """An image whose layer is cut short, or gone, is unknown."""
        if not shutil.which("buildah"):
            self.skipTest("no buildah (Debian: apt install buildah)")
        first, _ = libraries()
        base = self.buildah("from", "scratch")
        self.buildah("copy", "-q", base, first, "/lib/" + os.path.basename(first))
        self.buildah("commit", "-q", base, "one")
        self.buildah("push", "-q", "one", "oci:%s/layout" % self.folder)
        blobs = sorted(glob.glob(self.folder + "/layout/blobs/sha256/*"), key=os.path.getsize)
        os.truncate(blobs[-1], os.path.getsize(blobs[-1]) // 2)
        status, said = verdict(self.folder + "/layout", "8.0")
        self.assertEqual(2, status, said)
        os.remove(blobs[-1])
        status, said = verdict(self.folder + "/layout", "8.0")
        self.assertEqual(2, status, said)


if __name__ == "__main__":
    common.main()
