#include <doctest/doctest.h>

#include "base/process.h"
#include "compat/toolkit.h"
#include "fleet_builder.h"

using namespace archguard;

TEST_CASE("the nvcc of this machine makes what the table says of its release") {
  if (!run_process({"nvcc", "--version"}, std::chrono::seconds(30)).ok()) {
    MESSAGE("SKIPPED: there is no nvcc in PATH");
    return;
  }
  const auto asked = compiler_of_nvcc("nvcc");
  REQUIRE_MESSAGE(asked.ok(), asked.error().text());
  if (find_toolkit(asked->version) == nullptr) {
    MESSAGE("SKIPPED: the table does not know CUDA ", to_string(asked->version));
    return;
  }
  const Compiler by_table = compiler_of_toolkit(asked->version).value();
  CHECK(asked->sass == by_table.sass);
  CHECK(asked->ptx == by_table.ptx);
  CHECK(asked->ptx_isa == by_table.ptx_isa);
  CHECK(ends_with(asked->path, "/nvcc"));
  CHECK(compiler_of_nvcc(asked->path + " -ccbin g++")->sass == asked->sass);
}
