// Streams that are closed, full, or end early: the status is right, and nothing is lost in silence.
#include <doctest/doctest.h>

#include "running.h"
#include "support/builders/cubin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

const std::string kNotWritten = "archguard: error: standard output: cannot be written whole\n";

std::string cubin_in(const TemporaryFolder& folder) {
  CubinBuilder cubin;
  for (int i = 0; i < 5000; ++i)
    cubin.kernel("_Z3addPf" + std::to_string(i), sass::join({sass::store(), sass::exit()}));
  return folder.file("a.cubin", text_of(cubin.bytes()));
}

// With `streams` as the shell writes it: ">&-".
RunOutput run_in_shell(const std::string& arguments, const std::string& streams,
                       const TemporaryFolder& folder) {
  return run_process({"sh", "-c", "exec \"" ARCHGUARD "\" " + arguments + " " + streams}, {}, folder.path());
}

}  // namespace

TEST_CASE("a report that nobody can get is an error, whatever the verdict") {
  const TemporaryFolder folder;
  cubin_in(folder);
  for (const char* arguments :
       {"verify a.cubin --device 8.0", "verify a.cubin --device 9.0",
        "verify a.cubin --device 8.0 --format json", "inspect a.cubin", "inspect --kernels a.cubin",
        "inspect --kernels --by kernel a.cubin", "inspect --kernels --format json a.cubin", "--version",
        "--help", "verify a.cubin --device 8.0 --output /dev/stdout"}) {
    CAPTURE(arguments);
    for (const char* streams : {">&-", ">&- <&-", ">/dev/full"}) {
      CAPTURE(streams);
      const auto run = run_in_shell(arguments, streams, folder);
      CHECK(run.exit_code == 2);
      CHECK(run.out.empty());
      CHECK(run.err.find("archguard: error: ") == 0);
      CHECK(run.err.find("cannot be written") != std::string::npos);
    }
    CHECK(run_in_shell(arguments, ">&- 2>&- <&-", folder).exit_code == 2);
  }
}

TEST_CASE("a report in a file is whole, whatever streams are closed") {
  const TemporaryFolder folder;
  cubin_in(folder);
  const auto open = run_in_shell("verify a.cubin --device 9.0 --output open", "", folder);
  CHECK(open.exit_code == 1);
  const auto closed = run_in_shell("verify a.cubin --device 9.0 --output closed", ">&- 2>&- <&-", folder);
  CHECK(closed.exit_code == 1);
  CHECK(file_content(folder.path() + "/closed") == file_content(folder.path() + "/open"));
  CHECK_FALSE(file_content(folder.path() + "/open").empty());
}

TEST_CASE("a pipe that ends early ends the program as the system does, or is an error") {
  const TemporaryFolder folder;
  cubin_in(folder);
  const std::string command =
      "{ \"" ARCHGUARD "\" inspect --kernels --format json a.cubin; echo $? >&2; } | true";
  CHECK(run_process({"sh", "-c", command}, {}, folder.path()).err == "141\n");
  const auto ignored = run_process({"sh", "-c", "trap '' PIPE; " + command}, {}, folder.path());
  CHECK(ignored.err == kNotWritten + "2\n");
}

TEST_CASE("a fleet from a closed standard input is an error") {
  const TemporaryFolder folder;
  cubin_in(folder);
  const auto run = run_in_shell("verify a.cubin --fleet -", "<&-", folder);
  CHECK(run.exit_code == 2);
  CHECK(run.err.find("archguard: error: standard input: cannot be read") == 0);
}
