#include "device/answers.h"

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "device/driver_library.h"
#include "device/isolated_child.h"

namespace archguard {
namespace {

std::string optional_number(const std::optional<int>& number) {
  return number ? std::to_string(*number) : std::string();
}

std::optional<int> signed_number(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
}

std::optional<unsigned> hex_number(std::string_view text) {
  if (text.empty() || text.size() > 8) return std::nullopt;
  if (text.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(std::strtoul(std::string(text).c_str(), nullptr, 16));
}

// The driver writes in the same process as who asks it, so nothing says that a record is an asker's: what no
// asker can have written is bounded here.
constexpr std::size_t kMostFailures = 16, kMostNameBytes = 256, kMostRecordText = 4096;

std::string bounded(const std::string& text, std::size_t most) {
  return text.substr(0, most);
}

// Each once: a thousand GPUs may fail in the same way.
void add_failure(LibraryAnswers& answers, CallFailure failure) {
  for (const auto& each : answers.failures)
    if (each.call == failure.call && each.code == failure.code) return;
  if (answers.failures.size() < kMostFailures) answers.failures.push_back(std::move(failure));
}

void add_device(LibraryAnswers& answers, const Record& record) {
  const auto name = [&](std::size_t field) { return bounded(record[field], kMostNameBytes); };
  answers.devices.push_back({name(1), signed_number(record[2]), signed_number(record[3]), name(4), name(5),
                             name(6), !record[7].empty()});
}

}  // namespace

void AnswerWriter::loaded(const DynamicLibrary& library) {
  const char* state = library.state() == DynamicLibrary::State::loaded   ? "loaded"
                      : library.state() == DynamicLibrary::State::broken ? "broken"
                                                                         : "missing";
  sink_.put({"library", state, library.path(), library.error()});
}

void AnswerWriter::device(const DeviceAnswer& device) {
  sink_.put({"device", device.name, optional_number(device.major), optional_number(device.minor), device.uuid,
             device.mig_uuid, device.pci_bus_id, device.mig ? "mig" : ""});
}

LibraryAnswers read_answers(const ChildOutcome& outcome) {
  LibraryAnswers answers;
  answers.end = outcome.end;
  answers.end_detail = outcome.detail;
  answers.noise = outcome.noise;
  std::size_t devices = 0;
  for (const auto& record : outcome.records) {
    const std::string& kind = record[0];
    if (kind == "stage" && record.size() == 2) {
      answers.stage = bounded(record[1], kMostNameBytes);
    } else if (kind == "library" && record.size() == 4) {
      answers.state = record[1] == "loaded"   ? DynamicLibrary::State::loaded
                      : record[1] == "broken" ? DynamicLibrary::State::broken
                                              : DynamicLibrary::State::missing;
      answers.path = bounded(record[2], kMostRecordText);
      answers.load_error = bounded(record[3], kMostRecordText);
    } else if (kind == "failure" && record.size() == 3) {
      add_failure(answers, {bounded(record[1], kMostNameBytes), signed_number(record[2]).value_or(0)});
    } else if (kind == "initialised") {
      answers.initialised = true;
    } else if (kind == "cuda" && record.size() == 2) {
      answers.cuda_number = signed_number(record[1]);
    } else if (kind == "driver" && record.size() == 2) {
      answers.driver_version = bounded(record[1], kMostNameBytes);
    } else if (kind == "kernel" && record.size() == 2) {
      answers.kernel_version = bounded(record[1], kMostNameBytes);
    } else if (kind == "count" && record.size() == 2) {
      answers.bad_count = bounded(record[1], kMostNameBytes);
    } else if (kind == "control") {
      answers.control_opens = true;
    } else if (kind == "device" && record.size() == 8) {
      if (++devices <= kMostDevices) add_device(answers, record);
    }
  }
  if (devices > kMostDevices) {
    answers.bad_count = std::to_string(devices);
    answers.devices.clear();
  }
  return answers;
}

std::string normal_pci_bus_id(std::string_view text) {
  const auto parts = split(trim(text), ':');
  if (parts.size() != 3) return {};
  const auto dot = parts[2].find('.');
  const auto domain = hex_number(parts[0]), bus = hex_number(parts[1]),
             device = hex_number(parts[2].substr(0, dot));
  const auto function =
      dot == std::string_view::npos ? std::optional(0U) : hex_number(parts[2].substr(dot + 1));
  if (!domain || !bus || !device || !function || *bus > 0xff || *device > 0x1f || *function > 7) return {};
  char normal[24];
  std::snprintf(normal, sizeof normal, "%08X:%02X:%02X.%X", *domain, *bus, *device, *function);
  return normal;
}

std::string kernel_driver_version(std::string_view proc_text) {
  // NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023
  // NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (…)
  const std::string_view line = proc_text.substr(0, proc_text.find('\n'));
  if (!starts_with(line, "NVRM version:")) return {};
  for (const auto word : split(line, ' ')) {
    const bool digits = word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (digits && word.find('.') != std::string_view::npos) return std::string(word);
  }
  return {};
}

}  // namespace archguard
