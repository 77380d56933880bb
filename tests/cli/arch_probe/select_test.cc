#include <doctest/doctest.h>

#include "played_machine.h"

namespace {

RunOutput select(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"select", "--toolkit", "13.0"});
  return run_probe(arguments, {{"NIX_BUILD_TOP", "/build"}});
}

}  // namespace

TEST_CASE("the answer alone on standard output, the reasons beside it") {
  const auto run = select({"--device", "8.0", "--device=8.6@13.0"});
  CHECK(run.exit_code == 0);
  CHECK(run.out == "80-real;86-real;86-virtual\n");
  CHECK(run.err ==
        "80-real     8.0 (--device 8.0)\n"
        "86-real     8.6 (--device 8.6@13.0)\n"
        "86-virtual  PTX fallback for GPUs newer than 8.6\n");
}

TEST_CASE("the formats") {
  CHECK(select({"--device", "8.0", "--device", "8.6", "--format", "torch"}).out == "8.0;8.6+PTX\n");
  CHECK(select({"--device", "9.0", "--format", "gencode"}).out ==
        "-gencode=arch=compute_90,code=sm_90 -gencode=arch=compute_90,code=compute_90\n");
}

TEST_CASE("torch has no way to say PTX alone, which is told") {
  const auto run =
      run_probe({"select", "--toolkit", "12.4", "--device", "8.0", "--device", "12.0", "--format", "torch"});
  CHECK(run.exit_code == 0);
  CHECK(run.out == "8.0;9.0+PTX\n");
  CHECK(run.err.find("arch_probe: note: ") != std::string::npos);
}

TEST_CASE("the policies reach the selection") {
  CHECK(select({"--device", "8.0", "--device", "8.6", "--ptx", "none"}).out == "80-real;86-real\n");
  CHECK(select({"--device", "8.0", "--device", "8.6", "--ptx", "8.0"}).out == "80-real;86-real;80-virtual\n");
  CHECK(select({"--device", "8.0", "--device", "8.6", "--ptx", "oldest"}).out ==
        "80-real;86-real;80-virtual\n");
  CHECK(select({"--device", "9.0", "--suffix", "a"}).out == "90a-real;90-virtual\n");
  CHECK(select({"--device", "8.0", "--device", "8.6", "--sass", "minimal"}).out.find("80-real;") == 0);
  CHECK(select({"--no-detect", "--baseline", "80-real,90-virtual"}).out == "80-real;90-virtual\n");
}

TEST_CASE("a device that the toolkit cannot support is left out; without any other the status is 1") {
  const auto rest = select({"--device", "6.1", "--device", "8.0"});
  CHECK(rest.exit_code == 0);
  CHECK(rest.out == "80-real;80-virtual\n");

  TemporaryFolder folder;
  const std::string json = folder.path() + "/select.json", devices = folder.path() + "/devices.csv";
  const auto none = select({"--device", "6.1", "--write-json", json, "--write-devices", devices});
  CHECK(none.exit_code == 1);
  CHECK(none.out.empty());
  CHECK(
      file_content(devices) ==
      "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host\n, 6.1, , , , , 1, \n");
  CHECK(json_line(file_content(json), "architectures") == "\"architectures\": [],");
  CHECK(file_content(json).find("\"first_toolkit\": \"8.0\", \"last_toolkit\": \"12.9\"") !=
        std::string::npos);
}

TEST_CASE("a hidden GPU and one without capability are never selected") {
  const auto hidden =
      PlayedMachine(kTwoGpus).with("CUDA_VISIBLE_DEVICES", "1").run({"select", "--toolkit", "13.0"});
  CHECK(hidden.exit_code == 0);
  CHECK(hidden.out == "80-real;80-virtual\n");
  TemporaryFolder folder;
  folder.file("fleet.csv", "name, compute_cap\nTesla, [N/A]\nT4, 7.5\n");
  const auto unknown = run_probe({"select", "--toolkit", "13.0", "--fleet", "fleet.csv"}, {}, folder.path());
  CHECK(unknown.exit_code == 0);
  CHECK(unknown.out == "75-real;75-virtual\n");
  CHECK(unknown.err.find("Tesla (compute capability unknown, fleet.csv:2)") != std::string::npos);
}

TEST_CASE("a hidden GPU is not among the excluded, which an equal visible one could be taken for") {
  const auto run =
      PlayedMachine(
          "driver 580.95.05\ncuda 13000\n"
          "device cc=7.5 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:01:00.0 name=NVIDIA T4\n"
          "device cc=7.5 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000002 pci=0000:02:00.0 name=NVIDIA T4\n")
          .with("CUDA_VISIBLE_DEVICES", "0")
          .run({"select", "--toolkit", "13.0", "--format", "json"});
  CHECK(run.exit_code == 0);
  CHECK(json_line(run.out, "excluded") == "\"excluded\": [],");
  CHECK(json_line(run.out, "architectures") == "\"architectures\": [\"75-real\", \"75-virtual\"],");
}

TEST_CASE("the JSON of a selection, every key of it") {
  TemporaryFolder folder;
  folder.file("fleet.csv", "name, compute_cap, driver_cuda\nA100, 8.0, 13.0\nMX330, 6.1, 13.0\n");
  const auto run = run_probe(
      {"select", "--toolkit", "13.0", "--fleet", "fleet.csv", "--format", "json", "--judge", "90-real"}, {},
      folder.path());
  CHECK(run.exit_code == 0);
  CHECK(json_line(run.out, "schema") == "\"schema\": \"archguard.select/1\",");
  CHECK(json_line(run.out, "status") == "\"status\": \"ok\",");
  CHECK(json_line(run.out, "toolkit") ==
        "\"toolkit\": {\"version\": \"13.0\", \"nvcc\": null, \"clang\": null},");
  CHECK(json_line(run.out, "baseline") == "\"baseline\": false,");
  CHECK(json_line(run.out, "architectures") == "\"architectures\": [\"80-real\", \"80-virtual\"],");
  CHECK(run.out.find("\"entries\": [\n"
                     "    {\"arch\": \"80\", \"kind\": \"real\", \"reason\": \"A100 (8.0, fleet.csv:2)\", "
                     "\"devices\": [0]},\n"
                     "    {\"arch\": \"80\", \"kind\": \"virtual\", \"reason\": \"PTX fallback for GPUs "
                     "newer than 8.0\", "
                     "\"devices\": []}\n  ],\n") != std::string::npos);
  CHECK(run.out.find(
            "\"excluded\": [\n    {\"device\": {\"name\": \"MX330\", \"compute_capability\": \"6.1\", ") !=
        std::string::npos);
  CHECK(run.out.find("\"index\": 1, \"reason\": \"CUDA 13.0 makes nothing that runs on 6.1; the last toolkit "
                     "that does is "
                     "12.9\", \"first_toolkit\": \"8.0\", \"last_toolkit\": \"12.9\"}\n") !=
        std::string::npos);
  CHECK(json_line(run.out, "toolkits_for_all").find("\"12.9\"],") != std::string::npos);
  CHECK(run.out.find("\"judged\": [\n    {\"device\": \"A100 (8.0, fleet.csv:2)\", \"index\": 0, "
                     "\"verdict\": \"not-covered\", \"code\": 209, ") != std::string::npos);
}

TEST_CASE("entries of a judged list that the compiler cannot make are told with or without a device") {
  const auto run = select({"--no-detect", "--judge", "61;80", "--format", "json"});
  CHECK(run.exit_code == 0);
  CHECK(run.out.find("\"unmade\": [\n    {\"entry\": \"61\", \"reason\": \"CUDA 13.0 makes no 61; the last "
                     "toolkit that does is 12.9\"}\n  ]") != std::string::npos);
}

TEST_CASE("no device: the baseline with a warning that names the cause, or status 3") {
  const std::string cause = "detection is switched off";
  const auto baseline = select({"--no-detect"});
  CHECK(baseline.exit_code == 0);
  CHECK(baseline.out == "75-real;80-real;90-real;100-real;120-real;120-virtual\n");
  CHECK(baseline.err.find(
            "arch_probe: warning: " + cause +
            "; taking the baseline of CUDA 13.0 instead: "
            "75-real;80-real;90-real;100-real;120-real;120-virtual (fix: name the GPUs to build for in "
            "a fleet file: --fleet, or FLEET in CMake)\n") != std::string::npos);
  const auto error = select({"--no-detect", "--on-no-device", "error"});
  CHECK(error.exit_code == 3);
  CHECK(error.out.empty());
  CHECK(error.err == "arch_probe: error: environment: " + cause +
                         "\n  fix: name the GPUs to build for in a fleet file: --fleet, or FLEET in CMake\n");
  const auto json = select({"--no-detect", "--format", "json"});
  CHECK(json_line(json.out, "baseline") == "\"baseline\": true,");
  CHECK(json_line(json.out, "warnings").find("\"warnings\": [\"" + cause) == 0);
}

TEST_CASE("for an aarch64 target the baseline holds Tegra too") {
  const auto run = select({"--no-detect", "--target", "aarch64"});
  CHECK(run.exit_code == 0);
  CHECK(run.out == "75-real;80-real;87-real;90-real;100-real;110-real;120-real;120-virtual\n");
}

TEST_CASE("a driver that fails: the baseline, or status 4; what NVML lists is not selected") {
  const PlayedMachine machine(kTwoGpus + std::string("fail cuInit 802\n"));
  const auto baseline = machine.run({"select", "--toolkit", "13.0", "--on-no-device", "error"});
  CHECK(baseline.exit_code == 0);
  CHECK(baseline.out == "75-real;80-real;90-real;100-real;120-real;120-virtual\n");
  const auto error = machine.run({"select", "--toolkit", "13.0", "--on-detect-failure", "error"});
  CHECK(error.exit_code == 4);
  CHECK(error.out.empty());
  CHECK(error.err.find("arch_probe: error: cuInit: the machine is not ready") == 0);
}
