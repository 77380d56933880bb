#include "device/not_a_fleet.h"

#include "base/text.h"
#include "base/text_file.h"

namespace archguard {
namespace {

constexpr std::size_t kMostLooked = 4096;

struct TextStart {
  const char* start;  // of the first line that is not empty
  const char* what;
};
constexpr TextStart kOtherTexts[] = {{"{", "is JSON"},
                                     {"[{", "is JSON"},
                                     {"[ {", "is JSON"},
                                     {"[\n", "is JSON"},
                                     {"[\r\n", "is JSON"},
                                     {"<?xml", "is XML"},
                                     {"NodeName=", "is what scontrol prints"},
                                     {"GPU 0: ", "is what nvidia-smi -L prints"},
                                     {"# HELP ", "holds metrics"},
                                     {"# TYPE ", "holds metrics"}};

}  // namespace

bool begins_like_program(std::string_view text) {
  return starts_with(text, "\x7f\x45LF") || starts_with(text, "MZ");
}

std::string import_line(const std::string& path) {
  return "archguard fleet import " + (path == "-" ? path : quoted_for_shell(path)) + " > " +
         (ends_with(path, "fleet.csv") ? "devices.csv" : "fleet.csv");
}

std::optional<Error> refuse_other_text(std::string_view text, const std::string& path) {
  const std::string name = text_file_name(path);
  if (begins_like_program(text))
    return Error{
        name, "is a program, not a fleet file",
        "name a file as nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv prints it"};
  text = text.substr(0, kMostLooked);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  for (const TextStart& each : kOtherTexts) {
    if (!starts_with(text, each.start)) continue;
    const bool is_ours = text.find("\"archguard.devices/1\"") != std::string_view::npos;
    return Error{name, std::string(each.what) + ", not a fleet file (CSV)",
                 is_ours ? "arch_probe --format csv > fleet.csv" : import_line(path)};
  }
  return std::nullopt;
}

}  // namespace archguard
