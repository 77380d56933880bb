#include "report/verify_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "base/printable.h"
#include "base/text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/fix.h"
#include "coverage/pickable.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "report/any_of_text.h"
#include "report/device_text.h"
#include "report/driver_notes.h"
#include "report/embedded_text.h"
#include "report/failure_text.h"
#include "report/for_others_text.h"
#include "report/left_out.h"
#include "report/names.h"
#include "report/package_sums.h"
#include "report/tables.h"

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
    if (tabled_) out_ += table_of_files(all_, options_.style, options_.columns);
    out_ += pickable_text(pickable_images(all_));
    if (libraries != 0 && !options_.brief)
      line(count_of(libraries, "needed library", "needed libraries") + " without device code");
    if (all_.needed)
      for (const Error& error : all_.needed->errors) {
        line({options_.style.error("archguard: error: "), error.text()});
        detail("fix", error.fix);
      }
    if (expects_of_data_alone(all_)) {
      line({options_.style.error("archguard: error: "),
            "no fat binary is there to hold what was asked for; images held as data are not asked"});
      detail("fix",
             "leave --expect out, or verify the .ptx, .cubin or .fatbin files that the images are made of");
    } else if (expects_in_vain(all_)) {
      line({options_.style.error("archguard: error: "),
            "every fat binary holds a or f images only, and none of what was asked for"});
      detail("fix", "remove -arch and -gencode flags that override CUDA_ARCHITECTURES");
    }
    for (const auto& [waiver, kernel_read] : all_.unused_waivers)
      warn(fmt::format("{}: the waiver for '{}' on {} {}", waiver.origin, waiver.kernel, waiver.compute_cap,
                       kernel_read ? "was not needed" : "matches no kernel that was read"),
           kernel_read ? "delete the line"
                       : "look at the spelling; archguard inspect --kernels shows the names");
    for (std::size_t i = 0; i < all_.devices.size(); ++i) {
      if (!is_unjudged(all_.devices.kind(i))) continue;
      line({options_.style.error("archguard: unknown: "),
            fmt::format("{}: a device without a compute capability cannot be judged",
                        describe(all_.devices[i]))});
      detail("fix",
             "write its compute_cap (X.Y) into that line, or into its column excluded why it is left out");
    }
    out_ += left_out_text(all_.devices);
    for (const auto& [text, fix] : notes_on_jetsons(all_)) warn(text, fix);
    for (std::size_t i = 0; i < all_.classes.size(); ++i)
      if (is_beyond_table(*all_.classes[i].device.capability))
        warn(
            fmt::format("{}: no toolkit up to CUDA {} knows such a device; it is judged by the general rules",
                        devices_of(i), to_string(newest_known_toolkit().version)),
            {});
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
  void warn(const std::string& text, const std::string& fix) {
    line({options_.style.warning("archguard: warning: "), text});
    detail("fix", fix);
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
    for (const Error& warning : file.warnings) warn(warning.text(), warning.fix);
    const bool alone = !file.alternative;
    if (const auto groups = groups_of_.find(index); groups != groups_of_.end())
      for (const FailureGroup* group : groups->second) write_failures(*group);
    if (alone) write_expectation(file);
    for (std::size_t i = 0; i < file.devices.size(); ++i)
      if (is_to_be_told(all_, file, i)) write_warnings(file, i);
    write_for_others(file);
    if (!options_.brief && !tabled_) out_ += table_of_devices(all_, file, options_.style);
    write_summary(file);
  }

  void write_failures(const FailureGroup& group) {
    const FailureText text =
        failure_text(all_, group, {options_.hint_scope, options_.target, options_.full, options_.columns});
    line({options_.style.error("archguard: " + text.kind + ": "), text.where + ": " + text.what});
    for (const auto& [label, words] : text.details) detail(label, words);
  }

  // Nothing that a device gets of a library works: said with the error.
  static bool is_idle(const DeviceResult& result) {
    return std::any_of(result.failures.begin(), result.failures.end(), [](const Failure& failure) {
      return failure.cause == FailureCause::partly && failure.code != 0;
    });
  }
  static bool is_partly(const DeviceResult& result) {
    return result.partly && result.coverage == Coverage::covered;
  }

  void write_partly(const FileResult& file, std::size_t index) {
    const DeviceResult& result = file.devices[index];
    if (!is_partly(result)) return;
    const PartlyText text = partly_text(result, devices_of(index));
    warn(name_of(file) + ": " + text.what, text.fix);
  }

  void write_warnings(const FileResult& file, std::size_t index) {
    const DeviceResult& result = file.devices[index];
    if (result.fatbins.linked_at_load != 0)
      line(
          fmt::format("archguard: note: {}: the driver links -rdc code again when it is loaded on {}: "
                      "documented by NVIDIA, not recorded on a GPU",
                      name_of(file), devices_of(index)));
    write_partly(file, index);
    if (!result.kernels.hollow.empty() && !is_idle(result))
      warn(fmt::format("{}: {} on {}, while another image holds real code: {}", name_of(file),
                       count_of(result.kernels.hollow.size(), "kernel does nothing", "kernels do nothing"),
                       devices_of(index), name_list(result.kernels.hollow, options_.columns / 2)),
           file.library ? "--hollow off, if the library chooses other kernels for this device"
                        : result.hollow_fix);
    if (!result.variables.unnamed.empty())
      warn(fmt::format(
               "{}: {} in the {} image that {} takes, and no host code that nvcc compiled names {}: {}",
               name_of(file),
               count_of(result.variables.unnamed.size(), "variable is missing", "variables are missing"),
               result.variables.unnamed_in, devices_of(index),
               result.variables.unnamed.size() == 1 ? "it" : "them",
               name_list(result.variables.unnamed, options_.columns / 2)),
           {});
    const bool said = !result.failures.empty() && result.failures.front().code == kInsufficientDriver;
    if (result.toolkit_ahead && !said) write_old_driver(file, index);
    write_embedded(file, index);
    if (result.other_order && !options_.brief) write_other_order(*result.other_order, index);
  }

  void write_other_order(const OtherOrder& other, std::size_t index) {
    line(fmt::format("archguard: note: {}: on {}, {}", other.where, devices_of(index), other.text));
    if (other.fatbins > 1)
      detail("also", count_of(other.fatbins - 1, "more fat binary", "more fat binaries") + " of this file");
    detail("fix", "compile SASS for this device, which both orders take: " +
                      to_string(arch_of(*all_.classes[index].device.capability)) + "-real");
  }

  void write_for_others(const FileResult& file) {
    for (const auto& said : {for_others_text(all_, file), embedded_for_others_text(all_, file)})
      if (said && (!options_.brief || said->warning)) write_for_others(*said);
  }

  void write_for_others(const ForOthersText& said) {
    if (said.warning) return warn(said.text, said.fix);
    line("archguard: note: " + said.text);
    detail("fix", said.fix);
  }

  void write_embedded(const FileResult& file, std::size_t index) {
    const EmbeddedResult& embedded = file.devices[index].embedded;
    if (!embedded.lacking() || embedded.is_error || embedded.comes_later) return;
    warn(name_of(file) + ": " + embedded_text(embedded, devices_of(index)), {});
    detail("cause", embedded.reason);
    if (embedded.without.size() > 1) detail("missing", name_list(embedded.without, options_.columns / 2));
    detail("fix", fix_of_embedded(embedded));
  }

  // Once for all files of that toolkit: a program and its libraries fail together.
  void write_old_driver(const FileResult& file, std::size_t index) {
    const auto toolkit = file.devices[index].toolkit_ahead;
    std::vector<std::string> others;
    for (const FileResult& each : all_.files) {
      const DeviceResult& other = each.devices[index];
      const bool same =
          other.toolkit_ahead == toolkit && other.runtime_elsewhere == file.devices[index].runtime_elsewhere;
      if (!same || !is_to_be_told(all_, each, index)) continue;
      if (&each == &file) {
        if (!others.empty()) return;  // said with the first of them
      } else {
        others.push_back(name_of(each));
      }
    }
    warn(fmt::format("{}: {} CUDA {} fails with error 35 (cudaErrorInsufficientDriver) on the driver of {}",
                     name_of(file),
                     file.devices[index].runtime_elsewhere ? "the CUDA runtime is in another file; that of"
                                                           : "the runtime of",
                     to_string(*toolkit), devices_of(index)),
         {});
    detail("also", join(others, ", "));
    detail("fix", file.devices[index].runtime_fix);
  }

  // Fat binaries that lack the same images are one message.
  void write_expectation(const FileResult& file) {
    std::vector<std::pair<std::string, std::vector<const ExpectFailure*>>> groups;
    for (const ExpectFailure& failure : file.expect.failures) {
      std::vector<std::string> absent;
      for (const ExpectedImage& image : failure.absent) absent.push_back(to_string(image));
      const std::string key = join(absent, ", ");
      auto group =
          std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.first == key; });
      if (group == groups.end()) group = groups.insert(groups.end(), {key, {}});
      group->second.push_back(&failure);
    }
    for (const auto& [absent, failures] : groups) {
      const std::string asked = options_.target.name.empty() ? "which was asked for"
                                                             : "which CUDA_ARCHITECTURES of target '" +
                                                                   options_.target.name + "' asks for";
      line({options_.style.error("archguard: error: "),
            fmt::format("{}: lacks {}, {}", failures.front()->where, absent, asked)});
      detail("found", failures.front()->found);
      if (failures.size() > 1)
        detail("also",
               count_of(failures.size() - 1, "more fat binary", "more fat binaries") + " of this file");
      detail("fix", fix_for_absent(failures.front()->absent, options_.target.name));
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
  if (verification.files.empty()) text += options.no_binary;
  return text;
}

}  // namespace archguard
