#include "device/diagnose.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "device/causes.h"

using namespace archguard;

namespace {

DeviceAnswer gpu(const std::string& name, int major, int minor, const std::string& uuid,
                 const std::string& pci) {
  DeviceAnswer answer;
  answer.name = name;
  answer.major = major;
  answer.minor = minor;
  answer.uuid = uuid;
  answer.pci_bus_id = pci;
  return answer;
}

LibraryAnswers cuda_with(std::vector<DeviceAnswer> devices) {
  LibraryAnswers answers;
  answers.state = DynamicLibrary::State::loaded;
  answers.path = "/usr/lib/libcuda.so.1";
  answers.initialised = true;
  answers.cuda_number = 13000;
  answers.devices = std::move(devices);
  return answers;
}

LibraryAnswers cuda_failing(int code) {
  LibraryAnswers answers = cuda_with({});
  answers.initialised = false;
  answers.failures = {{"cuInit", code}};
  answers.stage = "cuInit";
  return answers;
}

LibraryAnswers nvml_with(std::vector<DeviceAnswer> devices) {
  LibraryAnswers answers = cuda_with(std::move(devices));
  answers.path = "/usr/lib/libnvidia-ml.so.1";
  answers.cuda_number.reset();
  answers.driver_version = "580.95.05";
  return answers;
}

// "none: cuInit 100 CUDA_ERROR_NO_DEVICE: cause | fix", all diagnostics.
std::string judged(const LibraryAnswers& cuda, const LibraryAnswers& nvml = {},
                   const Surroundings& around = {}) {
  const ProbeResult result = judge_answers(cuda, nvml, around);
  std::string text = result.status == ProbeStatus::ok     ? "ok"
                     : result.status == ProbeStatus::none ? "none"
                                                          : "failed";
  for (const auto& each : result.diagnostics)
    text += "\n" + each.stage + (each.code ? " " + std::to_string(*each.code) : "") +
            (each.name.empty() ? "" : " " + each.name) + ": " + each.cause + " | " + each.fix;
  return text;
}

const DeviceAnswer kA100 = gpu("A100", 8, 0, "GPU-1", "00000000:01:00.0");
const DeviceAnswer kH100 = gpu("H100", 9, 0, "GPU-2", "00000000:02:00.0");

}  // namespace

TEST_CASE("the two libraries are matched by UUID or PCI bus id, never by number") {
  DeviceAnswer without_uuid = kA100;
  without_uuid.uuid.clear();
  const auto result = judge_answers(cuda_with({without_uuid, kH100}), nvml_with({kH100, kA100}), {});
  REQUIRE(result.devices.size() == 2);
  CHECK(describe(result.devices[0]) == "A100 (8.0, this machine)");
  CHECK(result.devices[0].uuid == "GPU-1");
  CHECK(result.devices[0].source == std::map<std::string, std::string>{{"compute_capability", "cuda"},
                                                                       {"driver_cuda", "cuda"},
                                                                       {"driver_version", "nvml"},
                                                                       {"name", "cuda"},
                                                                       {"pci_bus_id", "cuda"},
                                                                       {"uuid", "nvml"}});
  CHECK(describe(result.devices[1]) == "H100 (9.0, this machine)");
  CHECK(result.diagnostics.empty());
}

TEST_CASE("devices without any identity are not doubled") {
  DeviceAnswer nameless = kA100;
  nameless.uuid.clear();
  nameless.pci_bus_id.clear();
  CHECK(judge_answers(cuda_with({nameless}), nvml_with({kA100}), {}).devices.size() == 1);
  CHECK(judged(cuda_with({nameless}), nvml_with({kA100})) ==
        "ok\nenumerate: the CUDA driver tells neither UUID nor PCI bus id, so what NVML says of 1 GPU cannot "
        "be matched | ");
}

TEST_CASE("a nonsensical compute capability is unknown") {
  for (const auto& told : std::vector<std::pair<int, int>>{{0, 0}, {-1, -1}, {8, 10}, {100, 0}, {9999, 1}}) {
    const auto result = judge_answers(cuda_with({gpu("X", told.first, told.second, "GPU-1", "")}), {}, {});
    CHECK_MESSAGE(!result.devices[0].capability, told.first, ".", told.second);
  }
}

TEST_CASE("a partitioned GPU takes its identity from NVML") {
  DeviceAnswer instance = gpu("A100 MIG 1g.10gb", 8, 0, "GPU-1", "00000000:01:00.0");
  instance.mig_uuid = "MIG-7";
  instance.mig = true;
  DeviceAnswer whole = kA100;
  whole.mig = true;
  DeviceAnswer neighbour = kH100;
  neighbour.mig = true;
  const auto result = judge_answers(cuda_with({instance}), nvml_with({whole, neighbour}), {});
  REQUIRE(result.devices.size() == 2);
  CHECK(result.devices[0].name == "A100");
  CHECK(result.devices[0].mig);
  CHECK(result.devices[0].source.at("compute_capability") == "nvml");
  CHECK(result.devices[1].visible);  // there for another process
  Surroundings restricted;
  restricted.cuda_visible_devices = "0";
  CHECK_FALSE(
      judge_answers(cuda_with({instance}), nvml_with({whole, neighbour}), restricted).devices[1].visible);
}

TEST_CASE("no driver: why, as far as it can be told") {
  CHECK(judged({}) ==
        "none\nload: no NVIDIA driver on this machine (libcuda.so.1 was not found) | "
        "install the NVIDIA driver, or give a fleet file that names the GPUs to build for");
  Surroundings build;
  build.build_kind = "a Nix build";
  CHECK(judged({}, {}, build) ==
        "none\nload: no NVIDIA driver in a Nix build (libcuda.so.1 was not found) | "
        "name the GPUs to build for: archguard_select_architectures(FLEET fleet.csv) or "
        "-DARCHGUARD_FLEET=fleet.csv; arch_probe select --fleet fleet.csv");
  build.build_kind = "a container";
  CHECK(judged({}, {}, build) ==
        "none\nload: this container has no NVIDIA driver (libcuda.so.1 was not found) | "
        "name the GPUs to build for: archguard_select_architectures(FLEET fleet.csv) or "
        "-DARCHGUARD_FLEET=fleet.csv; arch_probe select --fleet fleet.csv; to use this host's GPUs start the "
        "container with --gpus all");
  Surroundings wsl;
  wsl.wsl = true;
  CHECK(judged({}, {}, wsl) ==
        "none\nload: libcuda.so.1 was not found in WSL: Windows has no NVIDIA driver, or hides its GPU | "
        "install the NVIDIA driver for Windows, or give a fleet file");
}

TEST_CASE("a kernel driver without libcuda is a failure") {
  const std::string fix =
      "in a container: set NVIDIA_DRIVER_CAPABILITIES to compute,utility; else install the driver's CUDA "
      "library "
      "(libcuda1, nvidia-driver-cuda)";
  LibraryAnswers by_proc;
  by_proc.kernel_version = "580.95.05";
  CHECK(judged(by_proc) ==
        "failed\nload: the NVIDIA kernel driver 580.95.05 is loaded, but libcuda.so.1 was not found | " +
            fix);
  LibraryAnswers by_node;
  by_node.control_opens = true;
  CHECK(judged(by_node) ==
        "failed\nload: the NVIDIA kernel driver is loaded, but libcuda.so.1 was not found | " + fix);
  Surroundings container;
  container.build_kind = "a container";
  CHECK(judged(by_proc, {}, container) ==
        "failed\nload: this container was started without a GPU: the host's NVIDIA kernel driver 580.95.05 "
        "is loaded, but "
        "/dev/nvidiactl and the driver's libraries are not here | start the container with a GPU: docker run "
        "--gpus all IMAGE, with "
        "the NVIDIA container toolkit on the host (nvidia-ctk runtime configure --runtime=docker, then "
        "restart docker); where it only "
        "builds, name the GPUs: arch_probe select --fleet fleet.csv");
  CHECK(judged(by_node, {}, container).find("libcuda.so.1 was not found") != std::string::npos);
  CHECK(judged({}, nvml_with({kA100})) ==
        "failed\nload: the NVIDIA kernel driver 580.95.05 is loaded, but libcuda.so.1 was not found | " +
            fix);
  CHECK_FALSE(judge_answers({}, nvml_with({kA100}), {}).devices[0].visible);
}

TEST_CASE("a library that cannot be used is a failure") {
  LibraryAnswers broken;
  broken.state = DynamicLibrary::State::broken;
  broken.load_error = "libcuda.so.1: invalid ELF header";
  CHECK(judged(broken) ==
        "failed\nload: libcuda.so.1 cannot be loaded: libcuda.so.1: invalid ELF header | "
        "reinstall the NVIDIA driver's libraries, or correct LD_LIBRARY_PATH");
  LibraryAnswers other = cuda_with({});
  other.initialised = false;
  CHECK(judged(other) ==
        "failed\nload: libcuda.so.1 (/usr/lib/libcuda.so.1) lacks the functions of the CUDA driver API | "
        "correct LD_LIBRARY_PATH: this file is no NVIDIA driver library");
}

TEST_CASE("100: the environment, WSL, the container, the kernel driver, or no device") {
  const std::string head = "none\ncuInit 100 CUDA_ERROR_NO_DEVICE: ";
  Surroundings hidden;
  hidden.cuda_visible_devices = "";
  CHECK(judged(cuda_failing(100), {}, hidden) ==
        "none\nenvironment 100 CUDA_ERROR_NO_DEVICE: CUDA_VISIBLE_DEVICES is empty and hides every GPU | "
        "unset CUDA_VISIBLE_DEVICES");
  hidden.cuda_visible_devices = "7";
  CHECK(judged(cuda_failing(100), nvml_with({kA100, kH100}), hidden) ==
        "none\nenvironment 100 CUDA_ERROR_NO_DEVICE: CUDA_VISIBLE_DEVICES is '7' and hides every GPU; NVML "
        "sees 2 GPUs | "
        "unset CUDA_VISIBLE_DEVICES");
  LibraryAnswers not_loaded = nvml_with({});
  not_loaded.driver_version.clear();
  not_loaded.failures = {{"nvmlInit", 9}};
  hidden.cuda_visible_devices = "-1";
  CHECK(judged(cuda_failing(100), not_loaded, hidden) ==
        head +
            "libcuda (/usr/lib/libcuda.so.1) is installed, but the nvidia kernel module is not loaded on "
            "this machine | "
            "load the nvidia kernel module, or give a fleet file on a machine without a GPU\n"
            "nvml 9 NVML_ERROR_DRIVER_NOT_LOADED: nvmlInit failed: the nvidia kernel module is not loaded | "
            "load the nvidia kernel module");
  Surroundings wsl;
  wsl.wsl = true;
  CHECK(judged(cuda_failing(100), {}, wsl) ==
        head +
            "a Linux libcuda (/usr/lib/libcuda.so.1) shadows the one of Windows in /usr/lib/wsl/lib | "
            "remove the Linux driver package from this WSL distribution");
  Surroundings container;
  container.nvidia_visible_devices = "void";
  CHECK(judged(cuda_failing(100), {}, container) ==
        "none\nenvironment 100 CUDA_ERROR_NO_DEVICE: NVIDIA_VISIBLE_DEVICES is 'void': the container was "
        "given no GPU | "
        "start the container with NVIDIA_VISIBLE_DEVICES=all (docker run --gpus all)");
  CHECK(judged(cuda_failing(100), nvml_with({kA100})) ==
        head +
            "the CUDA driver finds no GPU; NVML sees 1 GPU | "
            "give this process access to /dev/nvidia* (container or job scheduler settings)");
  CHECK(judged(cuda_failing(100)) ==
        head +
            "libcuda (/usr/lib/libcuda.so.1) is installed, but the nvidia kernel module is not loaded on "
            "this machine | "
            "load the nvidia kernel module, or give a fleet file on a machine without a GPU");
  LibraryAnswers with_kernel = cuda_failing(100);
  with_kernel.kernel_version = "580.95.05";
  CHECK(judged(with_kernel) == head +
                                   "the driver finds no CUDA device in this machine | check that the GPU is "
                                   "listed by lspci, or give a fleet file");
}

TEST_CASE("804 is a compat library, or a driver that was upgraded without a reboot") {
  Surroundings compat;
  compat.forward_compatible = true;
  LibraryAnswers cuda = cuda_failing(804);
  cuda.kernel_version = "470.82.01";
  cuda.path = "/usr/local/cuda/compat/libcuda.so.1";
  CHECK(judged(cuda, {}, compat) ==
        "failed\ncuInit 804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: the forward-compatibility libcuda "
        "(/usr/local/cuda/compat/libcuda.so.1) does not support this GPU | "
        "remove /usr/local/cuda/compat from LD_LIBRARY_PATH, or update the kernel driver (470.82.01)");
  Surroundings upgraded;
  upgraded.library_version = "580.95.05";
  cuda.path = "/usr/lib/libcuda.so.1";
  CHECK(judged(cuda, {}, upgraded) ==
        "failed\ncuInit 804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: libcuda (/usr/lib/libcuda.so.1) "
        "580.95.05 is newer "
        "than the loaded kernel driver 470.82.01 | reboot, so that the kernel driver of the installed "
        "version is loaded");
}

TEST_CASE("803 prints both versions, 999 looks for /dev/nvidia-uvm") {
  Surroundings around;
  around.library_version = "580.95.05";
  LibraryAnswers cuda = cuda_failing(803);
  cuda.kernel_version = "535.104.05";
  LibraryAnswers nvml = nvml_with({});
  nvml.initialised = false;
  nvml.driver_version.clear();
  nvml.failures = {{"nvmlInit", 18}};
  CHECK(judged(cuda, nvml, around) ==
        "failed\ncuInit 803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: libcuda (/usr/lib/libcuda.so.1) 580.95.05 and "
        "the loaded "
        "kernel driver 535.104.05 do not match | reboot, or reload the nvidia kernel modules\n"
        "nvml 18 NVML_ERROR_LIB_RM_VERSION_MISMATCH: nvmlInit failed: NVML (/usr/lib/libnvidia-ml.so.1) and "
        "the loaded "
        "kernel driver 535.104.05 differ, as after an unattended upgrade | reboot, or reload the nvidia "
        "kernel modules");
  const std::string head = "failed\ncuInit 803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: ";
  around.build_kind = "a container";  // whose libcuda comes with the image, or from a host that was updated
  CHECK(
      judged(cuda, {}, around) ==
      head +
          "the container's libcuda (/usr/lib/libcuda.so.1) 580.95.05 and the host's kernel driver 535.104.05 "
          "do not match | start the container anew if the host's driver was updated meanwhile; else remove "
          "the NVIDIA driver's packages from the image, so that the host's libcuda is found");
  around.forward_compatible = true;  // of an image for older drivers: no reboot mends that
  around.library_version = "535.54.03";
  cuda.kernel_version = "580.95.05";
  cuda.path = "/usr/local/cuda-12.2/compat/libcuda.so.1";
  CHECK(
      judged(cuda, {}, around) ==
      head +
          "the libcuda of the package cuda-compat (/usr/local/cuda-12.2/compat/libcuda.so.1) 535.54.03 does "
          "not go with the loaded kernel driver 580.95.05 | remove /usr/local/cuda-12.2/compat from "
          "LD_LIBRARY_PATH, or from /etc/ld.so.conf.d and run ldconfig, so that the driver's own libcuda is "
          "found");
  CHECK(judged(cuda_failing(999)) ==
        "failed\ncuInit 999 CUDA_ERROR_UNKNOWN: the driver fails without a reason, as it does after the "
        "machine was "
        "suspended | reload the module: rmmod nvidia_uvm && modprobe nvidia_uvm");
  around.uvm_node = false;
  around.build_kind = "a container";
  CHECK(judged(cuda_failing(999), {}, around) ==
        "failed\ncuInit 999 CUDA_ERROR_UNKNOWN: the driver fails without a reason; /dev/nvidia-uvm is "
        "missing | "
        "pass /dev/nvidia-uvm into the container");
}

TEST_CASE("what no library told of a driver's CUDA is its branch's, and of a Jetson nobody's") {
  LibraryAnswers cuda;  // of a machine where the driver API fails
  cuda.failures = {{"cuInit", 999}};
  LibraryAnswers nvml = nvml_with({kA100});
  nvml.driver_version = "540.4.0";
  nvml.cuda_number.reset();
  const ProbeResult desktop = judge_answers(cuda, nvml, {});
  CHECK(to_string(desktop.driver_cuda.value_or(Version{})) == "12.2");
  CHECK(desktop.devices.at(0).cuda_by_branch);
  nvml.devices.at(0).major = 8;
  nvml.devices.at(0).minor = 7;
  const ProbeResult jetson = judge_answers(cuda, nvml, {});
  CHECK_FALSE(jetson.driver_cuda);
  CHECK_FALSE(jetson.devices.at(0).driver_cuda);
  CHECK(jetson.devices.at(0).source.count("driver_cuda") == 0);
  nvml.cuda_number = 12060;  // NVML's own word counts
  CHECK(to_string(judge_answers(cuda, nvml, {}).driver_cuda.value_or(Version{})) == "12.6");
}

TEST_CASE("an unknown code is a failure with its number") {
  CHECK(judged(cuda_failing(4711)) ==
        "failed\ncuInit 4711: the CUDA driver (/usr/lib/libcuda.so.1) failed with error 4711 | "
        "see what the kernel log says of the GPU: dmesg | grep -i -e nvrm -e xid");
}

TEST_CASE("the driver's CUDA is told by the driver, NVML or the version, in this order") {
  LibraryAnswers cuda = cuda_with({kA100});
  cuda.cuda_number = 7;
  LibraryAnswers nvml = nvml_with({kA100});
  nvml.driver_version = "535.104.05";
  const auto by_version = judge_answers(cuda, nvml, {});
  CHECK(to_string(by_version.driver_cuda.value_or(Version{})) == "12.2");
  CHECK(by_version.devices[0].source.at("driver_cuda") == "nvml");
  CHECK(judged(cuda, nvml) ==
        "ok\ncuDriverGetVersion: the driver gives 7 as its CUDA version, which is none (1000…99990) | "
        "reinstall the NVIDIA driver");
  nvml.cuda_number = 12040;
  CHECK(to_string(judge_answers(cuda, nvml, {}).driver_cuda.value_or(Version{})) == "12.4");
}

TEST_CASE("a GPU on the PCI bus is named where no driver answers, and listed as not usable") {
  Surroundings around;
  around.pci_gpus = {{"00000000:01:00.0", "nouveau"}};
  CHECK(
      judged({}, {}, around) ==
      "none\nload: no NVIDIA driver on this machine (libcuda.so.1 was not found), though it has an NVIDIA "
      "GPU "
      "(00000000:01:00.0, bound to nouveau) | install the NVIDIA driver, or give a fleet file that names the "
      "GPUs to build for");
  const auto result = judge_answers({}, {}, around);
  REQUIRE(result.devices.size() == 1);
  CHECK(result.devices[0].pci_bus_id == "00000000:01:00.0");
  CHECK_FALSE(result.devices[0].visible);
  CHECK_FALSE(result.devices[0].capability);
  CHECK(result.devices[0].source == std::map<std::string, std::string>{{"pci_bus_id", "sys"}});
  // NVML knows it already.
  around.pci_gpus = {{kA100.pci_bus_id, "nvidia"}};
  CHECK(judge_answers(cuda_failing(999), nvml_with({kA100}), around).devices.size() == 1);
}

TEST_CASE("NVIDIA_DRIVER_CAPABILITIES is named where it leaves CUDA out") {
  LibraryAnswers missing;
  missing.kernel_version = "580.95.05";
  Surroundings around;
  for (const char* with_compute : {"compute", "utility, compute", "all", " "}) {
    around.driver_capabilities = with_compute;
    CHECK_MESSAGE(judged(missing, {}, around).find("CAPABILITIES is") == std::string::npos, with_compute);
  }
  around.driver_capabilities = "utility,graphics";
  CHECK(judged(missing, {}, around) ==
        "failed\nload: the NVIDIA kernel driver 580.95.05 is loaded, but libcuda.so.1 was not found: "
        "NVIDIA_DRIVER_CAPABILITIES is 'utility,graphics' | start the container with "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility");
}

TEST_CASE("nonsense in the environment is diagnosed") {
  const auto said = [](const std::optional<std::string>& visible, const std::optional<std::string>& order) {
    Surroundings around;
    around.cuda_visible_devices = visible;
    around.cuda_device_order = order;
    std::string text;
    for (const auto& each : explain_environment(around)) text += each.cause + " | " + each.fix + "\n";
    return text;
  };
  for (const char* fine : {"", "0", "0,1", " 2 , -1 ", "+0", "-0", "00", ",", "0,", "4294967296",
                           "GPU-8932f937", "MIG-GPU-8932f937/1/0", "NoDevFiles"})
    CHECK_MESSAGE(said(fine, std::nullopt).empty(), fine);
  CHECK(said(std::nullopt, "PCI_BUS_ID").empty());
  CHECK(said(std::nullopt, "FASTEST_FIRST").empty());
  CHECK(said("0,all,x", std::nullopt) ==
        "'all' in CUDA_VISIBLE_DEVICES is no device, and CUDA reads no further | "
        "name devices by number or as GPU-… and MIG-…, between commas\n");
  // A driver of CUDA 13.0 takes each of these for 0.
  for (const char* begins : {"0abc", "0x0", "0;1", "0.0", "0GPU"})
    CHECK(said(begins, std::nullopt) ==
          "'" + std::string(begins) +
              "' in CUDA_VISIBLE_DEVICES is no device, and CUDA takes the number that it begins with | "
              "name devices by number or as GPU-… and MIG-…, between commas\n");
  for (const char* none : {"gpu-8932f937", "abc", "all", "-", "+", "--1"})
    CHECK_MESSAGE(said(none, std::nullopt).find("reads no further") != std::string::npos, none);
  CHECK(said(std::nullopt, "") ==
        "CUDA_DEVICE_ORDER is empty, which CUDA does not know | set it to FASTEST_FIRST or PCI_BUS_ID\n");
  CHECK(said("0", "pci") ==
        "CUDA_DEVICE_ORDER is 'pci', which CUDA does not know | set it to FASTEST_FIRST or PCI_BUS_ID\n");
}

TEST_CASE("an order of devices that CUDA does not know is what cuInit refuses") {
  const LibraryAnswers cuda = cuda_failing(101);
  Surroundings around;
  around.cuda_device_order = "";
  const auto result = judge_answers(cuda, {}, around);
  REQUIRE(result.diagnostics.size() == 1);  // told once
  CHECK(result.diagnostics[0].cause == "CUDA_DEVICE_ORDER is empty, which CUDA does not know");
  CHECK(result.diagnostics[0].fix == "set it to FASTEST_FIRST or PCI_BUS_ID");
  around.cuda_visible_devices = "0";  // as Slurm sets it
  CHECK(judge_answers(cuda, {}, around).diagnostics[0].cause == result.diagnostics[0].cause);
  around.cuda_device_order = "PCI_BUS_ID";
  around.cuda_visible_devices = "0,0";
  CHECK(judge_answers(cuda, {}, around).diagnostics[0].cause.find("CUDA_VISIBLE_DEVICES is '0,0'") == 0);
}

TEST_CASE("with a MIG instance in sight, the GPUs beside it are there for other processes") {
  DeviceAnswer instance = kA100;
  instance.mig = true;
  const auto shared = judge_answers(cuda_with({instance}), nvml_with({kA100, kH100}), {});
  REQUIRE(shared.devices.size() == 2);
  CHECK(shared.devices[1].visible);
  CHECK(shared.diagnostics.empty());
  CHECK_FALSE(judge_answers(cuda_with({kA100}), nvml_with({kA100, kH100}), {}).devices[1].visible);
}

TEST_CASE("the same call failing alike for each device is told once") {
  LibraryAnswers cuda = cuda_with({kA100});
  cuda.failures = {{"cuDeviceGetAttribute", 1}, {"cuDeviceGetAttribute", 1}};
  CHECK(judge_answers(cuda, {}, {}).diagnostics.size() == 1);
}

TEST_CASE("on Windows each failure is told in words of Windows") {
  Surroundings windows;
  windows.windows = true;
  windows.timeout = std::chrono::seconds(2);
  CHECK(judged({}, {}, windows) ==
        "none\nload: no NVIDIA driver on this machine (nvcuda.dll was not found) | install the NVIDIA "
        "driver, or "
        "give a fleet file that names the GPUs to build for");
  const LibraryAnswers nvml = nvml_with({gpu("A", 8, 0, "GPU-1", "00000000:01:00.0")});
  CHECK(judged({}, nvml, windows) ==
        "failed\nload: NVML sees 1 GPU, but nvcuda.dll was not found | reinstall the NVIDIA driver");
  LibraryAnswers cuda;
  cuda.state = DynamicLibrary::State::broken;
  cuda.load_error = "C:\\nvcuda.dll: bad";
  CHECK(judged(cuda, {}, windows) ==
        "failed\nload: nvcuda.dll cannot be loaded: C:\\nvcuda.dll: bad | reinstall the NVIDIA driver");
  cuda.state = DynamicLibrary::State::loaded;
  cuda.path = "C:\\nvcuda.dll";
  CHECK(judged(cuda, {}, windows) ==
        "failed\nload: nvcuda.dll (C:\\nvcuda.dll) lacks the functions of the CUDA driver API | remove this "
        "file, "
        "which is no NVIDIA driver library, or its folder from PATH");
  CHECK(judged(cuda_failing(100), nvml, windows) ==
        "none\ncuInit 100 CUDA_ERROR_NO_DEVICE: the driver finds no CUDA device in this machine; NVML sees 1 "
        "GPU | "
        "check that the Device Manager shows the GPU without a warning, or give a fleet file");
  CHECK(
      judged(cuda_failing(34), {}, windows) ==
      "none\ncuInit 34 CUDA_ERROR_STUB_LIBRARY: the toolkit's stub library was loaded instead of the driver "
      "(/usr/lib/libcuda.so.1) | remove its folder from PATH");
  CHECK(judged(cuda_failing(999), {}, windows) ==
        "failed\ncuInit 999 CUDA_ERROR_UNKNOWN: the CUDA driver (/usr/lib/libcuda.so.1) failed with error "
        "999 | "
        "restart the machine, or reinstall the NVIDIA driver");
  CHECK(judged(cuda_failing(46), {}, windows) == judged(cuda_failing(46)));
  cuda.end = ChildOutcome::End::late;
  cuda.stage = "cuInit";
  CHECK(judged(cuda, {}, windows) ==
        "failed\ncuInit timeout: nvcuda.dll (C:\\nvcuda.dll) did not answer within 2 s | the driver hangs: "
        "restart "
        "the machine; or allow more time with --timeout");
  LibraryAnswers failing;
  failing.state = DynamicLibrary::State::loaded;
  failing.failures = {{"nvmlInit", 9}};
  CHECK(judged(cuda_with({gpu("A", 8, 0, "GPU-1", "00000000:01:00.0")}), failing, windows) ==
        "ok\nnvml 9 NVML_ERROR_DRIVER_NOT_LOADED: nvmlInit failed with error 9 | compare with nvidia-smi");
}
