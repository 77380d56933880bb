#include "support/fake_driver/machine.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "support/fake_driver/tricks.h"

namespace {

int* volatile nowhere = nullptr;  // no compiler can know what is written to it

FakeDevice read_device(std::istringstream& words) {
  FakeDevice device;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "cc") std::sscanf(value.c_str(), "%d.%d", &device.major, &device.minor);
    if (key == "uuid") device.uuid = value;
    if (key == "pci") device.pci = value;
    if (key == "mig") device.mig = value == "1";
    if (key == "instances") device.has_instance = value != "0";
    if (key == "handle") device.handle = std::stoi(value);
    if (key == "handle") device.in_cuda = false;
    if (key == "cuda") device.in_cuda = value != "no";
    if (key == "nvml") device.in_nvml = value != "no";
    if (key == "nvml" && value != "no") device.nvml_place = std::stoi(value);
    if (key == "name") {
      std::string rest;
      std::getline(words, rest);
      device.name = value + rest;
    }
  }
  return device;
}

FakeMachine read_machine() {
  FakeMachine machine;
  const char* path = std::getenv("ARCHGUARD_FAKE_MACHINE");
  std::ifstream file(path != nullptr ? path : "");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what, function, rest;
    words >> what;
    if (what == "driver") words >> machine.driver;
    if (what == "cuda") words >> machine.cuda;
    if (what == "count") {
      words >> machine.count;
      machine.lies = true;
    }
    if (what == "device") {
      FakeDevice device = read_device(words);
      if (device.nvml_place == 0) device.nvml_place = static_cast<int>(machine.devices.size()) + 1;
      machine.devices.push_back(device);
    }
    if (what != "driver" && what != "cuda" && what != "count" && what != "device" && words >> function) {
      std::getline(words, rest);
      machine.tricks[function].push_back(what + rest);
    }
  }
  return machine;
}

}  // namespace

const FakeMachine& fake_machine() {
  static const FakeMachine machine = read_machine();
  return machine;
}

int play(const char* function) {
  const auto found = fake_machine().tricks.find(function);
  if (found == fake_machine().tricks.end()) return 0;
  for (const auto& trick : found->second) {
    const auto blank = trick.find(' ');
    const std::string what = trick.substr(0, blank);
    const std::string rest = blank == std::string::npos ? "" : trick.substr(blank + 1);
    if (what == "print") {
      std::printf("%s\n", rest.c_str());
      std::fprintf(stderr, "%s\n", rest.c_str());
    }
    if (what == "hang")
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    if (what == "crash") *nowhere = 0;
#ifndef _WIN32
    play_trick(what, rest);
    if (what == "signal") kill(0, std::atoi(rest.c_str()));
    for (int i = 0; what == "fork" && i < std::atoi(rest.c_str()); ++i) {
      if (fork() != 0) continue;
      signal(SIGPIPE, SIG_IGN);
      signal(SIGTERM, SIG_IGN);
      alarm(30);  // where nobody ends it
      for (;;) std::printf("I am still here\n");
    }
#endif
    if (what == "exit") _exit(std::atoi(rest.c_str()));
    if (what == "fail") return std::atoi(rest.c_str());
  }
  return 0;
}

void give_text(const char* function, char* target, unsigned size, const std::string& text) {
  const auto found = fake_machine().tricks.find(function);
  if (found != fake_machine().tricks.end())
    for (const auto& trick : found->second) {
      if (trick == "unended") return void(std::memset(target, 'x', size));
      if (trick == "overrun")
        for (unsigned i = 0; i < 65536; ++i) static_cast<volatile char*>(target)[i] = 'x';
    }
  std::snprintf(target, size, "%s", text.c_str());
}
