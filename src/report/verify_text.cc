#include "report/verify_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "base/printable.h"
#include "base/text.h"
#include "coverage/fix.h"
#include "coverage/pickable.h"
#include "host/host_file.h"
#include "report/any_of_text.h"
#include "report/device_text.h"
#include "report/expect_text.h"
#include "report/failure_text.h"
#include "report/for_others_text.h"
#include "report/left_out.h"
#include "report/names.h"
#include "report/package_sums.h"
#include "report/tables.h"
#include "report/warnings.h"

namespace archguard {
namespace {

constexpr std::size_t kVerifyErrorsShown = 20;

class Writer {
 public:
  Writer(const Verification& verification, const ReportOptions& options)
      : all_(verification), options_(options), groups_(group_failures(verification)) {
    for (const FailureGroup& group : groups_) groups_of_[group.files.front()].push_back(&group);
    const auto is_judged = [&](const FileResult& file) {
      return outcome_of(all_, file) != Outcome::no_device_code;
    };
    tabled_ = all_.any_of.empty() && !options_.brief &&
              std::count_if(all_.files.begin(), all_.files.end(), is_judged) > 1;
  }

  std::string write() {
    // Most of a folder's files, and of what a program needs.
    std::size_t passed_over = 0, without_kernels = 0, libraries = 0;
    for (const FileResult& file : all_.files) {
      if (!file.runtime_code.empty() && !options_.brief)
        line("archguard: note: " + name_of(file) + ": " + runtime_code_text(file.runtime_code));
      if (file.optix != 0 && !options_.brief)
        line(fmt::format("archguard: note: {}: holds {} for OptiX, which compiles it: not judged",
                         name_of(file),
                         count_of(file.optix, "piece of PTX or OptiX-IR", "pieces of PTX or OptiX-IR")));
      if ((file.named && !is_found(file)) || outcome_of(all_, file) != Outcome::no_device_code)
        write_file(file, &file - all_.files.data());
      else
        ++(!file.needed_by.empty() ? libraries : file.has_fatbins ? without_kernels : passed_over);
    }
    if (passed_over != 0) line(count_of(passed_over, "file") + " without device code");
    if (without_kernels != 0) line(count_of(without_kernels, "file") + " without kernels");
    if (!all_.passed_over.empty()) out_ += passed_over_text(all_.passed_over);
    for (const AnyOf& group : all_.any_of) out_ += any_of_text(all_, group, options_.style);
    if (tabled_)
      out_ += table_of_files(all_, options_.style, options_.columns,
                             options_.full ? TableRows::unfolded : TableRows::folded);
    out_ += pickable_text(all_, pickable_images(all_));
    if (libraries != 0 && !options_.brief)
      line(count_of(libraries, "needed library", "needed libraries") + " without device code");
    if (all_.needed)
      for (const Error& error : all_.needed->errors) fail("archguard: error: ", error);
    if (const auto error = vain_expectation(all_)) fail("archguard: error: ", *error);
    for (std::size_t i = 0; i < all_.devices.size(); ++i)
      if (is_unjudged(all_.devices.kind(i)))
        fail("archguard: unknown: ", unjudged_device(all_.devices[i], 0));
    out_ += left_out_text(all_.devices);
    for (const Warning& warning : warnings_of_run(all_)) warn(warning);
    if (!options_.brief) {
      for (const Error& error : all_.owner_errors) line("archguard: note: " + error.text());
      out_ += package_sums(all_, options_.style, options_.full);
    }
    write_total();
    return std::move(out_);
  }

 private:
  // Of a folder, a wheel or several files: what became of them.
  void write_total() {
    OutcomeCounts counts;
    std::size_t groups = 0;
    for (const FileResult& file : all_.files)
      if (!file.alternative && (tabled_ || is_found(file))) counts.add(outcome_of(all_, file));
    const std::size_t files = counts.total();
    for (const AnyOf& group : all_.any_of) {
      if (group.files.size() < 2) continue;
      ++groups;
      counts.add(outcome_of(all_, group));
    }
    if (files == 0 || files + groups < 2) return;
    const std::string with =
        groups == 0 ? "" : " and " + count_of(groups, "group of alternatives", "groups of alternatives");
    std::vector<Shown> parts = {count_of(files, "file") + with + ": "};
    for (Shown& part : shown(counts, options_.style)) parts.push_back(std::move(part));
    line(parts);
  }

  void line(const std::vector<Shown>& parts) { out_ += line_of(parts); }
  void line(const std::string& text) { line({Shown(text)}); }
  void detail(std::string_view label, const std::string& text) {
    if (!text.empty()) line(fmt::format("  {}: {}", label, text));
  }
  void fail(const char* kind, const Error& error) {
    line({options_.style.error(kind), error.text()});
    detail("fix", error.fix);
  }
  void warn(const Warning& warning, const std::vector<std::string>& also = {}) {
    const FailureText text = text_of(warning, options_.columns);
    line({options_.style.warning("archguard: warning: "), Error{text.where, text.what, {}}.text()});
    detail("also", join(also, ", "));
    for (const auto& [label, words] : text.details) detail(label, words);
  }

  // In a folder, a list or a zip file.
  static bool is_found(const FileResult& file) {
    return (!file.named || !file.member.empty()) && file.needed_by.empty();
  }

  static std::string name_of(const FileResult& file) { return object_name(file.path, file.member); }

  std::string devices_of(std::size_t index) const { return archguard::devices_of(all_, index); }

  void write_file(const FileResult& file, std::size_t index) {
    const bool matter = errors_matter(all_, file);
    for (std::size_t i = 0; i < std::min(file.errors.size(), kVerifyErrorsShown); ++i) {
      const Error& error = file.errors[i];
      line({matter ? options_.style.error("archguard: error: ")
                   : options_.style.warning("archguard: warning: "),
            error.text()});
      detail("fix", error.fix);
    }
    if (file.errors.size() > kVerifyErrorsShown)
      line(fmt::format("archguard: {} more errors in {}; --format json has them all",
                       file.errors.size() - kVerifyErrorsShown, name_of(file)));
    for (const Warning& warning : warnings_of_bytes(all_, index)) warn(warning);
    const bool alone = !file.alternative;
    if (const auto groups = groups_of_.find(index); groups != groups_of_.end())
      for (const FailureGroup* group : groups->second) write_failures(*group);
    if (alone) write_expectation(file);
    for (std::size_t i = 0; i < file.devices.size(); ++i)
      if (is_to_be_told(all_, file, i)) write_warnings(file, index, i);
    write_for_others(file, index);
    if (!options_.brief && !tabled_) out_ += table_of_devices(all_, file, options_.style);
    write_summary(file);
  }

  void write_failures(const FailureGroup& group) {
    const FailureText text =
        failure_text(all_, group, {options_.hint_scope, options_.full, options_.columns});
    line({options_.style.error("archguard: " + text.kind + ": "), text.where + ": " + text.what});
    for (const auto& [label, words] : text.details) detail(label, words);
  }

  void write_warnings(const FileResult& file, std::size_t index, std::size_t device) {
    const DeviceResult& result = file.devices[device];
    if (result.fatbins.linked_at_load != 0)
      line(
          fmt::format("archguard: note: {}: the driver links -rdc code again when it is loaded on {}: "
                      "documented by NVIDIA, recorded on a driver of CUDA 13.0",
                      name_of(file), devices_of(device)));
    for (const Warning& warning : warnings_of_device(all_, index, device)) {
      if (warning.kind != Warning::Kind::runtime) {
        warn(warning);
      } else if (const auto files = files_of_runtime(file, device); files.front() == &file) {
        std::vector<std::string> others;
        for (std::size_t i = 1; i < files.size(); ++i) others.push_back(name_of(*files[i]));
        warn(warning, others);
      }
    }
    if (result.other_order && !options_.brief) write_other_order(*result.other_order, device);
  }

  void write_other_order(const OtherOrder& other, std::size_t index) {
    line(fmt::format("archguard: note: {}: on {}, {}", other.where, devices_of(index), other.text));
    if (other.fatbins > 1)
      detail("also", count_of(other.fatbins - 1, "more fat binary", "more fat binaries") + " of this file");
    detail("fix", "compile SASS for this device, which both orders take: " +
                      to_string(arch_of(*all_.classes[index].device.capability)) + "-real");
  }

  void write_for_others(const FileResult& file, std::size_t index) {
    for (const Warning& warning : warnings_for_others(all_, index)) warn(warning);
    if (options_.brief) return;
    for (const ForOthersText& said : for_others_texts(all_, file)) {
      if (said.warning) continue;
      line("archguard: note: " + said.text);
      detail("fix", said.fix);
    }
  }

  // Those of the same toolkit, which is told of once: a program and its libraries fail together.
  std::vector<const FileResult*> files_of_runtime(const FileResult& file, std::size_t device) const {
    const DeviceResult& result = file.devices[device];
    std::vector<const FileResult*> files;
    for (const FileResult& each : all_.files) {
      const DeviceResult& other = each.devices[device];
      const bool same =
          other.toolkit_ahead == result.toolkit_ahead && other.runtime_elsewhere == result.runtime_elsewhere;
      if (same && is_to_be_told(all_, each, device)) files.push_back(&each);
    }
    return files;
  }

  // Fat binaries that lack the same images are one message.
  void write_expectation(const FileResult& file) {
    std::vector<std::pair<Error, std::vector<const ExpectFailure*>>> groups;  // the error of the first
    for (const ExpectFailure& failure : file.expect.failures) {
      Error error = error_of(file, failure);
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const auto& each) { return each.first.what == error.what; });
      if (group == groups.end()) group = groups.insert(groups.end(), {std::move(error), {}});
      group->second.push_back(&failure);
    }
    for (const auto& [error, failures] : groups) {
      line({options_.style.error("archguard: error: "), error.text()});
      detail("found", failures.front()->found);
      if (failures.size() > 1)
        detail("also",
               count_of(failures.size() - 1, "more fat binary", "more fat binaries") + " of this file");
      detail("fix", error.fix);
    }
  }

  void write_summary(const FileResult& file) {
    const Outcome outcome = outcome_of(all_, file);
    if (outcome == Outcome::no_device_code) {
      line(fmt::format("{}: {}", name_of(file), file.has_fatbins ? "no kernels" : "no device code"));
      return;
    }
    const bool is_gone = !file.opened && !file.errors.empty() && file.errors.front().where == file.path;
    if (!file.errors.empty() && !is_gone)  // of which the error says it all
      line(fmt::format("{}: not read whole, so nothing counts as covered", name_of(file)));
    const std::string name = name_of(file) + (file.needed_by.empty() ? "" : ", needed by " + file.needed_by) +
                             (file.by_linker ? ", found where the linker did" : "");
    std::vector<Coverage> classes;
    for (const DeviceResult& result : file.devices) classes.push_back(result.coverage);
    const auto [text, excluded] = covered_text(all_, classes);
    if (tabled_ || !file.errors.empty()) {
      // It stands in the table of all files, or is known not to count.
    } else if (file.alternative && !text.empty())
      line(fmt::format("{}: {}{}, {}", name, text, excluded, globs_text(all_, file)));
    else if (!text.empty())
      line({name + ": ", outcome == Outcome::covered ? options_.style.good(text) : options_.style.error(text),
            excluded});
    if (file.expect.fatbins != 0) {
      const std::size_t lacking = file.expect.failures.size();
      const std::string exempt =
          file.expect.specific == 0 ? ""
                                    : fmt::format(" ({} more with a or f images only)", file.expect.specific);
      line(fmt::format("{}: {} of {} what was asked for{}", name_of(file), file.expect.fatbins - lacking,
                       count_of(file.expect.fatbins, "fat binary holds", "fat binaries hold"), exempt));
    }
  }

  const Verification& all_;
  const ReportOptions& options_;
  std::vector<FailureGroup> groups_;
  std::map<std::size_t, std::vector<const FailureGroup*>> groups_of_;  // by the first of their files
  bool tabled_ = false;  // several files: one table for all of them, in place of one each
  std::string out_;
};

}  // namespace

std::string verify_text(const Verification& verification, const ReportOptions& options) {
  std::string text = Writer(verification, options).write();
  if (verification.files.empty() && !verification.looked_in.empty())
    text += printable(no_binary_text(verification.looked_in)) + "\n";
  return text;
}

}  // namespace archguard
