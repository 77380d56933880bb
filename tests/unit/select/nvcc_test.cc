#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet_builder.h"

using namespace archguard;

namespace {

// A folder of shell scripts that answer as compilers do.
class FakeCompilers {
 public:
  FakeCompilers() {
    char pattern[] = "/tmp/archguard-nvcc-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    folder_ = pattern;
  }
  ~FakeCompilers() {
    for (const auto& path : made_) unlink(path.c_str());
    rmdir(folder_.c_str());
  }

  std::string script(const std::string& name, const std::string& body) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    chmod(path.c_str(), 0755);
    made_.push_back(path);
    return path;
  }

  // An nvcc of this release that lists these architectures.
  std::string nvcc(const std::string& release, const std::string& archs, const std::string& name = "nvcc") {
    return script(name, "for option; do :; done\ncase $option in\n--version) " + banner(release) +
                            ";;\n--list-gpu-code) for a in " + archs +
                            "; do echo sm_$a; done;;\n--list-gpu-arch) for a in " + archs +
                            "; do echo compute_$a; done;;\n*) exit 9;;\nesac\n");
  }

  static std::string banner(const std::string& release) {
    return "echo 'nvcc: NVIDIA (R) Cuda compiler driver'; echo 'Cuda compilation tools, release " + release +
           ", V" + release + ".1'";
  }

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::vector<std::string> made_;
};

std::string names(const std::vector<Arch>& archs) {
  std::string text;
  for (const Arch arch : archs) text += (text.empty() ? "" : " ") + to_string(arch);
  return text;
}

// "where: what | fix", without the changing folder name.
std::string error_of(const std::string& command, const FakeCompilers& fake) {
  const auto compiler = compiler_of_nvcc(command, std::chrono::seconds(1));
  if (compiler) return "no error";
  std::string text = compiler.error().text() + " | " + compiler.error().fix;
  const auto at = text.find(fake.folder());
  return at == std::string::npos ? text : text.replace(at, fake.folder().size(), "DIR");
}

constexpr const char* kNameIt = "name the CUDA compiler itself, for example /usr/local/cuda/bin/nvcc";

}  // namespace

TEST_CASE("the listing decides what an nvcc makes; the table adds the names with a suffix") {
  FakeCompilers fake;
  const auto path = fake.nvcc("12.9", "90 75 100");  // a stripped build, in another order
  const auto compiler = compiler_of_nvcc(path);
  REQUIRE(compiler.ok());
  CHECK(compiler->version == Version{12, 9});
  CHECK(compiler->ptx_isa == Version{8, 8});
  CHECK(names(compiler->sass) == "75 90 90a 100 100a 100f");
  CHECK(compiler->ptx == compiler->sass);
  CHECK(compiler->path == path);
}

TEST_CASE("an nvcc newer than the table keeps its own list; its ISA is not known") {
  FakeCompilers fake;
  const auto compiler = compiler_of_nvcc(fake.nvcc("14.1", "80 100 130"));
  REQUIRE(compiler.ok());
  CHECK(compiler->version == Version{14, 1});
  CHECK(compiler->ptx_isa == Version{});
  CHECK(names(compiler->sass) == "80 100 100a 100f 130");
}

TEST_CASE("arguments, quotes, blanks in the path, and PATH") {
  FakeCompilers fake;
  const auto path = fake.nvcc("12.4", "80");
  CHECK(compiler_of_nvcc(path + " -ccbin g++").ok());
  CHECK(compiler_of_nvcc("'" + path + "' -ccbin \"/opt/my g++\"").ok());
  CHECK(compiler_of_nvcc(fake.nvcc("12.4", "80", "my nvcc"))->path == fake.folder() + "/my nvcc");

  const std::string before = std::getenv("PATH");
  fake.nvcc("12.4", "80", "other-nvcc");
  setenv("PATH", (fake.folder() + ":" + before).c_str(), 1);
  const auto found = compiler_of_nvcc("other-nvcc -v");
  setenv("PATH", before.c_str(), 1);
  REQUIRE(found.ok());
  CHECK(found->path == fake.folder() + "/other-nvcc");
}

TEST_CASE("an nvcc without listings is judged by the table") {
  FakeCompilers fake;
  const auto nvcc = [&](const std::string& release) {
    return fake.script("nvcc", "case $1 in --version) " + FakeCompilers::banner(release) +
                                   ";; *) echo \"nvcc fatal   : Unknown option '$1'\" >&2; exit 1;; esac\n");
  };
  const auto old = compiler_of_nvcc(nvcc("10.2"));
  REQUIRE(old.ok());
  CHECK(names(old->sass) == "30 32 35 37 50 52 53 60 61 62 70 72 75");
  CHECK(old->path == fake.folder() + "/nvcc");
  CHECK(error_of(nvcc("7.5"), fake) ==
        "DIR/nvcc: CUDA 7.5 is no toolkit that the table knows | use a newer CUDA toolkit");
}

TEST_CASE("a program that is no nvcc") {
  FakeCompilers fake;
  CHECK(error_of(fake.script("g++", "echo; echo 'g++ (GCC) 12.2.0'"), fake) ==
        "DIR/g++: is not nvcc: its --version says 'g++ (GCC) 12.2.0' | " + std::string(kNameIt));
  CHECK(error_of(fake.script("silent", "exit 0"), fake) ==
        "DIR/silent: is not nvcc: its --version says '' | " + std::string(kNameIt));
  CHECK(error_of(fake.script("odd", FakeCompilers::banner("thirteen")), fake) ==
        "DIR/odd: is not nvcc: its --version says 'nvcc: NVIDIA (R) Cuda compiler driver' | " +
            std::string(kNameIt));
  CHECK(
      error_of(fake.script("clang++", "echo 'Debian clang version 16.0.6'"), fake) ==
      "DIR/clang++: is clang | pass it by --clang, and the nvcc of the CUDA toolkit that it uses by --nvcc");
}

TEST_CASE("an nvcc that fails, dies, lists nothing or hangs") {
  FakeCompilers fake;
  CHECK(error_of(fake.script("a", "echo 'licence expired' >&2; exit 3"), fake) ==
        "DIR/a --version: failed with exit status 3: licence expired | " + std::string(kNameIt));
  CHECK(error_of(fake.script("b", "exit 1"), fake) ==
        "DIR/b --version: failed with exit status 1 | " + std::string(kNameIt));
  CHECK(error_of(fake.script("c", "kill -SEGV $$"), fake) ==
        "DIR/c --version: died of signal 11 | reinstall this CUDA toolkit, or " + std::string(kNameIt));
  CHECK(error_of(fake.nvcc("12.4", "", "d"), fake) ==
        "DIR/d: lists no architectures for --list-gpu-code and --list-gpu-arch | " + std::string(kNameIt));
  CHECK(error_of(fake.script("e", "sleep 60"), fake) ==
        "DIR/e --version: no answer within 1 second | run this command by hand; a wrapper or a network "
        "folder may "
        "hang");
}

TEST_CASE("no program at all") {
  FakeCompilers fake;
  CHECK(error_of("archguard-no-such-nvcc", fake) ==
        "archguard-no-such-nvcc: no such program in PATH | add the CUDA toolkit's bin folder to PATH, or " +
            std::string(kNameIt));
  CHECK(error_of("/nowhere/nvcc", fake) ==
        "/nowhere/nvcc: cannot be run: No such file or directory | " + std::string(kNameIt));
  CHECK(error_of(" ", fake) == "the name of the CUDA compiler is empty | " + std::string(kNameIt));
  CHECK(error_of(fake.folder(), fake) == "DIR: cannot be run: Permission denied | " + std::string(kNameIt));
}

TEST_CASE("clang makes what both it and the toolkit know") {
  FakeCompilers fake;
  const auto clang = [&](const char* banner, const char* archs) {
    return fake.script("clang++", "case \"$*\" in --version) echo '" + std::string(banner) +
                                      "';;\n'--target=nvptx64-nvidia-cuda -print-supported-cpus')"
                                      " echo 'Available CPUs for this target:' >&2; for a in " +
                                      archs +
                                      "; do printf '\\tsm_%s\\n' $a >&2; done;;\n*) exit 9;;\nesac\n");
  };
  const Compiler toolkit = cuda("11.8");
  const auto compiler =
      compiler_of_clang(clang("Debian clang version 19.1.7 (3~deb12u1)", "20 75 80 90 90a 100"), toolkit);
  REQUIRE(compiler.ok());
  CHECK(names(compiler->sass) == "75 80 90");
  CHECK(compiler->ptx == compiler->sass);
  CHECK(name_of(*compiler) == "clang 19.1 with CUDA 11.8");
  CHECK(name_of(toolkit) == "CUDA 11.8");

  const auto fails = [&](const std::string& command) {
    const auto answer = compiler_of_clang(command, toolkit, std::chrono::seconds(1));
    std::string text = answer.ok() ? "no error" : answer.error().text() + " | " + answer.error().fix;
    const auto at = text.find(fake.folder());
    return at == std::string::npos ? text : text.replace(at, fake.folder().size(), "DIR");
  };
  CHECK(fails(clang("clang version 25.0.0git", "100 120")) ==
        "DIR/clang++: clang 25.0 with CUDA 11.8 have no architecture in common | use a newer clang, or an "
        "older CUDA "
        "toolkit");
  CHECK(fails(clang("clang version soon", "80")) ==
        "DIR/clang++: is not clang: its --version says 'clang version soon' | name a clang++ that can make "
        "CUDA code");
  CHECK(fails(fake.script("x",
                          "[ $1 = --version ] && echo clang version 14.0.6 || { echo no nvptx; exit 1; }")) ==
        "DIR/x --target=nvptx64-nvidia-cuda -print-supported-cpus: failed with exit status 1: no nvptx | "
        "name a "
        "clang++ that can make CUDA code");
  CHECK(fails("/nowhere/clang++") ==
        "/nowhere/clang++: cannot be run: No such file or directory | name a clang++ that can make "
        "CUDA code");
}
