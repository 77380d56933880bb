#include <doctest/doctest.h>

#include "played_machine.h"

TEST_CASE("help and version go to standard output") {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--help"}, {"-h"}, {"select", "--help"}}) {
    const auto run = run_probe(arguments);
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    CHECK(run.out.find("usage: arch_probe") == 0);
    CHECK((run.out.find("exit status:") != std::string::npos) == (arguments.back() == "--help"));
  }
  const auto version = run_probe({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out == "arch_probe " PROJECT_VERSION "\n");
}
