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

}  // namespace

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
           "\", \"visible\": true, \"mig\": false, \"count\": 1, \"host\": null, \"origin\": \"this "
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
            device("NVIDIA A100", "8.0", "1", "00000000:3B:00.0") + "\n  ],\n  \"diagnostics\": []\n}\n");
}

TEST_CASE("two equal GPUs stay two") {
  const auto run = PlayedMachine(
                       "driver 580.95.05\ncuda 13000\n"
                       "device cc=7.5 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:01:00.0 nvml=2 "
                       "name=NVIDIA T4\n"
                       "device cc=7.5 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000002 pci=0000:02:00.0 nvml=1 "
                       "name=NVIDIA T4\n")
                       .run({});
  CHECK(run.exit_code == 0);
  CHECK(run.out ==
        "name       compute capability  driver     CUDA  PCI bus id        UUID\n"
        "NVIDIA T4  7.5                 580.95.05  13.0  00000000:01:00.0  "
        "GPU-aaaaaaaa-0000-0000-0000-000000000001\n"
        "NVIDIA T4  7.5                 580.95.05  13.0  00000000:02:00.0  "
        "GPU-aaaaaaaa-0000-0000-0000-000000000002\n");
}

TEST_CASE("a GPU that CUDA_VISIBLE_DEVICES hides is listed") {
  const auto run = PlayedMachine(kTwoGpus).with("CUDA_VISIBLE_DEVICES", "1").run({});
  CHECK(run.exit_code == 0);
  CHECK(run.out ==
        "name         compute capability  driver     CUDA  PCI bus id        UUID                            "
        "          note\n"
        "NVIDIA A100  8.0                 580.95.05  13.0  00000000:3B:00.0  "
        "GPU-aaaaaaaa-0000-0000-0000-000000000001\n"
        "NVIDIA H100  9.0                 580.95.05  13.0  00000000:5E:00.0  "
        "GPU-aaaaaaaa-0000-0000-0000-000000000002  not usable here\n"
        "\nenvironment: CUDA_VISIBLE_DEVICES is '1' and hides 1 of 2 GPUs\n"
        "  fix: unset CUDA_VISIBLE_DEVICES to select for all of them\n");
}

TEST_CASE("all GPUs hidden: status 3, and the variable is named") {
  for (const auto& [value, shown] :
       std::map<std::string, std::string>{{"", "empty"}, {"-1", "'-1'"}, {"7", "'7'"}}) {
    const auto run = PlayedMachine(kTwoGpus).with("CUDA_VISIBLE_DEVICES", value).run({});
    CHECK(run.exit_code == 3);
    CHECK(run.out == "no usable GPU\n" + kHidden +
                         "environment 100 CUDA_ERROR_NO_DEVICE: CUDA_VISIBLE_DEVICES is " + shown +
                         " and hides every GPU; NVML sees 2 GPUs\n"
                         "  fix: unset CUDA_VISIBLE_DEVICES\n");
  }
}

TEST_CASE("a GPU named twice: status 4") {
  const auto run = PlayedMachine(kTwoGpus).with("CUDA_VISIBLE_DEVICES", "0,0").run({});
  CHECK(run.exit_code == 4);
  CHECK(run.out == "the driver fails\n" + kHidden +
                       "cuInit 101 CUDA_ERROR_INVALID_DEVICE: CUDA_VISIBLE_DEVICES is '0,0': a device is "
                       "invalid or named twice\n"
                       "  fix: unset CUDA_VISIBLE_DEVICES, or name each device once\n");
}

TEST_CASE("a partitioned GPU is itself, not its instance") {
  const auto run = PlayedMachine(
                       "driver 580.95.05\ncuda 13000\n"
                       "device cc=8.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:01:00.0 mig=1 "
                       "name=NVIDIA A100\n")
                       .run({});
  CHECK(run.exit_code == 0);
  CHECK(run.out ==
        "name         compute capability  driver     CUDA  PCI bus id        UUID                            "
        "          note\n"
        "NVIDIA A100  8.0                 580.95.05  13.0  00000000:01:00.0  "
        "GPU-aaaaaaaa-0000-0000-0000-000000000001  MIG\n");
}

TEST_CASE("codes of cuInit: status, cause and fix") {
  struct Case {
    int code, exit_code;
    const char* text;
  };
  const Case cases[] = {
      {34, 3,
       "no usable GPU\ncuInit 34 CUDA_ERROR_STUB_LIBRARY: the toolkit's stub library was loaded instead of "
       "the driver "
       "(FAKE/cuda/libcuda.so.1)\n  fix: remove FAKE/cuda from LD_LIBRARY_PATH (or from the RPATH)\n"},
      {100, 3,
       "no usable GPU\ncuInit 100 CUDA_ERROR_NO_DEVICE: the CUDA driver finds no GPU; NVML sees 2 GPUs\n"
       "  fix: give this process access to /dev/nvidia* (container or job scheduler settings)\n"},
      {101, 4,
       "the driver fails\ncuInit 101 CUDA_ERROR_INVALID_DEVICE: the driver calls a device ordinal invalid\n"
       "  fix: restart the driver\n"},
      {802, 4,
       "the driver fails\ncuInit 802 CUDA_ERROR_SYSTEM_NOT_READY: the NVSwitch fabric is not ready: "
       "nvidia-fabricmanager does not run, or is not of the driver's version 580.95.05\n"
       "  fix: systemctl start nvidia-fabricmanager, of exactly the driver's version\n"},
      {803, 4,
       "the driver fails\ncuInit 803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: libcuda (FAKE/cuda/libcuda.so.1) of "
       "unknown "
       "version and the loaded kernel driver 580.95.05 do not match\n"
       "  fix: reboot, or reload the nvidia kernel modules\n"},
      {804, 4,
       "the driver fails\ncuInit 804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: libcuda "
       "(FAKE/cuda/libcuda.so.1) of "
       "unknown version is newer than the loaded kernel driver 580.95.05\n"
       "  fix: reboot, so that the kernel driver of the installed version is loaded\n"},
      {4711, 4,
       "the driver fails\ncuInit 4711: the CUDA driver (FAKE/cuda/libcuda.so.1) failed with error 4711\n"
       "  fix: see what the kernel log says of the GPU: dmesg | grep -i -e nvrm -e xid\n"},
  };
  for (const auto& each : cases) {
    const auto run = PlayedMachine(kTwoGpus + ("fail cuInit " + std::to_string(each.code) + "\n")).run({});
    CHECK(run.exit_code == each.exit_code);
    CHECK(diagnosis(run) == each.text);
    CHECK(run.out.find(kHidden) != std::string::npos);
  }
}

TEST_CASE("999 tells whether /dev/nvidia-uvm is there") {
  const auto run = PlayedMachine(kTwoGpus + std::string("fail cuInit 999\n")).run({});
  CHECK(run.exit_code == 4);
  const bool there = access("/dev/nvidia-uvm", F_OK) == 0;
  const std::string cause =
      there ? "the driver fails without a reason, as it does after the machine was suspended\n"
            : "the driver fails without a reason; /dev/nvidia-uvm is missing\n";
  CHECK(diagnosis(run).find("the driver fails\ncuInit 999 CUDA_ERROR_UNKNOWN: " + cause) == 0);
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

TEST_CASE("a crash in the driver is a result") {
  const auto run = PlayedMachine(kTwoGpus + std::string("print cuInit last words\ncrash cuInit\n")).run({});
  CHECK(run.exit_code == 4);
  CHECK(diagnosis(run) ==
        "the driver fails\n"
        "cuInit crash: libcuda (FAKE/cuda/libcuda.so.1) crashed: segmentation fault\n"
        "  fix: reinstall the NVIDIA driver\n"
        "output: libcuda printed: last words?last words\n");
}

TEST_CASE("a crash after some devices answered: they are listed, not used") {
  const auto run = PlayedMachine(kTwoGpus + std::string("crash cuDeviceGetPCIBusId\n")).run({});
  CHECK(run.exit_code == 4);
  CHECK(diagnosis(run) ==
        "the driver fails\n"
        "cuDeviceGet crash: libcuda (FAKE/cuda/libcuda.so.1) crashed: segmentation fault\n"
        "  fix: reinstall the NVIDIA driver\n");
  CHECK(run.out.find(kHidden) != std::string::npos);
}

TEST_CASE("a driver that ends the process") {
  const auto run = PlayedMachine(kTwoGpus + std::string("exit cuInit 0\n")).run({});
  CHECK(run.exit_code == 4);
  CHECK(diagnosis(run) ==
        "the driver fails\n"
        "cuInit exit: libcuda (FAKE/cuda/libcuda.so.1) ended the process with exit code 0\n"
        "  fix: reinstall the NVIDIA driver\n");
}

TEST_CASE("a driver that hangs is left behind at the deadline") {
  const auto begin = std::chrono::steady_clock::now();
  const auto run = PlayedMachine(kTwoGpus + std::string("hang cuInit\n")).run({"--timeout", "1"});
  const auto taken = std::chrono::steady_clock::now() - begin;
  CHECK(run.exit_code == 4);
  CHECK(diagnosis(run) ==
        "the driver fails\n"
        "cuInit timeout: libcuda (FAKE/cuda/libcuda.so.1) did not answer within 1 s\n"
        "  fix: the driver hangs: see dmesg, restart the machine; or allow more time with --timeout\n");
  CHECK(run.out.find(kHidden) != std::string::npos);
  CHECK(taken >= std::chrono::milliseconds(1000));
  CHECK(taken < std::chrono::seconds(10));
}

TEST_CASE("NVML that hangs or crashes costs nothing but its answers") {
  const auto hanging = PlayedMachine(kTwoGpus + std::string("hang nvmlInit_v2\n")).run({"--timeout=0.5"});
  CHECK(hanging.exit_code == 0);
  CHECK(diagnosis(hanging) ==
        "nvmlInit timeout: NVML (FAKE/nvml/libnvidia-ml.so.1) did not answer within 0.5 s\n"
        "  fix: the driver hangs: see dmesg, restart the machine; or allow more time with --timeout\n");
  const auto crashing = PlayedMachine(kTwoGpus + std::string("crash nvmlDeviceGetName\n")).run({});
  CHECK(crashing.exit_code == 0);
  CHECK(diagnosis(crashing) ==
        "nvmlDeviceGetHandleByIndex crash: NVML (FAKE/nvml/libnvidia-ml.so.1) crashed: segmentation fault\n"
        "  fix: reinstall the NVIDIA driver\n");
}

TEST_CASE("what the driver prints stays out of our output") {
  const PlayedMachine machine(kTwoGpus + std::string("print cuInit {\"not\": ours}\n"));
  const auto json = machine.run({"--format", "json"});
  CHECK(json.exit_code == 0);
  CHECK(json.err.empty());
  CHECK(json.out.find("{\n  \"schema\"") == 0);
  CHECK(json.out.find("{\"stage\": \"output\", \"code\": null, \"name\": null, \"cause\": \"libcuda printed: "
                      "{\\\"not\\\": ours}?{\\\"not\\\": ours}\", \"fix\": null}") != std::string::npos);
}

TEST_CASE("no NVML is no error") {
  if (has_real_driver()) {
    MESSAGE("SKIPPED: the real driver's version would show");
    return;
  }
  const auto run = PlayedMachine(kTwoGpus).without_nvml().run({});
  CHECK(run.exit_code == 0);
  CHECK(
      run.out ==
      "name         compute capability  CUDA  PCI bus id        UUID\n"
      "NVIDIA H100  9.0                 13.0  00000000:5E:00.0  GPU-aaaaaaaa-0000-0000-0000-000000000002\n"
      "NVIDIA A100  8.0                 13.0  00000000:3B:00.0  GPU-aaaaaaaa-0000-0000-0000-000000000001\n");
}

TEST_CASE("NVML alone: a kernel driver without libcuda") {
  if (has_real_driver()) {
    MESSAGE("SKIPPED: the real libcuda would be found");
    return;
  }
  const auto run = PlayedMachine(kTwoGpus).without_cuda().run({});
  CHECK(run.exit_code == 4);
  CHECK(diagnosis(run) ==
        "the driver fails\n"
        "load: the NVIDIA kernel driver 580.95.05 is loaded, but libcuda.so.1 was not found\n"
        "  fix: in a container: set NVIDIA_DRIVER_CAPABILITIES to compute,utility; else install the driver's "
        "CUDA "
        "library (libcuda1, nvidia-driver-cuda)\n");
}

TEST_CASE("NVML refuses, CUDA works") {
  const auto run = PlayedMachine(kTwoGpus + std::string("fail nvmlInit_v2 18\n")).run({});
  CHECK(run.exit_code == 0);
  CHECK(diagnosis(run).find("nvml 18 NVML_ERROR_LIB_RM_VERSION_MISMATCH: nvmlInit failed: NVML "
                            "(FAKE/nvml/libnvidia-ml.so.1) and the loaded kernel driver ") == 0);
}

TEST_CASE("a CUDA version that is none is named, and the driver's version tells it") {
  const auto run = PlayedMachine(replaced(kTwoGpus, "cuda 13000", "cuda 7")).run({"--format", "json"});
  CHECK(run.exit_code == 0);
  CHECK(json_line(run.out, "driver").find("\"cuda_version\": \"13.0\"") != std::string::npos);
  CHECK(run.out.find("\"driver_cuda\": \"nvml\"") != std::string::npos);
  CHECK(run.out.find("{\"stage\": \"cuDriverGetVersion\", \"code\": null, \"name\": null, \"cause\": \"the "
                     "driver gives 7 "
                     "as its CUDA version, which is none (1000…99990)\"") != std::string::npos);
}

TEST_CASE("a device that does not tell its capability is unknown") {
  const auto run =
      PlayedMachine(kTwoGpus +
                    std::string("fail cuDeviceGetAttribute 1\nfail nvmlDeviceGetCudaComputeCapability 3\n"))
          .run({"--format", "json"});
  CHECK(run.exit_code == 0);
  CHECK(run.out.find("\"name\": \"NVIDIA H100\", \"compute_capability\": null") != std::string::npos);
}

TEST_CASE("a file in the place of libcuda that is no library: status 4") {
  TemporaryFolder folder;
  folder.file("libcuda.so.1",
              "not a library, but long enough to be read as the header of one, were it one at all");
  const auto run = run_probe({}, {{"LD_LIBRARY_PATH", folder.path()}});
  CHECK(run.exit_code == 4);
  CHECK(run.out.find("the driver fails\nload: libcuda.so.1 cannot be loaded: " + folder.path() +
                     "/libcuda.so.1: ") == 0);
}

TEST_CASE("no driver: status 3, and why") {
  if (has_real_driver()) {
    MESSAGE("SKIPPED: this machine has a driver");
    return;
  }
  const auto build = run_probe({}, {{"NIX_BUILD_TOP", "/build"}});
  CHECK(build.exit_code == 3);
  CHECK(build.out ==
        "no usable GPU\n"
        "load: no NVIDIA driver in a Nix build (libcuda.so.1 was not found)\n"
        "  fix: give a fleet file that names the GPUs to build for\n");
  CHECK(build.err.empty());
  const auto json = run_probe({"--format", "json"});
  CHECK(json.exit_code == 3);
  CHECK(json_line(json.out, "status") == "\"status\": \"none\",");
  const auto csv = run_probe({"--format", "csv"}, {{"NIX_BUILD_TOP", "/build"}});
  CHECK(csv.exit_code == 3);
  CHECK(csv.out == "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host\n");
  CHECK(csv.err ==
        "arch_probe: error: load: no NVIDIA driver in a Nix build (libcuda.so.1 was not found)\n"
        "  fix: give a fleet file that names the GPUs to build for\n");
}
