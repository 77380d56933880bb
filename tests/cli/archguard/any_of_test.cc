// Files of which a device needs one: --any-of.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard::test;
using Json = nlohmann::json;

namespace {

Bytes code_of(const std::vector<int>& archs) {
  FatbinBuilder fatbin;
  for (const int sm : archs)
    fatbin.cubin(sm, CubinBuilder{}
                         .sm(sm)
                         .generation7(120)
                         .kernel("gemm", sass::join({sass::store(), sass::exit()}))
                         .bytes());
  return fatbin.bytes();
}

std::string library(const std::vector<int>& archs) {
  return text_of(ElfBuilder{}.shared().section(".nv_fatbin", code_of(archs)).bytes());
}

std::string without_code() {
  return text_of(ElfBuilder{}.shared().section(".text", Bytes(16, 0xc3)).bytes());
}

struct Folder {
  TemporaryFolder folder;

  Folder() {
    folder.file("lib/libx_cuda11.so", library({60, 80}));
    folder.file("lib/libx_cuda12.so", library({80, 90}));
    folder.file("lib/libx_cpu.so", without_code());
  }
  RunOutput verify(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "verify");
    return run_archguard(arguments, folder.path());
  }
};

constexpr const char* kGlob = "libx_cuda*.so";

}  // namespace

TEST_CASE("a folder named by a dot counts neither in a path nor in a glob") {
  const Folder files;
  const auto matches = [&](const std::string& path, const char* glob) {
    const RunOutput run = files.verify({path + "libx_cuda11.so", path + "libx_cuda12.so", "--device", "6.0",
                                        "--device", "9.0", "--any-of", glob, "--brief"});
    return run.exit_code == 0;
  };
  CHECK(matches("lib/./", "lib/libx_*.so"));  // as CMake names objects
  CHECK(matches("./lib//", "lib/libx_*.so"));
  CHECK(matches("lib/", "./lib/./libx_*.so"));
  CHECK(matches(files.folder.path() + "/./lib/", (files.folder.path() + "/lib/libx_*.so").c_str()));
  CHECK_FALSE(matches("lib/./", "other/libx_*.so"));
}

TEST_CASE("a glob is matched with every end of a path, and its stars stop at folders") {
  const TemporaryFolder folder;
  folder.file("p/sm90/a.so", library({90}));
  folder.file("p/sm100/a.so", library({100}));
  folder.file("p/sm90/b.so", library({90}));
  folder.file("p/sm100/b.so", library({100}));
  const auto exit_code = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", "p", "--device", "9.0", "--device", "10.0"});
    return run_archguard(more, folder.path()).exit_code;
  };
  CHECK(exit_code({}) == 1);
  CHECK(exit_code({"--any-of", "sm*/a.so", "--any-of", "sm*/b.so"}) == 0);
  CHECK(exit_code({"--any-of", "a.so", "--any-of", "p/sm[19]*/b.so"}) == 0);
  CHECK(exit_code({"--any-of", "sm*/a.so"}) == 1);                           // b.so is asked for both devices
  CHECK(exit_code({"--any-of", "p*/a.so"}) == 2);                            // * stops at /
  CHECK(exit_code({"--any-of", "m90/a.so"}) == 2);                           // an end begins behind a /
  CHECK(exit_code({"--any-of", "*.so"}) == 0);                               // a group is what its glob says
  CHECK(exit_code({"--any-of", "sm*/*.so", "--any-of", "sm90/*.so"}) == 1);  // each glob asks
}

TEST_CASE("members of a wheel are alternatives, too") {
  const TemporaryFolder folder;
  folder.file("x.whl", text_of(ZipBuilder{}
                                   .stored("x/libx_cuda11.so", bytes_of_text(library({60})))
                                   .stored("x/libx_cuda12.so", bytes_of_text(library({90})))
                                   .bytes()));
  for (const char* glob : {"*/libx_cuda*.so", "libx_cuda*.so", "x.whl(x/libx_cuda*.so)"}) {
    const RunOutput run = run_archguard(
        {"verify", "x.whl", "--device", "6.0", "--device", "9.0", "--any-of", glob}, folder.path());
    CHECK(run.exit_code == 0);
    CHECK(run.out.find("; covered by libx_cuda12.so\n") != std::string::npos);
  }
  CHECK(run_archguard({"verify", "x.whl", "--device", "6.0", "--any-of", "x.whl"}, folder.path()).exit_code ==
        2);
}

TEST_CASE("an alternative in another wheel is none") {
  const TemporaryFolder folder;
  const auto wheel = [&](const char* name, const std::vector<int>& archs) {
    ZipBuilder zip;
    for (const int sm : archs)
      zip.stored("x/libx_sm" + std::to_string(sm) + ".so", bytes_of_text(library({sm})));
    folder.file(name, text_of(zip.bytes()));
  };
  wheel("dist/x-cp310.whl", {80, 90});
  wheel("dist/x-cp311.whl", {80, 90});
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", "--device", "8.0", "--device", "9.0"});
    return run_archguard(more, folder.path());
  };
  const std::vector<std::string> both = {"dist/x-cp310.whl", "dist/x-cp311.whl"};
  const auto with = [&](std::vector<std::string> paths, const char* glob, const char* format) {
    paths.insert(paths.end(), {"--any-of", glob, "--format", format, "--brief"});
    return run(paths);
  };
  CHECK(with(both, "libx_sm*.so", "text").exit_code == 0);
  wheel("dist/x-cp311.whl", {90});  // a broken build
  for (const char* glob : {"libx_sm*.so", "x/libx_sm*.so", "x-cp*.whl(x/libx_sm*.so)"}) {
    CHECK(with(both, glob, "text").exit_code == 1);
    CHECK(with({"dist"}, glob, "text").exit_code == 1);
  }
  const std::string text = with({"dist"}, "libx_sm*.so", "text").out;
  CHECK(text.find("any of 'libx_sm*.so' in dist/x-cp310.whl, 2 files: 2 of 2 covered\n") !=
        std::string::npos);
  CHECK(text.find("any of 'libx_sm*.so' in dist/x-cp311.whl, 1 file: 1 of 2 covered\n") != std::string::npos);
  CHECK(text.find("archguard: error 209: dist/x-cp311.whl(x/libx_sm90.so)") != std::string::npos);
  CHECK(text.find("note: ") == std::string::npos);
  const Json json = Json::parse(with({"dist"}, "libx_sm*.so", "json").out);
  REQUIRE(json["any_of"].size() == 2);
  CHECK(json["any_of"][0]["in"] == "dist/x-cp310.whl");
  CHECK(json["any_of"][0]["verdict"] == "covered");
  CHECK(json["any_of"][1]["in"] == "dist/x-cp311.whl");
  CHECK(json["any_of"][1]["verdict"] == "not-covered");
  CHECK(json["any_of"][1]["files"] == Json{2});
  // A wheel with several that lack a device has an error of its own, which names it.
  wheel("dist/x-cp311.whl", {90, 100});
  CHECK(with({"dist"}, "libx_sm*.so", "text")
            .out.find(
                "archguard: error 209: any of 'libx_sm*.so' in dist/x-cp311.whl: none of 2 files covers 8.0 "
                "(--device 8.0)\n") != std::string::npos);
  // One without device code is no place where a file is missing.
  folder.file("dist/x-cp311.whl",
              text_of(ZipBuilder{}.stored("x/libx_sm90.so", bytes_of_text(without_code())).bytes()));
  CHECK(with({"dist"}, "libx_sm*.so", "text").exit_code == 0);
}

TEST_CASE("files are alternatives within the folder that was named, or that the glob reaches up to") {
  const TemporaryFolder folder;
  for (const char* package : {"a", "b"}) {
    const std::string at = package;
    folder.file(at + "/sm80/x.so", library({80}));
    folder.file(at + "/sm90/x.so", library({90}));
    folder.file(at + "/lib/x_sm80.so", library({80}));
    folder.file(at + "/lib/x_sm90.so", library({90}));
  }
  folder.file("list", "a/sm80/x.so\na/sm90/x.so\n");
  const auto run = [&](std::vector<std::string> paths, const char* glob) {
    paths.insert(paths.begin(),
                 {"verify", "--device", "8.0", "--device", "9.0", "--brief", "--any-of", glob});
    return run_archguard(paths, folder.path());
  };
  const auto covers = [&](const std::vector<std::string>& paths, const char* glob) {
    return run(paths, glob).exit_code == 0;
  };
  // Found in one folder that was named.
  CHECK(covers({"a/sm80", "a/sm90"}, "sm*/x.so"));
  CHECK(covers({"a/lib/x_sm80.so", "a/lib/x_sm90.so"}, "x_sm*.so"));
  CHECK(covers({"a/lib", "b/lib"}, "x_sm*.so"));
  CHECK(covers({"a/sm80/x.so", "a/sm90/x.so"}, "sm*/x.so"));
  CHECK(covers({"a/sm80/x.so", "a/sm90/x.so", "b/sm80/x.so", "b/sm90/x.so"}, "sm*/x.so"));
  CHECK(covers({"./a//sm80/x.so", "a/sm90/x.so"}, "sm*/x.so"));
  CHECK(covers({"a/sm80/x.so", folder.path() + "/b/sm80/x.so"}, "*.so") == false);
  CHECK(covers({"--files-from", "list"}, "sm*/x.so"));
  // In folders of which none was named, and that the glob does not name.
  CHECK_FALSE(covers({"a/sm80/x.so", "a/sm90/x.so"}, "x.so"));
  CHECK_FALSE(covers({"--files-from", "list"}, "x.so"));
  CHECK_FALSE(covers({"a/sm80/x.so", "b/sm90/x.so"}, "sm*/x.so"));
  CHECK_FALSE(covers({"a/lib/x_sm80.so", "b/lib/x_sm90.so"}, "x_sm*.so"));
  CHECK_FALSE(covers({"a/sm80", "a/sm90"}, "x.so"));
  CHECK(covers({"a/sm80/x.so", "b/sm90/x.so"}, "*/sm*/x.so"));  // who writes so means it
  const RunOutput apart = run({"a/sm80/x.so", "a/sm90/x.so"}, "x.so");
  CHECK(apart.out.find(
            "archguard: note: the files of 'x.so' stand in 2 folders, and each folder is judged by "
            "itself\n  fix: where one program picks among them all, name the folder above them as PATH, "
            "or the folders in the glob: --any-of '*/x.so'\n") != std::string::npos);
  CHECK(covers({"a/sm80/x.so", "a/sm90/x.so"}, "*/x.so"));
  folder.file("b/lib/x_sm80.so", library({90}));
  CHECK_FALSE(covers({"a/lib", "b/lib"}, "x_sm*.so"));
  CHECK(run({"a", "b"}, "x_sm*.so").out.find("any of 'x_sm*.so' in b, 2 files: 1 of 2 covered\n") !=
        std::string::npos);
  // A glob that no place has a file for.
  const RunOutput none = run({"a/lib", "b/lib"}, "y*.so");
  CHECK(none.exit_code == 2);
  CHECK(none.out.find("--any-of 'y*.so': matches no file with device code\n") != std::string::npos);
}

TEST_CASE("an image that was expected may be in any one of the alternatives") {
  const Folder files;
  const auto verify = [&](const std::string& list) {
    return files.verify({"lib", "--expect", list, "--any-of", kGlob});
  };
  CHECK(files.verify({"lib", "--expect", "60-real;90-real"}).exit_code == 1);
  CHECK(verify("60-real;90-real").exit_code == 0);
  const RunOutput run = verify("60-real;75-real");
  CHECK(run.exit_code == 1);
}

TEST_CASE("the JSON tells each file's own verdict, and the glob's") {
  const Folder files;
  const RunOutput run =
      files.verify({"lib", "--device", "6.0", "--device", "8.0", "--any-of", kGlob, "--format", "json"});
  CHECK(run.exit_code == 0);
  const Json json = Json::parse(run.out);
  CHECK(json["verdict"] == "covered");
  CHECK(json["files"][0]["path"] == "lib/libx_cpu.so");
  CHECK(json["files"][0]["any_of"] == Json::array());
  CHECK(json["files"][1]["verdict"] == "covered");
  CHECK(json["files"][2]["verdict"] == "not-covered");
  CHECK(json["files"][2]["any_of"] == Json{kGlob});
  CHECK(json["any_of"] ==
        Json::parse(R"([{"glob":"libx_cuda*.so","in":"lib","verdict":"covered","files":[1,2],
    "without_device_code":0,"results":[{"device":0,"verdict":"covered","covered_by":[1]},
                                       {"device":1,"verdict":"covered","covered_by":[1,2]}]}])"));
}

TEST_CASE("a file for another CUDA release supports a device whose driver is too old for this one") {
  const TemporaryFolder folder;
  const auto with_runtime = [](const char* runtime) {
    const Bytes cubin = CubinBuilder{}
                            .sm(80)
                            .generation7(120)
                            .kernel("gemm", sass::join({sass::store(), sass::exit()}))
                            .bytes();
    const Bytes fatbin = FatbinBuilder{}.cubin(80, cubin).bytes();
    const Bytes wrapper = ByteWriter{}.u32(0x466243b1).u32(1).zeros(16).bytes();  // registers it
    return text_of(ElfBuilder{}
                       .shared()
                       .section(".nv_fatbin", fatbin)
                       .section(".nvFatBinSegment", wrapper)
                       .needed(runtime)
                       .bytes());
  };
  folder.file("libx_cuda12.so", with_runtime("libcudart.so.12"));
  folder.file("libx_cuda13.so", with_runtime("libcudart.so.13"));
  const auto verify = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", "libx_cuda12.so", "libx_cuda13.so", "--device", "8.0@12.4"});
    return run_archguard(more, folder.path());
  };
  CHECK(verify({}).exit_code == 1);
  RunOutput run = verify({"--any-of", kGlob, "--brief"});
  CHECK(run.exit_code == 0);
  CHECK(run.out ==
        "libx_cuda12.so: 1 of 1 covered, one of 'libx_cuda*.so'\n"
        "libx_cuda13.so: 0 of 1 covered, one of 'libx_cuda*.so'\n"
        "any of 'libx_cuda*.so', 2 files: 1 of 1 covered\n");
  // A warning of one alternative says nothing where another has none.
  CHECK(verify({"--any-of", kGlob, "--driver", "warn"}).out.find("warning") == std::string::npos);
  CHECK(verify({"--driver", "warn"}).out.find("warning") != std::string::npos);
}

TEST_CASE("an alternative counts with the libraries that it needs") {
  const TemporaryFolder folder;
  const auto with = [](int sm, const char* needed) {
    const Bytes cubin = CubinBuilder{}
                            .sm(sm)
                            .generation7(120)
                            .kernel("gemm", sass::join({sass::store(), sass::exit()}))
                            .bytes();
    return text_of(ElfBuilder{}
                       .shared()
                       .section(".nv_fatbin", FatbinBuilder{}.cubin(sm, cubin).bytes())
                       .needed(needed)
                       .rpath("$ORIGIN/deps")
                       .bytes());
  };
  folder.file("a60.so", with(60, "libd60.so"));
  folder.file("a90.so", with(90, "libd90.so"));
  folder.file("deps/libd60.so", library({60, 90}));
  folder.file("deps/libd90.so", library({90}));
  const auto verify = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", "a60.so", "a90.so", "--device", "6.0", "--device", "9.0", "--any-of",
                               "*.so", "--needed"});
    return run_archguard(more, folder.path());
  };
  // Each library is asked for the device of its alternative.
  RunOutput run = verify({"--brief"});
  CHECK(run.exit_code == 0);
  CHECK(run.out.find("libd90.so, needed by a90.so: 1 of 2 covered, for one of '*.so'\n") !=
        std::string::npos);
  CHECK(run.out.find("error") == std::string::npos);
  folder.file("deps/libd90.so", library({60}));
  run = verify({"--brief"});
  CHECK(run.exit_code == 1);
  CHECK(run.out.find("none of 2 files covers 9.0 (--device 9.0)\n") != std::string::npos);
  CHECK(run.out.find("/deps/libd90.so: error 209: sm_60 cubin, no PTX\n") != std::string::npos);
  // What a file of no glob needs is no alternative.
  folder.file("deps/libd90.so", library({90}));
  folder.file("tool", text_of(ElfBuilder{}
                                  .executable()
                                  .section(".nv_fatbin", code_of({60, 90}))
                                  .needed("a60.so")
                                  .rpath("$ORIGIN")
                                  .bytes()));
  run = verify({"tool", "--brief"});
  CHECK(run.exit_code == 1);
  CHECK(run.out.find("a60.so: 1 of 2 covered\n") != std::string::npos);
}

TEST_CASE("waivers, --require and --scope hold for each alternative") {
  const Folder files;
  const auto exit_code = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"lib", "--device", "6.0", "--device", "9.0", "--any-of", kGlob});
    return files.verify(more).exit_code;
  };
  CHECK(exit_code({"--require", "sass"}) == 0);
  CHECK(exit_code({"--require-ptx"}) == 1);
  CHECK(exit_code({"--scope", "library"}) == 0);
  // The image for 9.0 lacks a kernel that the one for 8.0 has.
  const auto cubin = [](int sm, bool both) {
    auto builder =
        CubinBuilder{}.sm(sm).generation7(120).kernel("gemm", sass::join({sass::store(), sass::exit()}));
    if (both) builder.kernel("scale", sass::join({sass::store(), sass::exit()}));
    return builder.bytes();
  };
  files.folder.file(
      "lib/libx_cuda12.so",
      text_of(ElfBuilder{}
                  .shared()
                  .section(".nv_fatbin",
                           FatbinBuilder{}.cubin(80, cubin(80, true)).cubin(90, cubin(90, false)).bytes())
                  .bytes()));
  const RunOutput run =
      files.verify({"lib", "--device", "6.0", "--device", "9.0", "--any-of", kGlob, "--brief"});
  CHECK(run.exit_code == 1);
  CHECK(run.out.find("  libx_cuda12.so: error 500: ") != std::string::npos);
  files.folder.file("waivers.csv", "scale,9.0,not launched there\n");
  CHECK(exit_code({"--waivers", "waivers.csv"}) == 0);
}

TEST_CASE("a hint names the glob of images in one folder that cover all devices together") {
  const TemporaryFolder folder;
  const auto image = [](int sm) {
    return text_of(CubinBuilder{}
                       .sm(sm)
                       .generation7(120)
                       .kernel("gemm", sass::join({sass::store(), sass::exit()}))
                       .bytes());
  };
  folder.file("gemm_sm80.cubin", image(80));
  folder.file("gemm_sm90a.cubin", image(90));
  const std::vector<std::string> command = {"verify", ".", "--device", "8.0", "--device", "9.0", "--brief"};
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = command;
    all.insert(all.end(), more.begin(), more.end());
    return run_archguard(all, folder.path());
  };
  const RunOutput apart = run({});
  CHECK(apart.exit_code == 1);
  const RunOutput together = run({"--any-of", "./gemm_sm*.cubin"});
  CHECK(together.exit_code == 0);
  CHECK(together.out.find("hint") == std::string::npos);
  CHECK(run({"--device", "12.0"}).out.find("hint") == std::string::npos);  // that none covers
  folder.file("gemm_sm80.cubin", text_of(code_of({80, 90})));
  CHECK(run({}).out.find("hint") == std::string::npos);  // one is enough by itself
}
