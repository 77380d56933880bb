#include <doctest/doctest.h>

#include "played_machine.h"

namespace {

// The message of a command line that is wrong; status 2, and nothing on standard output.
std::string usage_error(const std::vector<std::string>& arguments) {
  const auto run = run_probe(arguments);
  CHECK(run.exit_code == 2);
  CHECK(run.out.empty());
  return run.err;
}

}  // namespace

TEST_CASE("help and version go to standard output") {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--help"}, {"-h"}, {"select", "--help"}}) {
    const auto run = run_probe(arguments);
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    CHECK(run.out.find("usage: arch_probe") == 0);
    CHECK(run.out.find("exit status:") != std::string::npos);
  }
  const auto version = run_probe({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out == "arch_probe " PROJECT_VERSION "\n");
}

TEST_CASE("a wrong command line is told, with what was meant") {
  CHECK(usage_error({"--flet", "x"}) ==
        "arch_probe: error: unknown option '--flet'\n  fix: did you mean --fleet?\n");
  CHECK(usage_error({"--flet=x"}) ==
        "arch_probe: error: unknown option '--flet=x'\n  fix: did you mean --fleet?\n");
  CHECK(usage_error({"selct"}) ==
        "arch_probe: error: unexpected argument 'selct'\n  fix: did you mean select?\n");
  CHECK(usage_error({"--frobnicate"}) ==
        "arch_probe: error: unknown option '--frobnicate'\n  fix: arch_probe --help lists what there is\n");
  CHECK(usage_error({"--format", "jsn"}) ==
        "arch_probe: error: --format is 'jsn', expected table, json, csv\n  fix: did you mean json?\n");
  CHECK(usage_error({"--format"}) ==
        "arch_probe: error: --format needs a value\n  fix: give it one, or leave it out\n");
  CHECK(usage_error({"--fleet", "--format", "json"}) ==
        "arch_probe: error: --fleet needs a value\n  fix: give it one, or leave it out\n");
  CHECK(usage_error({"--fleet="}) ==
        "arch_probe: error: --fleet needs a value\n  fix: give it one, or leave it out\n");
  CHECK(usage_error({"--help=x"}) == "arch_probe: error: --help takes no value\n");
  for (const char* bad : {"0", "0.0", "-1", "x", "1.2345", "3601", "1e3", "."}) {
    CHECK(usage_error({"--timeout", bad}) == "arch_probe: error: --timeout is '" + std::string(bad) +
                                                 "', expected seconds, more than 0 and at most 3600\n");
  }
}

TEST_CASE("select: a wrong command line") {
  CHECK(usage_error({"select"}) ==
        "arch_probe: error: select needs to know the compiler\n  fix: add --nvcc PATH, or --toolkit X.Y\n");
  CHECK(usage_error({"select", "--nvcc", "nvcc", "--toolkit", "13.0"}) ==
        "arch_probe: error: --nvcc and --toolkit are both given\n  fix: leave out one of them\n");
  CHECK(usage_error({"select", "--toolkit", "13"}) ==
        "arch_probe: error: --toolkit is '13', expected X.Y such as 13.0\n");
  CHECK(usage_error({"select", "--toolkit", "13.0", "--ptx", "newset"}) ==
        "arch_probe: error: --ptx is 'newset', expected newest, oldest, none or an architecture such as 8.0\n"
        "  fix: did you mean newest?\n");
  CHECK(usage_error({"select", "--toolkit", "13.0", "--sass", "all"}) ==
        "arch_probe: error: --sass is 'all', expected exact, minimal\n");
  CHECK(usage_error({"select", "--toolkit", "13.0", "--device", "86"}) ==
        "arch_probe: error: --device 86: '86' is no compute capability, expected X.Y such as 8.6\n"
        "  fix: write 8.6\n");
  CHECK(usage_error({"select", "--toolkit", "13.0", "--baseline", "potato"})
            .find("arch_probe: error: --baseline: ") == 0);
  CHECK(usage_error({"select", "--toolkit", "99.0"}).find("newest known is 13.5; pass --nvcc") !=
        std::string::npos);
  CHECK(usage_error({"select", "--nvcc", "/nowhere/nvcc", "--device", "8.0"}).find("/nowhere/nvcc") !=
        std::string::npos);
}
