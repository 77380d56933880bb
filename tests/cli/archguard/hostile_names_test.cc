// Names that others chose do nothing to a terminal, to a log, or to whoever reads it.
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/stat.h>

#include "base/printable.h"
#include "base/text.h"
#include "running.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

const std::string kForged = "app: 3 of 3 covered";
const std::vector<std::string> kHostile = {
    "\x1b[2K\r" + kForged,
    "x\n" + kForged,
    "x\n::error title=x::y",
    "::warning title=x::y",
    "a ##[error]b",
    "\u202ederevoc\u202c",
    "\u2066covered\u2069",
    "a\xff\xfe",
    "\xc2\x9b"
    "2K",
    "\x1b]0;title\x07",
    "\u2028" + kForged,
    "\x1b[1A\x1b[2K" + kForged,
    "\x1b[8mhidden",
    "\x1b[32mgood\x1b[0m",
};

std::string chars_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

void check_harmless(const RunOutput& run) {
  for (const std::string& text : {run.out, run.err}) {
    CAPTURE(text);
    CHECK(is_utf8(text));
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < ' ' && c != '\n') FAIL_CHECK("a control character");
    }
    for (const auto* each : {"\x7f", "\u202e", "\u202c", "\u2066", "\u2069", "\u2028", "\u009b", "##["})
      CHECK(text.find(each) == std::string::npos);
    for (const auto line : split(text, '\n')) {
      CHECK_FALSE(starts_with(trim(line), "::"));
      CHECK_FALSE(starts_with(line, kForged));
    }
  }
}

Bytes library_with(const std::string& kernel) {
  const Bytes code = sass::join({sass::store(), sass::exit()});
  const Bytes fatbin = FatbinBuilder{}
                           .cubin(80, CubinBuilder{}.sm(80).kernel(kernel, code).kernel("k", code).bytes())
                           .identifier(kernel)
                           .cubin(90, CubinBuilder{}.sm(90).kernel("k", sass::exit()).bytes())
                           .bytes();
  return ElfBuilder{}.section(".nv_fatbin", fatbin).bytes();
}

}  // namespace

TEST_CASE("names of kernels, files and members are shown, and do nothing") {
  for (const std::string& name : kHostile) {
    const TemporaryFolder folder;
    const std::string library = folder.file(name + ".so", chars_of(library_with(name)));
    folder.file("cut.so", chars_of(library_with(name)).substr(0, 300));
    const std::string archive =
        folder.file("a.a", chars_of(ArchiveBuilder{}
                                        .member(name.substr(0, name.find('\n')), library_with(name))
                                        .member("b.o", bytes_of_text("\x7f"
                                                                     "ELF"))
                                        .bytes()));
    const std::string wheel = folder.file("a.whl", chars_of(ZipBuilder{}
                                                                .deflated(name, library_with(name))
                                                                .method(99)
                                                                .stored(name + "/b.so", library_with(name))
                                                                .bytes()));
    const std::string empty = folder.file(name + ".none", "");
    for (const std::string& path :
         {library, archive, wheel, folder.path(), empty, folder.path() + "/no" + name}) {
      check_harmless(
          run_archguard({"verify", path, "--device", "8.0", "--device", "9.0", "--device", "10.0"}));
      check_harmless(run_archguard({"verify", path, "--device", "9.0", "--hollow", "error", "--brief"}));
      check_harmless(run_archguard({"verify", path, "--expect", "100-real", "--target", name}));
      for (const char* by : {"arch", "kernel", "container"})
        check_harmless(run_archguard({"inspect", path, "--kernels", "--by", by}));
    }
    check_harmless(run_archguard({"verify", std::filesystem::path(library).filename(), "--device", "9.0"},
                                 folder.path()));
    check_harmless(run_archguard({"inspect", name + ".none"}, folder.path()));
    check_harmless(run_archguard({"verify", folder.path(), "--device", "12.0", "--any-of", name + "*"}));
    check_harmless(run_archguard({name}));
    check_harmless(run_archguard({"verify", library, "--" + name}));
  }
}

TEST_CASE("what fleets, waivers and needed libraries say is shown, and does nothing") {
  for (const std::string& name : kHostile) {
    const TemporaryFolder folder;
    const std::string library = folder.file("a.so", chars_of(library_with("k")));
    const std::string fleet =
        folder.file(name + ".csv", "name, compute_cap, excluded\n\"" + name + "\", 12.0,\n\"" + name +
                                       "\", 9.0, \"" + name + "\"\n\"" + name + "\", [N/A],\n");
    check_harmless(run_archguard({"verify", library, "--fleet", fleet}));
    const std::string wrong = folder.file("wrong.csv", "name, compute_cap\nx, \"" + name + "\"\n");
    check_harmless(run_archguard({"verify", library, "--fleet", wrong}));
    const std::string waivers = folder.file(name + ".waivers", "\"" + name + "\", 9.0, \"" + name + "\"\n");
    check_harmless(run_archguard({"verify", library, "--device", "9.0", "--waivers", waivers}));
    check_harmless(run_archguard({"verify", library, "--device", "9.0", "--waivers", wrong}));
    const std::string needing =
        folder.file("needing.so",
                    chars_of(ElfBuilder{}.section(".nv_fatbin", {}).needed(name).rpath("/" + name).bytes()));
    check_harmless(run_archguard({"verify", needing, "--device", "9.0", "--needed"}));
    check_harmless(run_archguard({"inspect", needing, "--needed"}));
  }
}

TEST_CASE("JSON keeps the bytes of names that are not UTF-8") {
  const TemporaryFolder folder;
  const std::string name = "a\xff\n", bytes = "61ff0a";
  const std::string library = folder.file("\xfe.so", chars_of(library_with(name)));
  const auto verify = nlohmann::json::parse(
      run_archguard({"verify", "\xfe.so", "--device", "9.0", "--format", "json"}, folder.path()).out);
  const auto& file = verify["files"][0];
  CHECK(file["path"] == "\ufffd.so");
  CHECK(file["path_bytes"] == "fe2e736f");
  CHECK_FALSE(file.contains("member_bytes"));
  const auto& kernels = file["results"][0]["kernels"];
  CHECK(kernels["missing"] == nlohmann::json{"a\ufffd\n"});
  CHECK(kernels["missing_bytes"] == nlohmann::json{bytes});
  CHECK_FALSE(kernels.contains("hollow_bytes"));

  const auto inspect = nlohmann::json::parse(
      run_archguard({"inspect", "\xfe.so", "--kernels", "--format", "json"}, folder.path()).out);
  const auto& object = inspect["files"][0];
  CHECK(object["path_bytes"] == "fe2e736f");
  const auto& image = object["containers"][0]["images"][0];
  CHECK(image["identifier_bytes"] == bytes);
  CHECK(image["kernels"][0]["name_bytes"] == bytes);
  CHECK_FALSE(image["kernels"][1].contains("name_bytes"));
}
