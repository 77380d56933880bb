#include "installed/owners.h"

#include <doctest/doctest.h>
#include <filesystem>

#include "base/text.h"
#include "support/run_process/run_process.h"

using namespace archguard;
namespace fs = std::filesystem;

namespace {

// A made-up system in a temporary folder, which messages call "<>".
class System {
 public:
  System& file(const std::string& path, const std::string& content = "") {
    fs::create_directories(fs::path(at(path)).parent_path());
    root_.file(path, content);
    return *this;
  }
  System& link(const std::string& to, const std::string& path) {
    fs::create_directories(fs::path(at(path)).parent_path());
    fs::create_symlink(to, at(path));
    return *this;
  }
  System& dpkg(const std::string& package, const std::string& version, const std::string& list) {
    const std::string name = package.substr(0, package.find(':'));
    const auto colon = package.find(':');
    status_ += "Package: " + name + "\nStatus: install ok installed\nArchitecture: " +
               (colon == std::string::npos ? "amd64" : package.substr(colon + 1)) + "\nVersion: " + version +
               "\nDescription: some\n text\n\n";
    return file("var/lib/dpkg/info/" + package + ".list", list).file("var/lib/dpkg/status", status_);
  }
  System& wheel(const std::string& site, const std::string& name, const std::string& version,
                const std::string& record) {
    const std::string folder = site + "/" + name + "-" + version + ".dist-info/";
    return file(folder + "RECORD", record)
        .file(folder + "METADATA",
              "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n\nText\n");
  }
  std::string at(const std::string& path) const { return root_.path() + "/" + path; }

  // The owner of each, and the errors, a line each.
  std::string owners(const std::vector<std::string>& paths) const {
    std::vector<std::string> whole;
    for (const std::string& path : paths) whole.push_back(starts_with(path, "/") ? path : at(path));
    const Owners owners = owners_of(whole, root_.path());
    std::string text;
    for (std::size_t i = 0; i < paths.size(); ++i)
      text += paths[i] + ": " + (owners.of[i] ? to_string(*owners.of[i]) : "nobody's") + "\n";
    for (const Error& error : owners.errors) text += error.text() + "\n";
    for (auto found = text.find(root_.path()); found != std::string::npos; found = text.find(root_.path()))
      text.replace(found, root_.path().size(), "<>");
    return text;
  }

 private:
  TemporaryFolder root_;
  std::string status_;
};

const std::string kSite = "venv/lib/python3.11/site-packages";

}  // namespace

TEST_CASE("a file of a wheel belongs to the distribution whose RECORD has it") {
  System system;
  system.wheel(kSite, "torch", "2.7.1", "torch/lib/libtorch_cuda.so,sha256=abc,123\r\ntorch/__init__.py,,\n")
      .wheel(kSite, "nvidia_cublas-cu12", "12.6.4.1", "nvidia/cublas/lib/libcublas.so.12,,\n")
      .wheel(kSite, "tool", "1", "../../../bin/tool,,\n\"odd, name \"\"x\"\".so\",,\n./a/../b.so,,\n");
  CHECK(system.owners({kSite + "/torch/lib/libtorch_cuda.so", kSite + "/nvidia/cublas/lib/libcublas.so.12",
                       kSite + "/torch/own.so", "venv/bin/tool", kSite + "/odd, name \"x\".so",
                       kSite + "/b.so"}) ==
        kSite + "/torch/lib/libtorch_cuda.so: torch 2.7.1 (pip)\n" + kSite +
            "/nvidia/cublas/lib/libcublas.so.12: nvidia_cublas-cu12 12.6.4.1 (pip)\n" + kSite +
            "/torch/own.so: nobody's\nvenv/bin/tool: tool 1 (pip)\n" + kSite +
            "/odd, name \"x\".so: tool 1 (pip)\n" + kSite + "/b.so: tool 1 (pip)\n");
}

TEST_CASE("METADATA says how a distribution calls itself, and a folder without RECORD owns nothing") {
  System system;
  system.file("site/Flash_Attn-2.8.dist-info/RECORD", "f.so,,\n")
      .file("site/Flash_Attn-2.8.dist-info/METADATA", "Name: flash-attn\n\nName: other\n")
      .file("site/liar-1.dist-info/RECORD", "l.so,,\n")
      .file("site/liar-1.dist-info/METADATA", "Name: torch\n")
      .file("site/none-1.dist-info/METADATA", "Name: none\n");
  CHECK(system.owners({"site/f.so", "site/l.so", "site/n.so"}) ==
        "site/f.so: flash-attn 2.8 (pip)\nsite/l.so: liar 1 (pip)\nsite/n.so: nobody's\n"
        "<>/site/liar-1.dist-info/METADATA: names the package 'torch', its folder 'liar'\n");
}

TEST_CASE("links, of a virtual environment and of its files, lead to the same owner") {
  System system;
  system.wheel("store/x", "x", "1", "x/libx.so,,\n").file("store/x/x/libx.so");
  system.link("../store/x/x", "venv/x").link("../../store/x/x/libx.so", "other/y/liby.so");
  CHECK(system.owners({"venv/x/libx.so", "other/y/liby.so", "venv/../store/x/x/libx.so"}) ==
        "venv/x/libx.so: x 1 (pip)\nother/y/liby.so: x 1 (pip)\nvenv/../store/x/x/libx.so: x 1 (pip)\n");
}

TEST_CASE("a file of Debian's, where /lib is a link to usr/lib") {
  System system;
  system.link("usr/lib", "lib")
      .file("usr/lib/x86_64-linux-gnu/libcuda.so.1")
      .dpkg("libcuda1:amd64", "550.54-1", "/.\n/lib\n/lib/x86_64-linux-gnu/libcuda.so.1\n")
      .dpkg("libcudnn9", "9.1-1", "/usr/lib/libcudnn.so.9\n");
  CHECK(system.owners({"usr/lib/x86_64-linux-gnu/libcuda.so.1", "lib/x86_64-linux-gnu/libcuda.so.1",
                       "lib/libcudnn.so.9", "usr/lib/libother.so"}) ==
        "usr/lib/x86_64-linux-gnu/libcuda.so.1: libcuda1 550.54-1 (dpkg)\n"
        "lib/x86_64-linux-gnu/libcuda.so.1: libcuda1 550.54-1 (dpkg)\n"
        "lib/libcudnn.so.9: libcudnn9 9.1-1 (dpkg)\nusr/lib/libother.so: nobody's\n");
}

TEST_CASE("without that link /lib and /usr/lib are two folders") {
  System system;
  system.file("usr/lib/a.so").file("lib/a.so").dpkg("a", "1", "/lib/a.so\n");
  CHECK(system.owners({"usr/lib/a.so", "lib/a.so"}) == "usr/lib/a.so: nobody's\nlib/a.so: a 1 (dpkg)\n");
}

TEST_CASE("a file that was diverted stands elsewhere, and the one in its place is another package's") {
  System system;
  system.dpkg("mesa.gl", "23", "/usr/lib/libGL.so\n")
      .dpkg("glx.nvidia:amd64", "550", "/usr/lib/libGL.so\n")
      .file("var/lib/dpkg/diversions", "/usr/lib/libGL.so\n/usr/lib/mesa/libGL-old.so\nglx.nvidia\n");
  CHECK(system.owners({"usr/lib/libGL.so", "usr/lib/mesa/libGL-old.so"}) ==
        "usr/lib/libGL.so: glx.nvidia 550 (dpkg)\nusr/lib/mesa/libGL-old.so: mesa.gl 23 (dpkg)\n");
}

TEST_CASE("a file of a conda environment belongs to conda's package, though pip's list has it too") {
  System system;
  const std::string site = "env/lib/python3.11/site-packages";
  system
      .file(
          "env/conda-meta/pytorch-2.5.1-py311_0.json",
          R"({"build": "py311_0", "depends": ["files"], "files": ["lib/python3.11/site-packages/torch/lib/t.so"],
               "link": {"files": ["lib/no.so"], "name": "no"}, "name": "pytorch", "version": "2.5.1"})")
      .file("env/conda-meta/history", "text")
      .wheel(site, "torch", "2.5.1", "torch/lib/t.so,,\n")
      .wheel(site, "own", "3", "own.so,,\n");
  CHECK(system.owners({site + "/torch/lib/t.so", site + "/own.so", "env/lib/no.so"}) ==
        site + "/torch/lib/t.so: pytorch 2.5.1 (conda)\n" + site +
            "/own.so: own 3 (pip)\nenv/lib/no.so: nobody's\n");
}

TEST_CASE("what is broken or cannot be true is named, and the others answer") {
  System system;
  system.file("env/conda-meta/cut.json", R"({"name": "cut", "files": ["lib/a.so")")
      .file("env/conda-meta/nameless.json", R"({"files": ["lib/a.so"]})")
      .file("env/conda-meta/out.json",
            R"({"name": "out", "files": ["../usr/lib/b.so", "/etc/x", "lib/c.so"]})")
      .dpkg("good", "1", "/env/lib/a.so\n")
      .file("var/lib/dpkg/info/lost.list", "/env/lib/b.so\nb.so\n")
      .file("var/lib/dpkg/diversions", "/a\n/b\n")
      .wheel("env/site", "cut", "1", "\"w.so,,\nv.so,,\n")
      .wheel("env/site", "thief", "2", "v.so,,\n");
  CHECK(system.owners({"env/lib/a.so", "env/lib/b.so", "usr/lib/b.so", "env/lib/c.so", "env/site/v.so"}) ==
        "env/lib/a.so: good 1 (dpkg)\nenv/lib/b.so: lost (dpkg)\nusr/lib/b.so: nobody's\n"
        "env/lib/c.so: out (conda)\nenv/site/v.so: cut 1 (pip)\n"
        "<>/env/conda-meta/cut.json: is no JSON from byte 37 on\n"
        "<>/env/conda-meta/nameless.json: names no package\n"
        "<>/env/conda-meta/out.json: names a file outside of its environment\n"
        "<>/var/lib/dpkg/diversions: ends within a diversion\n"
        "<>/var/lib/dpkg/info/lost.list: names 'b.so', which is no path of the system\n"
        "<>/var/lib/dpkg/status: does not know the package lost, which has files\n"
        "<>/env/site/cut-1.dist-info/RECORD: line 1 has a quote that does not end; it was passed over\n"
        "<>/env/site/thief-2.dist-info/RECORD: claims /env/site/v.so, which cut 1 (pip) has already\n");
}

TEST_CASE("deep JSON, links that lead round about and pipes end") {
  System system;
  system.file("env/conda-meta/deep.json", std::string(1'000'000, '['))
      .link("b", "env/a")
      .link("a", "env/b")
      .file("env/x.dist-info/METADATA");
  fs::create_directories(system.at("env/y-1.dist-info/RECORD"));
  const std::string text = system.owners({"env/a/x.so", "env/z.so", "/nowhere/x.so", "/"});
  CHECK(text.find("env/z.so: nobody's\n") != std::string::npos);
  CHECK(text.find("/nowhere/x.so: nobody's\n") != std::string::npos);
  CHECK(text.find("deep.json: is no JSON") != std::string::npos);
  CHECK(text.find("RECORD: is ") != std::string::npos);
}

TEST_CASE("a thousand wrong lists are twenty errors") {
  System system;
  for (int i = 0; i < 100; ++i) system.file("env/conda-meta/" + std::to_string(i) + ".json", "x");
  const std::string text = system.owners({"env/a.so"});
  CHECK(split(text, '\n').size() == 1 + 20 + 1);
}
