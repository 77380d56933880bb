#include <doctest/doctest.h>

#include "installed/owners.h"
#include "support/builders/zip_builder.h"

using namespace archguard;
using archguard::test::ZipBuilder;

namespace {

test::Bytes bytes_of_string(const std::string& text) {
  return {text.begin(), text.end()};
}

ZipBuilder wheel(const std::string& name, const std::string& record) {
  return ZipBuilder{}
      .stored("lib/a.so", bytes_of_string("a"))
      .deflated(name + "-2.7.dist-info/METADATA", bytes_of_string("Name: " + name + "\n"))
      .deflated(name + "-2.7.dist-info/RECORD", bytes_of_string(record));
}

std::string owners(const ZipBuilder& zip, const std::vector<std::string>& members) {
  const test::Bytes bytes = zip.bytes();
  const Owners found = owners_in_zip(MemorySource(bytes), "w.whl", members);
  std::string text;
  for (std::size_t i = 0; i < members.size(); ++i)
    text += members[i] + ": " + (found.of[i] ? to_string(*found.of[i]) : "nobody's") + "\n";
  for (const Error& error : found.errors) text += error.text() + "\n";
  return text;
}

}  // namespace

TEST_CASE("members of a wheel are those of its RECORD") {
  CHECK(owners(wheel("torch", "lib/a.so,,\n"), {"lib/a.so", "lib/b.so"}) ==
        "lib/a.so: torch 2.7 (pip)\nlib/b.so: nobody's\n");
  CHECK(owners(ZipBuilder{}.stored("a.so", {}), {"a.so"}) == "a.so: nobody's\n");
}

TEST_CASE("those of wheels in a zip file are its members, too") {
  const auto zip = ZipBuilder{}
                       .stored("x.whl", wheel("x", "lib/a.so,,\n").bytes())
                       .deflated("y.whl", wheel("y", "lib/a.so,,\n").bytes());
  CHECK(owners(zip, {"x.whl(lib/a.so)", "y.whl(lib/a.so)", "z.whl(lib/a.so)", "x.whl"}) ==
        "x.whl(lib/a.so): x 2.7 (pip)\ny.whl(lib/a.so): y 2.7 (pip)\nz.whl(lib/a.so): nobody's\n"
        "x.whl: nobody's\n");
}

TEST_CASE("several distributions in one zip file, as pex has them") {
  const auto zip =
      ZipBuilder{}
          .stored(".deps/a.whl/a-1.dist-info/RECORD", bytes_of_string("a.so,,\n"))
          .stored(".deps/b.whl/b-2.dist-info/RECORD", bytes_of_string("../c/c.so,,\n../../../x,,\n"));
  CHECK(owners(zip, {".deps/a.whl/a.so", ".deps/c/c.so", "a.so"}) ==
        ".deps/a.whl/a.so: a 1 (pip)\n.deps/c/c.so: b 2 (pip)\na.so: nobody's\n");
}

TEST_CASE("a RECORD that cannot be read is named") {
  const auto zip = wheel("torch", "lib/a.so,,\n").checksum(1);
  const std::string text = owners(zip, {"lib/a.so"});
  CHECK(text.find("lib/a.so: nobody's\nw.whl(torch-2.7.dist-info/RECORD): ") == 0);
  CHECK(owners(wheel("torch", "\"lib/a.so\n"), {"lib/a.so"}) ==
        "lib/a.so: nobody's\n"
        "w.whl(torch-2.7.dist-info/RECORD): line 1 has a quote that does not end; it was passed over\n");
}
