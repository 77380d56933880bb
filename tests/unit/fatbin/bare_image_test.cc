#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/cubin_builder.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("a cubin is one container of one entry, with the suffix of its own notes") {
  const auto outline_of = [](const CubinBuilder& builder) {
    return outline(read(builder.bytes(), "t.cubin"));
  };
  CHECK(outline_of(CubinBuilder{}.sm(80)) == "t.cubin: sass 80;\n");
  CHECK(outline_of(CubinBuilder{}.sm(90).generation7(124)) == "t.cubin: sass 90;\n");
  CHECK(outline_of(CubinBuilder{}.sm(90).generation7(124).marked_a()) == "t.cubin: sass 90a;\n");
  CHECK(outline_of(CubinBuilder{}.sm(90).marked_a()) == "t.cubin: sass 90a;\n");
  CHECK(outline_of(CubinBuilder{}.sm(100).toolkit_info("13.0", "-arch sm_100 -m 64")) ==
        "t.cubin: sass 100;\n");
  CHECK(outline_of(CubinBuilder{}.sm(100).toolkit_info("13.0", "-arch sm_100f -m 64")) ==
        "t.cubin: sass 100f;\n");
  CHECK_MESSAGE(outline_of(CubinBuilder{}.sm(80).relocatable()) == "t.cubin: sass 80;\n",
                "nothing says that a linker takes it");
}

TEST_CASE("a cubin that does not tell its suffix names each, one that does not tell its arch is unknown") {
  const auto outline_of = [](const CubinBuilder& builder) {
    return outline(read(builder.bytes(), "t.cubin"));
  };
  CHECK(outline_of(CubinBuilder{}.sm(100)) == "t.cubin: sass 100 or 100a or 100f;\n");
  CHECK(outline_of(CubinBuilder{}.sm(100).toolkit_info("12.9", "")) == "t.cubin: sass 100 or 100f;\n");
  CHECK(outline_of(CubinBuilder{}.identity(0x41, 9)) == "t.cubin: sass 0 (cubin ABI 0x41/9);\n");
}

TEST_CASE("a cubin's entry is the whole file") {
  const auto bytes = CubinBuilder{}.kernel("k", sass::exit()).bytes();
  const DeviceCode code = read(bytes, "t.cubin");
  const FatbinEntry& entry = code.objects[0].fatbins[0].entries[0];
  CHECK(entry.kind_code == 2);
  CHECK(entry.payload_offset == 0);
  CHECK(entry.stored_size == bytes.size());
  CHECK(*inflate(entry, MemorySource(bytes)) == bytes);
}

TEST_CASE("PTX is one container of one entry") {
  const auto outline_of = [](const std::string& text) {
    const DeviceCode code = read(bytes_of_text(text), "t.ptx");
    return errors_of(code) + outline(code);
  };
  CHECK(outline_of("//\n.version 8.7\n.target sm_100f\n") == "t.ptx: ptx 100f 8.7;\n");
  CHECK(outline_of(".version 8.7\n.target sm_90, debug\n") == "t.ptx: ptx 90 8.7;\n");
  CHECK(outline_of(".version 8.7\n") == "t.ptx: ptx 0 8.7 (target '');\n");
  CHECK(outline_of(".version 8.7\n.target sm_9x\n") == "t.ptx: ptx 0 8.7 (target 'sm_9x');\n");
  CHECK(outline_of(".version 8\n.target sm_90\n") == "t.ptx: PTX begins without `.version X.Y`, found '8'\n");
}
