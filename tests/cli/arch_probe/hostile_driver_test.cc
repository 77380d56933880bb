// Drivers that harm whoever asks them: what they start is ended, and what they say is not believed.
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <thread>

#include "played_machine.h"

namespace {

// Processes that were started on this machine, and are still there.
int count_left(const PlayedMachine& machine) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string environment = file_content(entry.path().string() + "/environ");
    if (environment.find("ARCHGUARD_FAKE_MACHINE=" + machine.folder()) != std::string::npos) ++count;
  }
  return count;
}

// What was sent SIGKILL may take a moment.
bool all_ended(const PlayedMachine& machine) {
  for (int tries = 0; tries < 100 && count_left(machine) != 0; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return count_left(machine) == 0;
}

std::string with(const std::string& trick) {
  return kTwoGpus + trick + "\n";
}

}  // namespace

TEST_CASE("what a driver starts ends with it") {
  for (const char* then :
       {"", "hang cuDeviceGetCount\n", "crash cuDeviceGetCount\n", "exit cuDeviceGetCount 0\n"}) {
    CAPTURE(then);
    const PlayedMachine machine(with("fork cuInit 10") + then);
    const auto run = machine.run({"--format", "json", "--timeout", "2"});
    CHECK(run.exit_code == (*then == '\0' ? 0 : 4));
    CHECK(all_ended(machine));
  }
}

TEST_CASE("a driver that signals its group ends itself alone") {
  for (const char* signal : {"15", "9", "19"}) {  // SIGTERM, SIGKILL, SIGSTOP
    CAPTURE(signal);
    const PlayedMachine machine(with(std::string("signal cuInit ") + signal));
    const auto run = machine.run({"--format", "json", "--timeout", "1"});
    CHECK(run.exit_code == 4);
    CHECK(json_line(run.out, "status") == "\"status\": \"failed\",");
    CHECK(all_ended(machine));
  }
}

TEST_CASE("a number of devices that no machine has is a driver that fails") {
  for (const char* count : {"-2147483648", "-1", "1025", "2147483647"}) {
    CAPTURE(count);
    const PlayedMachine machine(with(std::string("count ") + count));
    const auto run = machine.run({"--format", "json"});
    CHECK(run.exit_code == 4);
    CHECK(run.out.find("libcuda (" + kCudaPath + ") counts " + count + " GPUs") != std::string::npos);
    CHECK(run.out.find("NVML (" + kNvmlPath + ") counts ") != std::string::npos);
    CHECK(run.out.find("kernel module") == std::string::npos);
  }
}
