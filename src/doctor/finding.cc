#include "doctor/finding.h"

namespace archguard::doctor {

bool is_cause(const Finding& finding) {
  return finding.rank == Rank::certain || finding.rank == Rank::likely;
}

std::string_view fix_word(const Finding& finding) {
  return finding.rank == Rank::note ? "next" : "fix";
}

std::string_view name_of(FindingId id) {
  constexpr std::string_view kNames[] = {"driver",      "libcuda",      "environment", "library-mix",
                                         "device-code", "jit-compiler", "stale-code",  "not-architecture"};
  return kNames[static_cast<std::size_t>(id)];
}

std::string_view name_of(Rank rank) {
  constexpr std::string_view kNames[] = {"certain", "likely", "risk", "note"};
  return kNames[static_cast<std::size_t>(rank)];
}

std::string_view name_of(Answer answer) {
  return answer == Answer::clean ? "clean" : answer == Answer::cause ? "cause" : "unknown";
}

}  // namespace archguard::doctor
