// Streams that are closed or full: the status is right, and nothing is lost in silence.
#include <doctest/doctest.h>

#include "played_machine.h"

TEST_CASE("an answer that nobody can get is an error") {
  const TemporaryFolder folder;
  folder.file("fleet.csv", "name, compute_cap\nNVIDIA A100, 8.0\n");
  const auto run = [&](const std::string& arguments, const std::string& streams) {
    return run_process({"sh", "-c", "exec \"" ARCH_PROBE "\" " + arguments + " " + streams}, {},
                       folder.path());
  };
  for (const char* arguments :
       {"--fleet fleet.csv", "--fleet fleet.csv --format json", "--fleet fleet.csv --format csv",
        "select --fleet fleet.csv --toolkit 13.0", "--help", "--version"}) {
    CAPTURE(arguments);
    for (const char* streams : {">&-", ">&- <&-", ">/dev/full"}) {
      const auto ended = run(arguments, streams);
      CHECK(ended.exit_code == 2);
      CHECK(ended.err.find("arch_probe: error: standard output cannot be written whole\n") !=
            std::string::npos);
    }
    CHECK(run(arguments, ">&- 2>&- <&-").exit_code == 2);
  }
  const auto files = run("select --fleet fleet.csv --toolkit 13.0 --write-devices devices --write-json json",
                         ">&- 2>&- <&-");
  CHECK(files.exit_code == 2);
  CHECK(file_content(folder.path() + "/devices").find("NVIDIA A100, 8.0") != std::string::npos);
  CHECK(file_content(folder.path() + "/json").find("\"archguard.select/1\"") != std::string::npos);
}
