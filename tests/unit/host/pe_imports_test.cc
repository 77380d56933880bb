#include "host/pe_imports.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "support/builders/pe_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

std::string imports_of(const test::Bytes& bytes) {
  const auto read = read_pe_imports(MemorySource(bytes));
  if (!read) return "error: " + read.error().text();
  return *read ? join(**read, " ") : "no PE image";
}

std::string functions_of(const test::Bytes& bytes) {
  std::string all;
  const Status read =
      visit_pe_functions(MemorySource(bytes), [&](std::string_view name) { all += std::string(name) + " "; });
  return read ? all : all + "error: " + read.error().text();
}

}  // namespace

TEST_CASE("the DLLs of an image, those of delayed imports last") {
  CHECK(imports_of(PeBuilder{}.imports({"KERNEL32.dll", "cudart64_13.dll"}, {"nvcuda.dll"}).bytes()) ==
        "KERNEL32.dll cudart64_13.dll nvcuda.dll");
  CHECK(imports_of(PeBuilder{}.imports({}).bytes()) == "");
  CHECK(imports_of(PeBuilder{}.section(".text", bytes_of_text("code")).bytes()) == "");
  CHECK(imports_of(PeBuilder{}.object().section(".text", bytes_of_text("code")).bytes()) == "no PE image");
  CHECK(imports_of(bytes_of_text("#!/bin/sh")) == "no PE image");
  CHECK(imports_of({}) == "no PE image");
}

TEST_CASE("an import table that is cut or points nowhere is damage") {
  const test::Bytes whole = PeBuilder{}.imports({"KERNEL32.dll"}, {"nvcuda.dll"}).bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(imports_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) ==
                "KERNEL32.dll nvcuda.dll");
  test::Bytes elsewhere = whole;
  elsewhere.at(0x80 + 4 + 20 + 112 + 8 + 2) = 0x77;  // the table's address
  CHECK(imports_of(elsewhere) == "error: import table points to 0x770000, which is in no section");
}

TEST_CASE("the functions of an image, those of delayed imports last, none that has a number alone") {
  const std::vector<PeBuilder::Library> now{{"KERNEL32.dll", {"Sleep", "", "ExitProcess"}},
                                            {"nvrtc64_120_0.dll", {"nvrtcCompileProgram"}},
                                            {"empty.dll"}};
  const std::vector<PeBuilder::Library> later{{"nvcuda.dll", {"cuInit"}}};
  const std::string all = "Sleep ExitProcess nvrtcCompileProgram cuInit ";
  CHECK(functions_of(PeBuilder{}.imports(now, later).bytes()) == all);
  CHECK(functions_of(PeBuilder{}.imports(now, later, false).bytes()) == all);
  CHECK(functions_of(PeBuilder{}.imports({}).bytes()) == "");
  CHECK(functions_of(bytes_of_text("#!/bin/sh")) == "");
  SUBCASE("what stands before damage is told") {
    const test::Bytes whole = PeBuilder{}.imports(now, later).bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string told =
          functions_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
      CHECK(all.rfind(told.substr(0, told.find("error: ")), 0) == 0);
    }
  }
  SUBCASE("more than any program has") {
    const std::vector<std::string> many(65537, "");
    CHECK(functions_of(PeBuilder{}.imports({{"x.dll", many}}).bytes()) ==
          "error: imports more than 65536 functions");
  }
}
