#include "container/ptx_text.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("PTX begins with .version, after comments and blanks") {
  CHECK(is_ptx(".version 9.0\n"));
  CHECK(is_ptx("\xef\xbb\xbf\n  // c\n/* d\n */\t.version 9.0"));
  CHECK_FALSE(is_ptx(""));
  CHECK_FALSE(is_ptx("// .version 9.0"));
  CHECK_FALSE(is_ptx("/* .version 9.0"));
  CHECK_FALSE(is_ptx(".target sm_80"));
}

TEST_CASE("the head gives version and target") {
  const PtxHead head = read_ptx_head("//\n.version 9.0 // x\n.target sm_90a, debug\n.address_size 64\n");
  CHECK(head.version == "9.0");
  CHECK(head.target == "sm_90a");
  CHECK(read_ptx_head(".version 8.7\n.address_size 64").target == "");
  CHECK(read_ptx_head(".version").version == "");
}
