"""Judges the files of container images where they were saved: `docker save` and tar archives of an OCI layout.

    saved_images.py --archguard PATH --fixture PATH

What a container would not have is not judged, and what it has always is. The images are made here.
"""
import gzip
import hashlib
import json
import sys
import tarfile
import unittest

import archives
from archives import Archives, tar


def hard_link(name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.LNKTYPE, target
    return info, b""


def folder(name):
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    return info, b""


def blob(data):
    return "blobs/sha256/" + hashlib.sha256(data).hexdigest()


def descriptor(data, kind="layer.v1.tar", **more):
    return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + hashlib.sha256(data).hexdigest(), "size": len(data), **more}


def oci(*layers, leave_out=(), change=None, more=()):
    """The members of an OCI layout of one image, by its layers."""
    manifest = {"schemaVersion": 2, "layers": [descriptor(layer) for layer in layers]}
    if change:
        change(manifest)
    manifest = json.dumps(manifest).encode()
    index = json.dumps({"schemaVersion": 2, "manifests": [descriptor(manifest, "manifest.v1+json"), *more]}).encode()
    blobs = {blob(data): data for data in (*layers, manifest) if data not in leave_out}
    return [*blobs.items(), ("index.json", index), ("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')]


def docker(*layers, names=None):
    """The members that `docker save` wrote until release 24."""
    ids = [hashlib.sha256(layer).hexdigest() + "/layer.tar" for layer in layers]
    members = [member for name, layer in dict(zip(ids, layers)).items() for member in (folder(name[:64]), (name[:64] + "/VERSION", b"1.0"), (name, layer))]
    return [*members, ("manifest.json", json.dumps([{"Config": "c.json", "RepoTags": ["a:b"], "Layers": names or ids}]).encode())]


class SavedImages(Archives):
    def judged(self, *layers, form=oci):
        """The exit status, and the paths in the image that are judged, with the number of their layer."""
        self.write("image.tar", tar(*form(*[tar(*layer) for layer in layers])))
        code, found, text = self.verify("image.tar")
        self.assertEqual(json.loads(text)[0], [], text)
        paths = []
        for member in found:
            self.assertRegex(member, r"^layer \d+ \S+\(.*\)$")
            label, path = member[:-1].split("(", 1)
            paths.append(label.split()[1] + ":" + path)
        return code, *sorted(paths)

    def test_layers_in_order(self):
        for form in (oci, docker):
            new, old = ("lib/x.so", self.new), ("lib/x.so", self.old)
            self.assertEqual(self.judged([old], [new], form=form), (0, "2:lib/x.so"))
            self.assertEqual(self.judged([new], [old], form=form), (1, "2:lib/x.so"))
            self.assertEqual(self.judged([("a.so", self.old)], [("b.so", self.new)], form=form), (1, "1:a.so", "2:b.so"))

    def test_packed(self):
        layers = [gzip.compress(tar(("x.so", self.old))), tar((".wh.x.so", b""), ("y.so", self.new))]
        for data in (tar(*oci(*layers)), gzip.compress(tar(*docker(*layers)))):
            self.write("image.tar", data)
            self.assertEqual(self.verify("image.tar")[0], 0)

    def test_whiteouts(self):
        old = [("usr/lib/a/x.so", self.old), ("usr/lib/y.so", self.new)]
        for gone in ("usr/lib/a/.wh.x.so", "usr/lib/.wh.a", "usr/.wh.lib", ".wh.usr", "usr/lib/a/.wh..wh..opq", "usr/.wh..wh..opq", ".wh..wh..opq",
                     "./usr/lib/a/.wh.x.so", "/usr/lib/a/.wh.x.so"):
            self.assertNotIn("1:usr/lib/a/x.so", self.judged(old, [(gone, b""), ("z.so", self.new)]), gone)
        for other in ("usr/lib/.wh.x.so", "usr/lib/a/.wh.x", "usr/lib/a/.wh.", "usr/lib/a/.wh...", "usr/lib/a/.wh..", "usr/lib/a/.wh..wh.plnk", "../.wh.usr", ".wh.us"):
            self.assertIn("1:usr/lib/a/x.so", self.judged(old, [(other, b"")]), other)

    def test_a_whiteout_is_for_the_layers_below(self):
        self.assertEqual(self.judged([("a/x.so", self.old)], [("a/.wh.x.so", b""), ("a/x.so", self.new)]), (0, "2:a/x.so"))
        self.assertEqual(self.judged([("a/x.so", self.new)], [("a/.wh..wh..opq", b""), ("a/y.so", self.old)]), (1, "2:a/y.so"))
        self.assertEqual(self.judged([("a/.wh.x.so", b"")], [("a/x.so", self.old)]), (1, "2:a/x.so"))
        self.assertEqual(self.judged([("x.so", self.old)], [(".wh.x.so", b"")], [("x.so", self.new)]), (0, "3:x.so"))

    def test_replaced_by_another_kind(self):
        old = [("a/x.so", self.old), ("keep.so", self.new)]
        self.assertEqual(self.judged(old, [("a/x.so", "elsewhere")]), (0, "1:keep.so"))
        self.assertEqual(self.judged(old, [("a", "elsewhere")]), (0, "1:keep.so"))
        self.assertEqual(self.judged(old, [folder("a/x.so")]), (0, "1:keep.so"))
        self.assertEqual(self.judged(old, [folder("a")]), (1, "1:a/x.so", "1:keep.so"))

    def test_written_through_a_link_to_a_folder(self):
        """Who unpacks the layer follows its link: the file stands elsewhere, and what takes the link away leaves it."""
        lower = [("n.so", self.new), folder("usr/lib"), ("lib", "usr/lib"), ("lib/o.so", self.old)]
        for upper in ([(".wh.lib", b"")], [("lib", "usr/lib64")], [folder("lib"), ("lib/o.so", self.new)]):
            self.assertEqual(self.judged(lower, upper)[0], 1, upper)
        lower = [("n.so", self.new), ("a/o.so", self.old), ("l", "a"), hard_link("b.so", "l/o.so")]
        self.assertEqual(self.judged(lower, [(".wh.a", b"")])[0], 1)

    def test_links_to_nothing(self):
        for link in (hard_link("b.so", "gone.so"), ("b.so", "gone.so"), ("lib/b.so", "/lib/gone.so")):
            for form in (oci, docker):
                for more, status in (((), 2), ((("n.so", self.new),), 0)):
                    self.write("image.tar", tar(*form(tar(*more, link))))
                    code, _, text = self.verify("image.tar")
                    self.assertEqual((code, "b.so" in text), (status, True), (link, text))
        lower = [("lib/a.so", self.new)]
        self.assertEqual(self.judged(lower, [("lib/b.so", "/lib/a.so"), hard_link("lib/c.so", "lib/a.so"), ("d.so", "lib/b.so")]), (0, "1:lib/a.so"))

    def test_an_index_beside_manifest_json(self):
        """containerd writes one platform into manifest.json, and all of them into the index."""
        new, old = tar(("n.so", self.new)), tar(("o.so", self.old))
        manifest = json.dumps([{"Config": "c.json", "RepoTags": [], "Layers": [blob(new)]}]).encode()
        self.check("i.tar", tar(*oci(old), (blob(new), new), ("manifest.json", manifest)), 1, *self.members_of(*oci(old), (blob(new), new), ("manifest.json", manifest)))
        absent = descriptor(b"another platform", "manifest.v1+json")
        self.assertEqual(len(self.members_of(*oci(new, more=[absent]), ("manifest.json", manifest))), 1)
        self.assertEqual(self.verify("i.tar")[0], 0)
        self.write("i.tar", tar(*oci(new, more=[absent])))
        self.assertEqual(self.verify("i.tar")[0], 2)

    def members_of(self, *members):
        self.write("i.tar", tar(*members))
        return list(self.verify("i.tar")[1])

    def test_files_beside_a_layout(self):
        for name, data in oci(tar(("n.so", self.new))):
            (self.folder / "layout" / name).parent.mkdir(parents=True, exist_ok=True)
            self.write("layout/" + name, data)
        self.assertEqual(self.verify("layout")[0], 0)
        for name in ("old.so", "lib/old.so"):
            (self.folder / "layout/lib").mkdir(exist_ok=True)
            self.write("layout/" + name, self.old)
            self.assertEqual(self.verify("layout")[0], 1, name)
            (self.folder / "layout" / name).unlink()

    def test_another_name_keeps_the_bytes(self):
        lower = [("a.so", self.old), hard_link("b.so", "a.so")]
        self.assertEqual(self.judged(lower, [(".wh.a.so", b"")]), (1, "1:a.so"))
        self.assertEqual(self.judged([("a.so", self.old)], [hard_link("b.so", "a.so")], [(".wh.a.so", b"")]), (1, "1:a.so"))
        self.assertEqual(self.judged([*lower, ("c.so", self.new)], [(".wh.a.so", b""), (".wh.b.so", b"")]), (0, "1:c.so"))

    def test_names_that_lead_out_delete_nothing(self):
        self.assertEqual(self.judged([("../x/a.so", self.old)], [("../.wh.x", b"")]), (1, "1:../x/a.so"))
        self.assertEqual(self.judged([("x/a.so", self.old)], [("../.wh.x", b""), ("../x/a.so", self.new)]), (1, "1:x/a.so", "2:../x/a.so"))

    def test_a_layer_that_was_never_written(self):
        """Zeros in place of what was packed; an empty layer is the end of a tar archive alone."""
        layer = tar(("x.so", self.new))
        for size, code in ((1024, 0), (10240, 0), (5511, 2), (30720, 2)):
            self.write("image.tar", tar(*oci(layer, bytes(size))))
            self.assertEqual(self.verify("image.tar")[0], code, size)

    def test_what_is_wrong_is_said(self):
        layer, other = tar(("x.so", self.new)), tar(("y.so", self.new))
        for members, says in (
                (oci(layer, other, leave_out=[other]), "lacks " + blob(other)),
                (oci(layer, change=lambda manifest: manifest["layers"].append(descriptor(b"nowhere"))), "is not there"),
                (oci(layer, change=lambda manifest: manifest["layers"].append({"digest": "../../etc/passwd"})), "has the digest"),
                (oci(layer, change=lambda manifest: manifest["layers"][0].update(mediaType="x.tar+encrypted")), "an encrypted layer"),
                (oci(layer, more=[descriptor(b"no manifest")]), "which its index names"),
                (oci(layer, b"text that is no layer"), "is no tar archive"),
                (oci(layer, other[:900]), "layer 2"),
                (oci(layer, gzip.compress(other)[:-20]), "layer 2"),
                ([*oci(layer), (blob(layer), other)], "stands twice in the image"),
                ([*oci(layer), oci(other)[-2]], "has index.json twice"),
                (docker(layer, names=["../x/layer.tar"]), "lacks ../x/layer.tar"),
                ([(blob(layer), layer), ("manifest.json", b"{")], "no list of images"),
                ([(blob(layer), layer), ("manifest.json", b'[{"Layers":[7]}]')], "no text")):
            self.write("image.tar", tar(*members))
            code, _, text = self.verify("image.tar")
            self.assertEqual((code, says in text), (2, True), (says, text))
        bomb = gzip.compress(gzip.compress(bytes(64)))
        zeros = gzip.compress(tar(("zeros", bytes(200 << 20))))
        self.write("image.tar", tar(*oci(layer, bomb)))
        self.assertEqual(self.verify("image.tar")[0], 2)
        self.write("image.tar.gz", gzip.compress(tar(*oci(layer, zeros, gzip.compress(tar(("more", bytes(100 << 20))))))))
        self.assertIn(self.verify("image.tar.gz")[0], (0, 2))
        whole = tar(*oci(layer, other))
        for size in range(512, len(whole) - 10240, 2048):
            self.write("image.tar", whole[:size])
            self.assertEqual(self.verify("image.tar")[0], 2, size)

    def test_several_images_and_what_is_said_of_them(self):
        old, new = tar(("x.so", self.old)), tar(("x.so", self.new))
        manifests = [json.dumps({"layers": [descriptor(layer) for layer in layers]}).encode() for layers in ([old], [old, new])]
        told = json.dumps({"layers": [descriptor(b"{}")]}).encode()
        index = {"manifests": [*map(descriptor, manifests), descriptor(told, annotations={"vnd.docker.reference.type": "attestation-manifest"})]}
        members = [(blob(data), data) for data in (old, new, *manifests, told)]
        self.write("image.tar", tar(*members, ("index.json", json.dumps(index).encode()), ("oci-layout", b"{}")))
        code, found, _ = self.verify("image.tar")
        self.assertEqual((code, len(found)), (1, 2), found)

    def test_a_layout_as_a_folder(self):
        layers = gzip.compress(tar(("x.so", self.old))), tar((".wh.x.so", b""), ("y.so", self.new))
        folder_of = self.folder / "layout"
        for name, data in oci(*layers):
            (folder_of / name).parent.mkdir(parents=True, exist_ok=True)
            (folder_of / name).write_bytes(data)
        for name in ("layout", "layout/index.json"):
            code, found, text = self.verify(name)
            self.assertEqual((code, [member.split("(")[1] for member in found]), (0, ["y.so)"]), text)
        # Of a folder that is not named itself, the layers are not read; and the way to have them is told.
        printed = self.run_archguard("verify", ".", "--device", "9.0").stdout
        self.assertIn("passed over unread: 2 layers of a container image (./layout/blobs/sha256/", printed)
        self.assertIn("fix: name the folder of the image, which has its index.json", printed)
        (folder_of / blob(layers[1])).unlink()
        code, _, text = self.verify("layout")
        self.assertEqual((code, "is not there" in text), (2, True), text)

    def test_what_is_no_image_is_an_archive(self):
        layer = tar((".wh.x", b""), ("y.so", self.new))
        self.write("t.tar", tar(("notes", b"text"), *oci(tar(("x/a.so", self.old)), layer)))
        code, found, _ = self.verify("t.tar")
        self.assertEqual((code, len(found)), (1, 2), found)


if __name__ == "__main__":
    archives.main(sys.modules[__name__])
