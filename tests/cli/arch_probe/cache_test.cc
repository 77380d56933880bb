#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

#include "played_machine.h"

// --cache: an answer is taken again while nothing that it depends on has changed, and each such thing drops
// it.

namespace {

const char kGone[] = "driver 580.95.05\ncuda 13000\nfail cuInit 100\n";

// A machine with the files that a kernel driver brings. Whoever asks it twice sees, after becomes(kGone),
// whether the drivers were asked again.
class CachedMachine : public PlayedMachine {
 public:
  CachedMachine() : PlayedMachine(kTwoGpus) {
    with_file("/proc/sys/kernel/random/boot_id", "boot-1\n");
    with_file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX  580.95.05  x\n");
    with_file("/proc/driver/nvidia/gpus/0000:3b:00.0/information", "");
    with_file("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", "");
    with_file("/proc/self/cgroup", "0::/user.slice\n");
    with_file("/dev/nvidia0", "");
    with_file("/sys/module/nvidia/version", "580.95.05\n");
  }
  // What the JSON says of the cache.
  std::string ask() const {
    const auto run = this->run({"--format", "json", "--cache", cache()});
    return json_line(run.out, "cache");
  }
  std::string cache() const { return folder() + "/cache"; }
};

const std::string kUsed = "\"cache\": {\"used\": true, \"reason\": null}";

std::string dropped(const std::string& reason) {
  return "\"cache\": {\"used\": false, \"reason\": \"" + reason + "\"}";
}

}  // namespace

TEST_CASE("an answer is kept, and the drivers are not asked again") {
  CachedMachine machine;
  CHECK(json_line(machine.run({"--format", "json"}).out, "cache") == "\"cache\": null");
  CHECK(machine.ask() == dropped("there is none yet"));
  const auto fresh = machine.run({"--format", "csv"});
  machine.becomes("hang cuInit\nhang nvmlInit_v2\n");  // who asks it now, waits
  CHECK(machine.ask() == kUsed);
  const auto kept = machine.run({"--format", "csv", "--cache", machine.cache()});
  CHECK(kept.exit_code == 0);
  CHECK(kept.out == fresh.out);
  const auto select = machine.run({"select", "--toolkit", "13.0", "--cache", machine.cache()});
  CHECK(select.out == "80-real;90-real;90-virtual\n");
}

TEST_CASE("the answer is dropped when something changed that it depends on, and told what") {
  struct Change {
    const char* reason;
    void (*make)(CachedMachine&);
  };
  const Change changes[] = {
      {"the boot id", [](CachedMachine& m) { m.with_file("/proc/sys/kernel/random/boot_id", "boot-2\n"); }},
      {"the kernel driver",
       [](CachedMachine& m) {
         m.with_file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX  590.1  x\n");
       }},
      {"the kernel driver", [](CachedMachine& m) { m.with_file("/sys/module/nvidia/version", "590.1\n"); }},
      {"the device nodes", [](CachedMachine& m) { m.with_file("/dev/nvidia1", ""); }},
      {"the device nodes", [](CachedMachine& m) { m.with_file("/dev/nvidia-caps/nvidia-cap3", ""); }},
      {"the kernel driver's list of GPUs",
       [](CachedMachine& m) { m.with_file("/proc/driver/nvidia/gpus/0000:5e:00.0/information", ""); }},
      {"the kernel driver's list of GPUs",
       [](CachedMachine& m) { m.with_file("/proc/driver/nvidia/capabilities/gpu0/mig/gi2/ci0/access", ""); }},
      {"the cgroup", [](CachedMachine& m) { m.with_file("/proc/self/cgroup", "0::/slurm/job_7\n"); }},
      {"the environment variable CUDA_VISIBLE_DEVICES",
       [](CachedMachine& m) { m.with("CUDA_VISIBLE_DEVICES", "0"); }},
      {"the environment variable CUDA_DEVICE_ORDER",
       [](CachedMachine& m) { m.with("CUDA_DEVICE_ORDER", "PCI_BUS_ID"); }},
      {"the environment variable NVIDIA_VISIBLE_DEVICES",
       [](CachedMachine& m) { m.with("NVIDIA_VISIBLE_DEVICES", "none"); }},
      {"the environment variable LD_LIBRARY_PATH",
       [](CachedMachine& m) { m.with("LD_LIBRARY_PATH", "/nowhere"); }},
  };
  for (const auto& change : changes) {
    CachedMachine machine;
    machine.ask();
    REQUIRE(machine.ask() == kUsed);
    change.make(machine);
    machine.becomes(kGone);
    CHECK(machine.ask() == dropped(std::string(change.reason) + " changed"));
    // "none" is no answer to keep: it is asked for again, and the devices that come back are seen.
    CHECK(machine.ask() == dropped("there is none yet"));
    machine.becomes(kTwoGpus);
    CHECK(machine.ask() == dropped("there is none yet"));
    CHECK(machine.ask() == kUsed);
  }
}

TEST_CASE("a variable that goes away drops the answer too") {
  CachedMachine machine;
  machine.with("CUDA_VISIBLE_DEVICES", "1");
  machine.ask();
  REQUIRE(machine.ask() == kUsed);
  machine.without("CUDA_VISIBLE_DEVICES");
  CHECK(machine.ask() == dropped("the environment variable CUDA_VISIBLE_DEVICES changed"));
}

TEST_CASE("a driver library that is replaced, or one that comes before it, drops the answer") {
  CachedMachine machine;
  const std::string own = machine.folder() + "/own", earlier = machine.folder() + "/earlier";
  const auto install = [&](const std::string& folder) {
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(kCudaPath, folder + "/libcuda.so.1",
                               std::filesystem::copy_options::overwrite_existing);
  };
  install(own);
  machine.with("LD_LIBRARY_PATH", earlier + ":" + own);
  machine.ask();
  REQUIRE(machine.ask() == kUsed);
  std::filesystem::last_write_time(own + "/libcuda.so.1", std::filesystem::file_time_type::clock::now());
  CHECK(machine.ask() == dropped("a driver library changed"));
  REQUIRE(machine.ask() == kUsed);
  install(earlier);
  CHECK(machine.ask() == dropped("a driver library changed"));
  CHECK(machine.ask() == kUsed);
}

TEST_CASE("a driver library that is written anew in place drops the answer, whatever its size and date") {
  CachedMachine machine;
  const std::string own = machine.folder() + "/own", library = own + "/libcuda.so.1";
  std::filesystem::create_directories(own);
  std::filesystem::copy_file(kCudaPath, library);
  machine.with("LD_LIBRARY_PATH", own);
  machine.ask();
  REQUIRE(machine.ask() == kUsed);
  const auto date = std::filesystem::last_write_time(library);
  {
    std::fstream file(library, std::ios::in | std::ios::out | std::ios::binary);
    file.put('\x7f');  // what is there already
  }
  std::filesystem::last_write_time(library, date);
  machine.becomes(kTwoGpus + std::string("crash cuInit\n"));
  const auto run = machine.run({"--format", "json", "--cache", machine.cache()});
  CHECK(run.exit_code == 4);
  CHECK(json_line(run.out, "cache") == dropped("a driver library changed"));
  CHECK_FALSE(std::filesystem::exists(machine.cache()));
}

TEST_CASE("another arch_probe asks anew") {
  CachedMachine machine;
  machine.ask();
  const std::string copy = machine.folder() + "/arch_probe";
  std::filesystem::copy_file(ARCH_PROBE, copy);
  const auto run = run_process({copy, "--format", "json", "--cache", machine.cache()}, machine.environment());
  CHECK(json_line(run.out, "cache") == dropped("arch_probe itself changed"));
}

TEST_CASE("an answer with a failure in it is not kept") {
  for (const char* trick : {"fail cuInit 999\n", "fail nvmlInit_v2 18\n", "crash cuDeviceGetPCIBusId\n",
                            "fail cuDeviceGetAttribute 1\n", "crash nvmlDeviceGetName\n"}) {
    CachedMachine machine;
    machine.becomes(kTwoGpus + std::string(trick));
    machine.ask();
    CHECK_FALSE(std::filesystem::exists(machine.cache()));
    CHECK(machine.ask() == dropped("there is none yet"));
  }
  CachedMachine late;
  late.becomes(kTwoGpus + std::string("hang nvmlInit_v2\n"));
  late.run({"--timeout", "0.3", "--cache", late.cache()});
  CHECK_FALSE(std::filesystem::exists(late.cache()));
}

TEST_CASE("a machine without NVML is an ordinary one") {
  CachedMachine machine;
  machine.without_nvml();
  machine.ask();
  CHECK(machine.ask() == kUsed);
}

TEST_CASE("a cache file that is damaged is asked past, and written anew") {
  CachedMachine machine;
  machine.ask();
  const std::string whole = file_content(machine.cache());
  for (const std::string& text : {std::string("x"), whole.substr(0, whole.size() / 2),
                                  whole.substr(0, whole.size() - 4), replaced(whole, "cache/1", "cache/2"),
                                  replaced(whole, "child\t", "chil\t"), std::string(70000, '\n')}) {
    std::filesystem::remove(machine.cache());
    const TemporaryFolder folder;
    std::filesystem::copy_file(folder.file("damaged", text), machine.cache());
    CHECK(machine.ask() == dropped("it cannot be read"));
    CHECK(machine.ask() == kUsed);
  }
}

TEST_CASE("a cache that cannot be written costs nothing but time") {
  CachedMachine machine;
  const auto run = machine.run({"--format", "json", "--cache", "/nowhere/cache"});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  CHECK(json_line(run.out, "cache") == dropped("there is none yet"));
}
