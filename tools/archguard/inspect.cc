#include "report/inspect.h"

#include <algorithm>
#include <optional>

#include "base/colour.h"
#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "diff/baseline.h"
#include "diff_side.h"
#include "fatbin/fatbin_cursor.h"
#include "files.h"
#include "image/demangle.h"
#include "needed.h"
#include "progress.h"
#include "report/names.h"
#include "terminal.h"

namespace archguard {
namespace {

InspectBy by_of(const std::string& name) {
  if (name == "kernel") return InspectBy::kernel;
  return name == "arch" ? InspectBy::arch : InspectBy::fatbin;
}

// Nothing for a GPU, and nothing that could not be read.
bool holds_nothing(const DeviceCode& code) {
  return code.errors.empty() && code.warnings.empty() &&
         std::all_of(code.objects.begin(), code.objects.end(), [](const DeviceObject& object) {
           return !object.holds_fatbins() && object.runtime_code.empty();
         });
}

bool ranks_kernels(const InspectOptions& options) {
  return options.sort == "size" || options.top;
}

bool lists_kernels(const InspectOptions& options) {
  return options.kernels || options.by == "kernel";
}

Status check_options(const InspectOptions& options) {
  ARCHGUARD_CHECK(check_needed(options.needed, options.where, {}, {}));
  if (ranks_kernels(options) && options.by != "kernel")
    return Error{{}, "--sort size and --top rank kernels", "add --by kernel"};
  if (options.coverage && options.needed)
    return Error{{}, "--coverage judges PATHs alone", "leave --needed out, or name the libraries as PATHs"};
  if (options.coverage && options.format->is_for_people)
    return Error{{}, "--coverage needs --format json", "add --format json"};
  if (!options.coverage && (!options.fleets.empty() || !options.devices.empty() ||
                            options.scope != "fatbin" || options.embedded != "warn"))
    return Error{{},
                 "--fleet, --device, --scope and --embedded tell which verdicts are kept",
                 "add --coverage --format json"};
  return Done{};
}

// What --coverage adds to the JSON; nothing without it.
Result<std::optional<DiffSide>> side_to_write(const InspectOptions& options) {
  if (!options.coverage) return std::optional<DiffSide>();
  ARCHGUARD_TRY(question,
                question_of_table(options.fleets, options.devices, options.scope, options.embedded));
  ARCHGUARD_TRY(judged, side_of(options.paths, question));
  return std::optional<DiffSide>(std::move(judged));
}

// Hands each file to the writer, and counts those that hold nothing.
class Inspection {
 public:
  Inspection(const InspectOptions& options, InspectWriter& writer, std::vector<Error>& needed_errors)
      : options_(options), writer_(writer), needed_errors_(needed_errors), kernels_(lists_kernels(options)) {}

  void visit(const InputFile& input, const DeviceCode& code, const ByteSource& source) {
    any_visited_ = true;
    if (options_.needed && is_linked_member(code) && zip_ != input.path)
      needed_errors_.push_back(needs_unpacking(zip_ = input.path));
    if (!input.named && holds_nothing(code)) {
      ++(input.needed_by.empty() ? passed_over_ : libraries_);
      return;
    }
    write_file(input, code, source);
  }

  bool any_visited() const { return any_visited_; }
  bool all_read() const { return all_read_; }

  // What people are told at the end.
  std::string ending() const {
    std::string text;
    if (passed_over_ != 0) text += count_of(passed_over_, "file") + " without device code\n";
    if (libraries_ != 0)
      text += count_of(libraries_, "needed library", "needed libraries") + " without device code\n";
    if (!any_visited_) text += printable(no_binary_text(options_.paths)) + "\n";
    return text;
  }

 private:
  void write_file(const InputFile& input, const DeviceCode& code, const ByteSource& source) {
    std::vector<Error> errors = code.errors, warned;
    std::optional<FatbinCodeReader> codes;
    if (kernels_) codes.emplace(code, source);
    writer_.begin_file(input.path, code.member, source.size());
    for (const DeviceObject& object : code.objects) {
      if (code.archive && !object.holds_fatbins())
        continue;  // members without device code are most of an archive
      if (write_object(object, codes, errors, warned)) continue;
      break;  // the contents of later objects would be taken for those of this one
    }
    all_read_ &= errors.empty();
    std::vector<std::string> warnings = code.warnings;
    for (const Error& warning : warned) warnings.push_back(warning.text());
    writer_.end_file(errors, warnings);
  }

  // False where it could not be read to its end.
  bool write_object(const DeviceObject& object, std::optional<FatbinCodeReader>& codes,
                    std::vector<Error>& errors, std::vector<Error>& warned) {
    writer_.begin_object(object);
    FatbinCursor cursor(object);
    Fatbin unpacked;
    while (const Fatbin* fatbin = cursor.next(unpacked)) {
      if (codes) {
        const FatbinCode contents = codes->next();
        add_warnings(contents, warned);
        all_read_ &= contents.errors.empty();  // the writer has them from the contents
        writer_.fatbin(object, *fatbin, &contents);
      } else {
        for (const FatbinEntry& entry : fatbin->entries)
          if (!entry.unknown.empty() && !fatbin->bare)
            errors.push_back({where(object, *fatbin), "unknown image: " + entry.unknown, {}});
        writer_.fatbin(object, *fatbin, nullptr);
      }
    }
    writer_.end_object(object);
    if (cursor.failure()) errors.push_back(*cursor.failure());
    return !cursor.failure();
  }

  const InspectOptions& options_;
  InspectWriter& writer_;
  std::vector<Error>& needed_errors_;
  bool kernels_;
  bool all_read_ = true, any_visited_ = false;
  std::size_t passed_over_ = 0, libraries_ = 0;  // most of a folder's files, and of what a program needs
  std::string zip_;                              // the last whose members need libraries
};

}  // namespace

Result<int> run_inspect(const InspectOptions& options) {
  ARCHGUARD_CHECK(check_options(options));
  ARCHGUARD_TRY(side, side_to_write(options));
  PassedOver unread;
  set_progress("looking for files");
  ARCHGUARD_TRY(files, list_files(options.paths, {}, unread));
  NeededReport needed =
      options.needed ? add_needed(files, options.where, NeededFiles::beside) : NeededReport{};
  const bool for_people = options.format->is_for_people;
  if (lists_kernels(options) && for_people) prepare_demangle();
  PrintingSink out;
  std::function<void(JsonWriter&)> members;
  if (side) members = [&](JsonWriter& json) { write_baseline(*side, json); };
  const auto writer =
      options.format->inspect(out, {by_of(options.by), ranks_kernels(options), options.top,
                                    lists_kernels(options), Style{colour_for_stdout()}, members});
  Inspection inspection(options, *writer, needed.errors);
  visit_files(
      files,
      [&](const InputFile& input, const DeviceCode& code, const ByteSource& source) {
        inspection.visit(input, code, source);
      },
      [&](const FilesDone& done) { show_progress(done, files.size()); }, unread, Keep::first);
  writer->finish(unread);
  if (for_people) print(inspection.ending());
  for (const Error& error : needed.errors) print_error(error);
  const bool none_read = !inspection.any_visited() && !unread.empty();
  const bool all_read =
      inspection.all_read() && !none_read && needed.errors.empty() && (!side || side->errors.empty());
  ARCHGUARD_CHECK(finish_printing());
  return all_read ? kExitCovered : kExitUnreadable;
}

}  // namespace archguard
