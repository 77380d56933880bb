#include "loader/needed.h"

#include <doctest/doctest.h>
#include <filesystem>

#include "base/text.h"
#include "cache_builder.h"
#include "support/builders/elf_builder.h"
#include "support/run_process/run_process.h"

using namespace archguard;
using namespace archguard::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(const test::Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

// Files of a made-up system. Paths in what it says begin with "<>" instead of the temporary folder.
class System {
 public:
  System() {
    folders_.cache = root_.path() + "/ld.so.cache";
    folders_.defaults = {root_.path() + "/default"};
  }

  System& file(const std::string& path, const ElfBuilder& elf) { return file(path, text_of(elf.bytes())); }
  System& file(const std::string& path, const std::string& content) {
    fs::create_directories(fs::path(root_.path() + "/" + path).parent_path());
    root_.file(path, content);
    return *this;
  }
  System& link(const std::string& to, const std::string& path) {
    fs::create_directories(fs::path(root_.path() + "/" + path).parent_path());
    fs::create_symlink(to, root_.path() + "/" + path);
    return *this;
  }
  System& cache(const std::vector<CacheEntry>& entries) {
    std::vector<CacheEntry> whole = entries;
    for (CacheEntry& entry : whole) entry.path = at(entry.path);
    return file("ld.so.cache", text_of(cache_of(whole)));
  }
  System& library_path(const std::string& text) {
    folders_.library_path = text;
    return *this;
  }
  System& sysroot(const std::string& path) {
    folders_ = {};
    folders_.sysroot = at(path);
    return *this;
  }
  System& rpath_link(const std::string& path) {
    folders_.rpath_link.push_back(at(path));
    return *this;
  }
  std::string at(const std::string& path) const { return root_.path() + "/" + path; }

  NeededLibraries run(const std::string& path) const { return needed_libraries(at(path), folders_); }

  // "libfoo.so <>/lib/libfoo.so", one a line; "- libbar.so: <>/a, <>/b" for one that is not found.
  std::string found(const std::string& path) const {
    const NeededLibraries all = run(path);
    std::string text;
    for (const NeededLibrary& library : all.found) text += library.name + " " + library.path + "\n";
    for (const MissingLibrary& library : all.missing)
      text += "- " + library.name + ": " + join(library.searched, ", ") + "\n";
    for (const std::string& name : all.passed_over) text += "passed over " + name + "\n";
    for (const Error& error : all.errors) text += "error: " + error.text() + "\n";
    return shown(text);
  }

  // The paths beside those found that the answer rests on.
  std::string tried(const std::string& path) const { return shown(join(run(path).tried, ", ")); }

 private:
  std::string shown(std::string text) const {
    for (auto at = text.find(root_.path()); at != std::string::npos; at = text.find(root_.path()))
      text.replace(at, root_.path().size(), "<>");
    return text;
  }

  TemporaryFolder root_;
  LoaderFolders folders_;
};

ElfBuilder needs(const std::string& name) {
  return ElfBuilder{}.needed(name);
}

}  // namespace

TEST_CASE("the order: RPATH, LD_LIBRARY_PATH, RUNPATH, the cache, the default folders") {
  System system;
  system.library_path(system.at("env")).cache({{"liba.so", "cached/liba.so"}});
  system.file("by_rpath", needs("liba.so").rpath(system.at("r")))
      .file("by_runpath", needs("liba.so").runpath(system.at("r")));
  const std::string places = "<>/env, <>/r, <>/ld.so.cache, <>/default";
  CHECK(system.found("by_runpath") == "- liba.so: " + places + "\n");
  CHECK(system.found("by_rpath") == "- liba.so: <>/r, <>/env, <>/ld.so.cache, <>/default\n");
  for (const char* folder : {"default", "cached", "r", "env"}) {
    system.file(std::string(folder) + "/liba.so", ElfBuilder{});
    CHECK(system.found("by_runpath") == "liba.so <>/" + std::string(folder) + "/liba.so\n");
  }
  CHECK(system.found("by_rpath") == "liba.so <>/r/liba.so\n");
}

TEST_CASE("an RPATH serves what the file's libraries need too, a RUNPATH only the file itself") {
  System system;
  system.file("lib/liba.so", needs("libb.so")).file("lib/libb.so", ElfBuilder{});
  system.file("by_rpath", needs("liba.so").rpath(system.at("lib")));
  CHECK(system.found("by_rpath") == "liba.so <>/lib/liba.so\nlibb.so <>/lib/libb.so\n");
  system.file("by_runpath", needs("liba.so").runpath(system.at("lib")));
  CHECK(system.found("by_runpath") == "liba.so <>/lib/liba.so\n- libb.so: <>/ld.so.cache, <>/default\n");
  // A library with a RUNPATH does not use the RPATH of its loader, and a RUNPATH beats the RPATH beside it.
  system.file("lib/liba.so", needs("libb.so").runpath(system.at("none")));
  CHECK(system.found("by_rpath") ==
        "liba.so <>/lib/liba.so\n- libb.so: <>/none, <>/ld.so.cache, <>/default\n");
  system.file("both", needs("libb.so").rpath(system.at("lib")).runpath(system.at("none")));
  CHECK(system.found("both") == "- libb.so: <>/none, <>/ld.so.cache, <>/default\n");
}

TEST_CASE("$ORIGIN is the program's folder without links, and a library's as it was found") {
  System system;
  system.file("app/bin/tool", needs("liba.so").interpreter("/ld.so").runpath("$ORIGIN/../lib"));
  system.link("../app/bin/tool", "bin/tool");
  system.file("app/lib/liba.so", needs("libb.so").runpath("${ORIGIN}/$LIB:$ORIGIN/$PLATFORM"));
  system.file("app/bin/../lib/x86_64/libb.so", ElfBuilder{});
  CHECK(system.found("bin/tool") ==
        "liba.so <>/app/bin/../lib/liba.so\nlibb.so <>/app/bin/../lib/x86_64/libb.so\n");
  // A library that is looked at by itself is taken as it is named.
  system.file("real/libtop.so", needs("libc1.so").runpath("$ORIGIN")).file("links/libc1.so", ElfBuilder{});
  system.link("../real/libtop.so", "links/libtop.so");
  CHECK(system.found("links/libtop.so") == "libc1.so <>/links/libc1.so\n");
}

TEST_CASE("files of another class or machine are passed over; damaged ones are taken, as the loader would") {
  System system;
  system.library_path(system.at("a") + ":" + system.at("b") + ";" + system.at("c") + ":" + system.at("d"));
  system.file("tool", needs("liba.so").needed("libbad.so").needed("libtext.so"));
  system.file("a/liba.so", ElfBuilder{}.bits32()).file("b/liba.so", ElfBuilder{}.machine(183));
  fs::create_directories(system.at("c/liba.so"));  // a folder
  system.file("d/liba.so", ElfBuilder{});
  system.file("d/libbad.so", ElfBuilder{}.needed("")).file("d/libtext.so", "INPUT(x)");
  CHECK(system.found("tool") ==
        "liba.so <>/d/liba.so\nlibbad.so <>/d/libbad.so\nlibtext.so <>/d/libtext.so\n"
        "error: <>/d/libbad.so: needs a library without a name\n");
}

TEST_CASE("each library once: by its name, the name it gives itself, and the file behind links; loops end") {
  System system;
  system.library_path(system.at("lib"));
  system.file("tool", needs("liba.so").needed("liba.so").needed("liba.so.1").needed("libb.so"));
  system.file("lib/liba.so", needs("libb.so").soname("liba.so.1"));
  system.file("lib/libb.so", needs("liba.so.1").needed("libb2.so")).link("libb.so", "lib/libb2.so");
  CHECK(system.found("tool") == "liba.so <>/lib/liba.so\nlibb.so <>/lib/libb.so\n");
  CHECK(system.run("tool").found[1].needed_by == system.at("tool"));
}

TEST_CASE("a sysroot stands before the paths of its system: its folders, its cache, RPATHs into it") {
  System system;
  system.sysroot("sysroot");
  system.file("tool",
              needs("liba.so").needed("libb.so").needed("libd.so").runpath("/opt:" + system.at("build")));
  system.file("sysroot/opt/liba.so", ElfBuilder{})
      .file("build/libb.so", needs("libc1.so").needed("libm.so.6"));
  system.file("sysroot/lib/x86_64-linux-gnu/libc1.so", ElfBuilder{});
  system.file("sysroot/etc/ld.so.cache", text_of(cache_of({{"libd.so", "/d/libd.so"}})));
  system.file("sysroot/d/libd.so", ElfBuilder{});
  CHECK(system.found("tool") ==
        "liba.so <>/sysroot/opt/liba.so\nlibb.so <>/build/libb.so\nlibd.so <>/sysroot/d/libd.so\n"
        "libc1.so <>/sysroot/lib/x86_64-linux-gnu/libc1.so\npassed over libm.so.6\n");
}

TEST_CASE("what stands in subfolders for newer processors is found beside the plain library") {
  System system;
  const std::string v3 = "glibc-hwcaps/x86-64-v3/", v2 = "glibc-hwcaps/x86-64-v2/";
  system.library_path(system.at("env"))
      .cache({{"libc1.so", "c/" + v3 + "libc1.so"}, {"libc1.so", "c/libc1.so"}});
  system.file("tool", needs("liba.so").needed("libb.so").needed("libc1.so"));
  system.file("env/" + v3 + "liba.so", needs("libd.so")).file("env/" + v2 + "liba.so", "damaged");
  system.file("env/glibc-hwcaps/x86-64-v9/liba.so", ElfBuilder{}).file("default/liba.so", ElfBuilder{});
  system.file("env/" + v3 + "libb.so", ElfBuilder{}).file("default/libd.so", ElfBuilder{});
  system.file("c/" + v3 + "libc1.so", ElfBuilder{}).file("c/libc1.so", ElfBuilder{});
  CHECK(system.found("tool") ==
        "liba.so <>/default/liba.so\nliba.so <>/env/" + v3 + "liba.so\nliba.so <>/env/" + v2 +
            "liba.so\nlibb.so <>/env/" + v3 + "libb.so\nlibc1.so <>/c/libc1.so\nlibc1.so <>/c/" + v3 +
            "libc1.so\nlibd.so <>/default/libd.so\n- libb.so: <>/env, <>/ld.so.cache, <>/default\n");
}

TEST_CASE("the folders of the linker come last, and serve what the loader does not find") {
  System system;
  system.rpath_link("link").rpath_link("other");
  system.file("tool", needs("liba.so").needed("libb.so").needed("libc1.so"));
  system.file("default/liba.so", ElfBuilder{}).file("link/liba.so", ElfBuilder{});
  system.file("other/libb.so", ElfBuilder{});
  CHECK(system.found("tool") ==
        "liba.so <>/default/liba.so\nlibb.so <>/other/libb.so\n"
        "- libc1.so: <>/ld.so.cache, <>/default, <>/link, <>/other\n");
  CHECK(!system.run("tool").found[0].by_linker);
  CHECK(system.run("tool").found[1].by_linker);
}

TEST_CASE("a filter needs its library; an auxiliary one serves where it is found, and is not missed") {
  System system;
  system.library_path(system.at("lib"));
  system.file("lib/liba.so", ElfBuilder{});
  system.file("tool", ElfBuilder{}
                          .dynamic_text(0x7ffffffd, "visibility=hidden")
                          .dynamic_text(0x7ffffffd, "liba.so")
                          .dynamic_text(0x7fffffff, "libb.so"));
  CHECK(system.found("tool") == "liba.so <>/lib/liba.so\n- libb.so: <>/lib, <>/ld.so.cache, <>/default\n");
}

TEST_CASE("a name with a folder is a path") {
  System system;
  system.file("lib/liba.so", ElfBuilder{});
  system.file("tool", needs("$ORIGIN/lib/liba.so").needed(system.at("no/libb.so")));
  CHECK(system.found("tool") == "$ORIGIN/lib/liba.so <>/lib/liba.so\n- <>/no/libb.so: <>/no/libb.so\n");
}

TEST_CASE("DF_1_NODEFLIB leaves out the default folders, in the cache too") {
  System system;
  system.file("default/liba.so", ElfBuilder{}).file("opt/libb.so", ElfBuilder{});
  system.cache({{"liba.so", "default/liba.so"}, {"libb.so", "opt/libb.so"}});
  system.file("tool", needs("liba.so").needed("libb.so").no_default_folders());
  CHECK(system.found("tool") == "libb.so <>/opt/libb.so\n- liba.so: <>/ld.so.cache\n");
}

TEST_CASE(
    "the driver's libraries are passed over, also where they are found; those of compilers where they are "
    "not") {
  System system;
  system.library_path(system.at("lib"));
  system.file("lib/libcuda.so.1", needs("libx.so")).file("lib/libm.so.6", ElfBuilder{});
  system.file("tool", needs("libcuda.so.1")
                          .needed("libnvidia-mine.so")
                          .needed("libnvidia-ml.so.1")
                          .needed("libc.so.6")
                          .needed("libm.so.6"));
  CHECK(system.found("tool") ==
        "libm.so.6 <>/lib/libm.so.6\n- libnvidia-mine.so: <>/lib, <>/ld.so.cache, <>/default\n"
        "passed over libcuda.so.1\npassed over libnvidia-ml.so.1\npassed over libc.so.6\n");
}

TEST_CASE("what is no linked ELF file needs nothing; damage is an error") {
  System system;
  system.file("a.o", ElfBuilder{}.relocatable()).file("text", "x").file("bad", ElfBuilder{}.needed(""));
  CHECK(system.found("a.o").empty());
  CHECK(system.found("text").empty());
  CHECK(system.found("absent") == "error: <>/absent: no such file\n");
  CHECK(system.found("bad") == "error: <>/bad: needs a library without a name\n");
}

TEST_CASE("what the answer rests on: each path before the one that was taken, and the cache") {
  System system;
  system.library_path(system.at("env"));
  system.file("tool", needs("liba.so").needed("libb.so").runpath(system.at("r") + ":" + system.at("s")));
  system.file("env/liba.so", ElfBuilder{}.machine(183)).file("s/liba.so", ElfBuilder{}.soname("libother.so"));
  system.link("liba.so", "s/libb.so");
  CHECK(system.tried("tool") ==
        "<>/env/glibc-hwcaps, <>/env/liba.so, <>/env/libb.so, <>/r/glibc-hwcaps, <>/r/liba.so, <>/r/libb.so, "
        "<>/s/glibc-hwcaps, <>/s/libb.so");
  system.file("tool", needs("libc1.so"));
  CHECK(system.tried("tool") ==
        "<>/default/glibc-hwcaps, <>/default/libc1.so, <>/env/glibc-hwcaps, <>/env/libc1.so, <>/ld.so.cache");
}

TEST_CASE("a file that asks for more places than any program does is refused, soon and in little memory") {
  System system;
  std::string folders;
  for (int i = 0; i < 8000; ++i) folders += "/" + std::to_string(i % 1000) + ":";
  ElfBuilder elf;
  for (int i = 0; i < 4000; ++i) elf.needed("lib" + std::to_string(i) + ".so");
  system.file("tool", elf.runpath(folders.substr(0, 32000)));
  const NeededLibraries all = system.run("tool");
  REQUIRE(all.errors.size() == 1);
  CHECK(all.errors[0].what == "asks the loader to look into more places than are followed");
  std::size_t places = 0;
  for (const MissingLibrary& library : all.missing) places += library.searched.size();
  CHECK(places <= 2'000);
  CHECK_FALSE(all.tried_whole);
}

TEST_CASE("many libraries, each with the longest RPATH, for each other: soon") {
  // An RPATH serves what a library's libraries need: without care its thousands of folders are spelled out
  // anew for each name that each of them asks for.
  System system;
  std::string rpath = "$ORIGIN";
  while (rpath.size() < 32'000) rpath += ":$ORIGIN/$LIB/${PLATFORM}/$nothing";
  constexpr int kLibraries = 60;
  const auto name = [](int i) { return "lib" + std::to_string(i) + ".so"; };
  for (int i = 0; i < kLibraries; ++i) {
    ElfBuilder elf;
    for (int j = 0; j < 1000; ++j) elf.needed(j % 2 == 0 ? name(j % kLibraries) : name(i + 1));
    system.file("lib/" + name(i), elf.rpath(rpath));
  }
  system.file("lib/" + name(kLibraries), ElfBuilder{});
  const NeededLibraries all = system.run("lib/" + name(0));
  CHECK(all.errors.empty());
  CHECK(all.found.size() == kLibraries);
}
