#include <chrono>
#include <doctest/doctest.h>
#include <unistd.h>

#include "played_machine.h"

namespace {

// What the probe says beside the table of devices: from the first line that is no table's.
std::string diagnosis(const RunOutput& run) {
  std::string text;
  bool in_table = false;
  for (std::size_t at = 0; at < run.out.size();) {
    const auto end = run.out.find('\n', at);
    const std::string line = run.out.substr(at, end - at);
    at = end + 1;
    if (line.rfind("name  ", 0) == 0) in_table = true;
    if (in_table && (line.rfind("name  ", 0) == 0 || line.rfind("NVIDIA ", 0) == 0)) continue;
    in_table = false;
    if (!line.empty()) text += line + "\n";
  }
  return replaced(text, FAKE_DRIVER, "FAKE");
}

const std::string kHidden =
    "name         compute capability  driver     CUDA  PCI bus id        UUID                                "
    "      note\n"
    "NVIDIA A100  8.0                 580.95.05  13.0  00000000:3B:00.0  "
    "GPU-aaaaaaaa-0000-0000-0000-000000000001  not usable here\n"
    "NVIDIA H100  9.0                 580.95.05  13.0  00000000:5E:00.0  "
    "GPU-aaaaaaaa-0000-0000-0000-000000000002  not usable here\n";

// What the fake driver is, where it gave no device.
const char kAsked[] = "driver library: " FAKE_DRIVER "/cuda/libcuda.so.1; kernel driver: 580.95.05\n";

}  // namespace

// What each machine makes the probe say is in docs/reference/machines.md, which tests/machines holds up to
// date.

TEST_CASE("two GPUs: the table, in CUDA's order") {
  const auto run = PlayedMachine(kTwoGpus).run({});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  CHECK(run.out ==
        "name         compute capability  driver     CUDA  PCI bus id        UUID\n"
        "NVIDIA H100  9.0                 580.95.05  13.0  00000000:5E:00.0  "
        "GPU-aaaaaaaa-0000-0000-0000-000000000002\n"
        "NVIDIA A100  8.0                 580.95.05  13.0  00000000:3B:00.0  "
        "GPU-aaaaaaaa-0000-0000-0000-000000000001\n");
}

TEST_CASE("two GPUs: the JSON, every key of it") {
  const auto run = PlayedMachine(kTwoGpus).run({"--format", "json"});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  const auto device = [](const char* name, const char* capability, const char* number, const char* pci) {
    return "    {\"name\": \"" + std::string(name) + "\", \"compute_capability\": \"" + capability +
           "\", \"driver_version\": \"580.95.05\", \"driver_cuda\": \"13.0\", "
           "\"uuid\": \"GPU-aaaaaaaa-0000-0000-0000-00000000000" +
           number + "\", \"pci_bus_id\": \"" + pci +
           "\", \"visible\": true, \"excluded\": null, \"mig\": false, \"count\": 1, \"host\": null, "
           "\"origin\": \"this "
           "machine\", "
           "\"source\": {\"compute_capability\": \"cuda\", \"driver_cuda\": \"cuda\", \"driver_version\": "
           "\"nvml\", "
           "\"name\": \"cuda\", \"pci_bus_id\": \"cuda\", \"uuid\": \"cuda\"}}";
  };
  CHECK(run.out ==
        "{\n  \"schema\": \"archguard.devices/1\",\n  \"status\": \"ok\",\n"
        "  \"driver\": {\"version\": \"580.95.05\", \"cuda_version\": \"13.0\", \"library\": \"" +
            kCudaPath + "\", \"library_version\": null},\n  \"devices\": [\n" +
            device("NVIDIA H100", "9.0", "2", "00000000:5E:00.0") + ",\n" +
            device("NVIDIA A100", "8.0", "1", "00000000:3B:00.0") +
            "\n  ],\n  \"diagnostics\": [],\n  \"cache\": null\n}\n");
}

TEST_CASE("the toolkit's own stub library") {
  const std::string stub = CUDA_STUB;
  if (stub.empty()) {
    MESSAGE("SKIPPED: no CUDA toolkit with a stub library is installed");
    return;
  }
  TemporaryFolder folder;
  REQUIRE(symlink(stub.c_str(), (folder.path() + "/libcuda.so.1").c_str()) == 0);
  const auto run = run_probe({"--format", "json"}, {{"LD_LIBRARY_PATH", folder.path()}});
  CHECK(run.exit_code == 3);
  CHECK(run.out.find(
            "{\"stage\": \"cuInit\", \"code\": 34, \"name\": \"CUDA_ERROR_STUB_LIBRARY\", \"cause\": \"the "
            "toolkit's stub library was loaded instead of the driver (" +
            folder.path() + "/libcuda.so.1)\", \"fix\": \"remove " + folder.path() +
            " from LD_LIBRARY_PATH (or from the RPATH)\"}") != std::string::npos);
}

TEST_CASE("a driver that hangs is left behind at the deadline") {
  const auto begin = std::chrono::steady_clock::now();
  const auto run = PlayedMachine(kTwoGpus + std::string("hang cuInit\n")).run({"--timeout", "1"});
  const auto taken = std::chrono::steady_clock::now() - begin;
  CHECK(run.exit_code == 4);
  CHECK(diagnosis(run) ==
        "the driver fails\n"
        "cuInit timeout: libcuda (FAKE/cuda/libcuda.so.1) did not answer within 1 s\n"
        "  fix: the driver hangs: see dmesg, restart the machine; or allow more time with --timeout\n" +
            replaced(kAsked, FAKE_DRIVER, "FAKE"));
  CHECK(run.out.find(kHidden) != std::string::npos);
  CHECK(taken >= std::chrono::milliseconds(1000));
  CHECK(taken < std::chrono::seconds(10));
}

TEST_CASE("what the driver prints stays out of our output") {
  const PlayedMachine machine(kTwoGpus + std::string("print cuInit {\"not\": ours}\n"));
  const auto json = machine.run({"--format", "json"});
  CHECK(json.exit_code == 0);
  CHECK(json.err.empty());
  CHECK(json.out.find("{\n  \"schema\"") == 0);
  CHECK(json.out.find("{\"stage\": \"output\", \"code\": null, \"name\": null, \"cause\": \"libcuda printed: "
                      "{\\\"not\\\": ours}\\\\n{\\\"not\\\": ours}\", \"fix\": null}") != std::string::npos);
}

TEST_CASE("a device that does not tell its capability is unknown") {
  const auto run =
      PlayedMachine(kTwoGpus +
                    std::string("fail cuDeviceGetAttribute 1\nfail nvmlDeviceGetCudaComputeCapability 3\n"))
          .run({"--format", "json"});
  CHECK(run.exit_code == 0);
  CHECK(run.out.find("\"name\": \"NVIDIA H100\", \"compute_capability\": null") != std::string::npos);
}

TEST_CASE("no driver: status 3 in every format, and why") {
  PlayedMachine machine("");
  machine.without_cuda().without_nvml().with("NIX_BUILD_TOP", "/build");
  const auto build = machine.run({});
  CHECK(build.exit_code == 3);
  CHECK(build.err.empty());
  const auto json = machine.run({"--format", "json"});
  CHECK(json.exit_code == 3);
  CHECK(json_line(json.out, "status") == "\"status\": \"none\",");
  const auto csv = machine.run({"--format", "csv"});
  CHECK(csv.exit_code == 3);
  CHECK(csv.out == "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host\n");
}
