#include "fleet/hostlist.h"

#include <doctest/doctest.h>

#include "base/text.h"

using namespace archguard;
using namespace archguard::fleet;

namespace {

std::string hosts(std::string_view text) {
  HostBudget left;
  const auto list = parse_hostlist(text, left);
  return list ? join(*list, " ") : "error: " + list.error().what;
}

}  // namespace

TEST_CASE("Slurm's lists of hosts") {
  CHECK(hosts("a") == "a");
  CHECK(hosts("a,b") == "a b");
  CHECK(hosts("n[1-3]") == "n1 n2 n3");
  CHECK(hosts("n[08-10]") == "n08 n09 n10");
  CHECK(hosts("n[1,3-4],login") == "n1 n3 n4 login");
  CHECK(hosts("r[1-2]n[1-2]x") == "r1n1x r1n2x r2n1x r2n2x");
}

TEST_CASE("What is no list of hosts") {
  for (const char* text :
       {"", ",", "a,", "n[", "n[1", "n]", "n[[1]]", "n[2-1]", "n[a-b]", "n[]", "n[1-2", "n[-1]"})
    CHECK_MESSAGE(starts_with(hosts(text), "error: "), text);
}

TEST_CASE("A list of more hosts than there can be is refused at once") {
  for (const char* text : {"n[0-1000000]", "n[0-999][0-999][0-999]", "n[0-999999999999]",
                           "a[0-999999],b[0-999999]", "n[0-999999,0-999999]"})
    CHECK_MESSAGE(starts_with(hosts(text), "error: more than a million hosts are named, up to '"), text);
}

TEST_CASE("Names of hosts do not outgrow their list") {
  for (const std::string& text : {"n[1-1000000]" + std::string(10000, 'x'),
                                  std::string(10000, 'x') + "[1-1000000]", "n[1-1000]" + std::string(100000, 'x')})
    CHECK(starts_with(hosts(text), "error: the names of hosts take more than 64 MiB, up to '"));
  CHECK(starts_with(hosts("n[" + std::string(10000, '0') + "1-9]"), "error: "));
}

TEST_CASE("Several lists share what they may name; what is written out is free") {
  HostBudget left;
  REQUIRE(parse_hostlist("a[1-600000]", left).ok());
  CHECK(left.hosts == 400'000);
  REQUIRE(parse_hostlist("login,b1", left).ok());
  CHECK(left.hosts == 400'000);
  CHECK_FALSE(parse_hostlist("b[1-600000]", left).ok());
}
