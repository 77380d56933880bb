#include <doctest/doctest.h>

#include "image/ptx_text.h"
#include "reading.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("a file is what its bytes say") {
  const auto format_of = [](const test::Bytes& bytes) { return read(bytes, "t").objects.at(0).format; };
  CHECK(format_of(FatbinBuilder{}.cubin(80, filler(8)).bytes()) == HostFormat::fatbin);
  CHECK(format_of(CubinBuilder{}.bytes()) == HostFormat::cubin);
  CHECK(format_of(bytes_of_text("// made by hand\n.version 9.0\n.target sm_80\n")) == HostFormat::ptx);
}

TEST_CASE("PTX is PTX below a comment of any length that a licence has, and a preprocessor's line") {
  const auto is_ptx = [](const std::string& text) {
    const HostFile file = read(bytes_of_text(text), "t.ptx");
    CHECK(file.recognized == !file.objects.empty());
    return file.recognized && file.objects[0].format == HostFormat::ptx;
  };
  const std::string module = ".version 9.0\n.target sm_80\n";
  CHECK(is_ptx("# 1 \"k.cu\"\n" + module));
  for (const std::size_t length : {4080, 4090, 4095, 4096, 20'000, 1'000'000}) {
    CHECK(is_ptx("/*" + std::string(length, 'x') + "*/" + module));
    CHECK(is_ptx("//" + std::string(length, 'x') + "\n" + module));
    CHECK(is_ptx(std::string(length, ' ') + module));
    CHECK_FALSE(is_ptx("/*" + std::string(length, 'x') + "*/int main() {}"));
    CHECK_FALSE(is_ptx("/*" + std::string(length, 'x')));
  }
  CHECK_FALSE(is_ptx("/*" + std::string(kPtxHeadMost, 'x') + "*/" + module));
}

TEST_CASE("a cubin for linking is not linked") {
  CHECK(read(CubinBuilder{}.bytes(), "t.cubin").objects[0].linked);
  CHECK_FALSE(read(CubinBuilder{}.relocatable().bytes(), "t.cubin").objects[0].linked);
}

TEST_CASE("a file of no known format is one error and not recognized") {
  const HostFile text = read(bytes_of_text("INPUT(libfoo.so.1)\n"), "libfoo.so");
  CHECK(errors_of(text) == "libfoo.so: is no ELF or PE file, archive, fat binary, cubin or PTX\n");
  CHECK_FALSE(text.recognized);
  CHECK(text.objects.empty());

  const HostFile empty = read({}, "libfoo.so");
  CHECK(errors_of(empty) == "libfoo.so: is empty\n");
  CHECK_FALSE(empty.recognized);
}

TEST_CASE("a zip file is no host file: it holds some") {
  const HostFile wheel = read(bytes_of_text("PK\3\4..."), "t.whl");
  CHECK(errors_of(wheel) == "t.whl: is a zip file, whose members are files of their own\n");
  CHECK(wheel.errors[0].fix == "unpack it and name the folder");
  CHECK(wheel.recognized);
}
