#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "installed/package.h"

namespace archguard::doctor {

// What a finding is about, in the order in which causes of one rank are told: what stands below everything
// comes first.
enum class FindingId {
  driver,
  libcuda,
  environment,
  library_mix,
  device_code,
  jit_compiler,
  stale_code,
  not_architecture,
};

// How sure it is. `certain`: the rules and what was read leave no other end. `likely`: so it ends, unless
// something that was not read says otherwise. `risk`: it may. `note`: harmless, told so that nobody wonders.
enum class Rank { certain, likely, risk, note };

struct Finding {
  FindingId id = FindingId::driver;
  Rank rank = Rank::note;
  std::optional<Package> package = {};  // that has to change, where it is one
  int code = 0;                         // CUDA's number of the error that it ends in; 0: none
  std::string cause = {};
  std::vector<std::string> evidence = {};
  std::string fix = {};  // the line to type, or what to do
  // Errors of `archguard explain`, by id, that it ends in where they have no number: "nvcc-unsupported-arch".
  // Then no other text without a number speaks of it.
  std::vector<std::string> errors = {};
  // Words of an error that can only mean this finding: "libcudnn.so.9", "ncclMemFree". Then a text that has
  // none of them does not speak of it for its kind alone.
  std::vector<std::string> subjects = {};
};

bool is_cause(const Finding& finding);  // certain or likely
// What stands before its fix: "fix", and "next" where nothing is wrong.
std::string_view fix_word(const Finding& finding);
std::string_view name_of(FindingId id);
std::string_view name_of(Rank rank);

// What was looked at, also where nothing is wrong with it.
struct Checked {
  FindingId id;
  std::string what;  // "files with device code"
  std::size_t count = 0;
  std::string one = {};  // "file with device code"
};

// What an error that was given means.
struct Told {
  std::string id, meaning, fix;
  int code = 0;
};

enum class Answer { clean, cause, unknown, no_gpu };
std::string_view name_of(Answer answer);  // clean cause unknown, as JSON has them: no_gpu is unknown

struct Diagnosis {
  Answer answer = Answer::unknown;
  std::vector<Device> devices;    // that were judged, or stand in the machine
  std::vector<Finding> findings;  // the gravest first
  std::vector<Checked> checked;
  std::vector<std::pair<std::string, std::string>> versions;  // "torch" → "2.9.1+cu128 (pip)"
  std::vector<Told> told;                                     // of the error that was given
  std::vector<std::string> environments;                      // "venv /home/u/env (VIRTUAL_ENV)"
  std::vector<Error> unread;                                  // what could not be looked at
  std::string asked;   // the line that asked, as far as it is told: "archguard doctor --prefix env"
  bool judged = true;  // false: there was nothing to judge
};

}  // namespace archguard::doctor
