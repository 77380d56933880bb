#include "container/pe_imports.h"

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
