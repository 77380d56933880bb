// Waiver files as a user meets them: which lines excuse a kernel, and what is said of those that do not.
#include <doctest/doctest.h>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

void check_refused(const RunOutput& run, const std::string& message) {
  CHECK(run.err == message);
  CHECK(run.out.empty());
  CHECK(run.exit_code == 2);
}

}  // namespace

TEST_CASE("waivers that excuse nothing are told, and bad ones refused") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  folder.file("w.csv", "kernel,compute_cap,reason\nnothing*,*,not there\ngemm,*,there\n");
  const RunOutput run = run_archguard(
      {"verify", "k.ptx", "--device", "8.0@13.0", "--waivers", "w.csv", "--brief"}, folder.path());
  CHECK(run.out ==
        "k.ptx: 1 of 1 covered\n"
        "archguard: warning: w.csv:2: the waiver for 'nothing*' on * matches no kernel that was read\n"
        "  fix: look at the spelling; archguard inspect --kernels shows the names\n"
        "archguard: warning: w.csv:3: the waiver for 'gemm' on * was not needed\n"
        "  fix: delete the line\n");
  folder.file("bad.csv", "k,8.0\n");
  check_refused(run_archguard({"verify", "k.ptx", "--device", "8.0", "--waivers", "bad.csv"}, folder.path()),
                "archguard: error: bad.csv:1: a waiver has three columns, kernel,compute_cap,reason\n"
                "  fix: write for example: my_kernel*,7.5,needs tensor cores\n");
  folder.file("fleet.csv", "name, compute_cap\nNVIDIA A100, 8.0\n");
  check_refused(
      run_archguard({"verify", "k.ptx", "--device", "8.0", "--waivers", "fleet.csv"}, folder.path()),
      "archguard: error: fleet.csv:1: the header is 'name,compute_cap', expected "
      "kernel,compute_cap,reason\n"
      "  fix: a list of devices goes to --fleet, not to --waivers\n");
}

TEST_CASE(
    "the line that the fix for a missing kernel prints is a waiver, in double quotes where it needs them") {
  const TemporaryFolder folder;
  const Bytes code = sass::join({sass::store(), sass::exit()});
  const Bytes fatbin = FatbinBuilder{}
                           .cubin(80, CubinBuilder{}.kernel("_Z6secondPfi", code).bytes())
                           .cubin(90, CubinBuilder{}.sm(90).kernel("_Z5firstv", code).bytes())
                           .bytes();
  folder.file("k.fatbin", text_of(fatbin));
  const auto verify = [&](const std::string& waivers) {
    folder.file("w.csv", waivers);
    return run_archguard({"verify", "k.fatbin", "--device", "9.0", "--waivers", "w.csv", "--brief"},
                         folder.path());
  };
  CHECK(
      verify("").out ==
      "archguard: error 98: k.fatbin: kernel 'second(float*, int)' is missing on 9.0 (--device 9.0)\n"
      "  seen as: invalid device function\n"
      "  found: sm_80 cubin, sm_90 cubin, no PTX\n"
      "  cause: the sm_90 image that this device takes lacks it; another image of the same fat binary has it\n"
      "  fix: compile every source file that holds these kernels for sm_90 too, or waive them: --waivers "
      "FILE "
      "with "
      "the line '\"second(float*, int)\",9.0,why it may be absent'\n"
      "k.fatbin: 0 of 1 covered\n");
  CHECK(verify("\"second(float*, int)\",9.0,why it may be absent\n").out == "k.fatbin: 1 of 1 covered\n");
  check_refused(
      verify("second(float*, int),9.0,why it may be absent\n"),
      "archguard: error: w.csv:1: the compute capability 'int)' is neither X.Y nor a glob of it\n"
      "  fix: put a name that holds a comma in double quotes: \"second(float*, int)\",9.0,why it may be "
      "absent\n");
}
