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

}  // namespace

Result<int> run_inspect(const InspectOptions& options) {
  ARCHGUARD_CHECK(check_needed(options.needed, options.where, {}, {}));
  const bool costs = options.sort == "size" || options.top;
  if (costs && options.by != "kernel")
    return Error{{}, "--sort size and --top rank kernels", "add --by kernel"};
  if (options.coverage && options.format->is_for_people)
    return Error{{}, "--coverage is for diff, which reads JSON", "add --format json"};
  if (!options.coverage && (!options.fleets.empty() || !options.devices.empty() ||
                            options.scope != "fatbin" || options.embedded != "warn"))
    return Error{{},
                 "--fleet, --device, --scope and --embedded tell which verdicts are kept",
                 "add --coverage --format json"};
  std::optional<DiffSide> side;
  if (options.coverage) {
    ARCHGUARD_TRY(question,
                  question_of_table(options.fleets, options.devices, options.scope, options.embedded));
    ARCHGUARD_TRY(judged, side_of(options.paths, question));
    side = std::move(judged);
  }
  PassedOver unread;
  set_progress("looking for files");
  ARCHGUARD_TRY(files, list_files(options.paths, {}, unread));
  NeededReport needed =
      options.needed ? add_needed(files, options.where, NeededFiles::beside) : NeededReport{};
  const InspectBy by = by_of(options.by);
  const bool kernels = options.kernels || by == InspectBy::kernel;
  if (kernels && options.format->is_for_people) prepare_demangle();
  PrintingSink out;
  std::function<void(JsonWriter&)> members;
  if (side) members = [&](JsonWriter& json) { write_baseline(*side, json); };
  const auto writer =
      options.format->inspect(out, {by, costs, options.top, kernels, Style{colour_for_stdout()}, members});
  bool all_read = true, any_visited = false;
  std::size_t passed_over = 0, libraries = 0;  // most of a folder's files, and of what a program needs
  std::string zip;                             // the last whose members need libraries
  const auto visit = [&](const InputFile& input, const DeviceCode& code, const ByteSource& source) {
    any_visited = true;
    if (options.needed && is_linked_member(code) && zip != input.path)
      needed.errors.push_back(needs_unpacking(zip = input.path));
    if (!input.named && holds_nothing(code)) {
      ++(input.needed_by.empty() ? passed_over : libraries);
      return;
    }
    std::vector<Error> errors = code.errors, warned;
    std::optional<FatbinCodeReader> codes;
    if (kernels) codes.emplace(code, source);
    writer->begin_file(input.path, code.member, source.size());
    for (const DeviceObject& object : code.objects) {
      if (code.archive && !object.holds_fatbins())
        continue;  // members without device code are most of an archive
      writer->begin_object(object);
      FatbinCursor cursor(object);
      Fatbin unpacked;
      while (const Fatbin* fatbin = cursor.next(unpacked)) {
        if (kernels) {
          const FatbinCode contents = codes->next();
          add_warnings(contents, warned);
          all_read &= contents.errors.empty();  // the writer has them from the contents
          writer->fatbin(object, *fatbin, &contents);
        } else {
          for (const FatbinEntry& entry : fatbin->entries)
            if (!entry.unknown.empty() && !fatbin->bare)
              errors.push_back({where(object, *fatbin), "unknown image: " + entry.unknown, {}});
          writer->fatbin(object, *fatbin, nullptr);
        }
      }
      writer->end_object(object);
      if (cursor.failure()) {  // the contents of later objects would be taken for those of this one
        errors.push_back(*cursor.failure());
        break;
      }
    }
    all_read &= errors.empty();
    std::vector<std::string> warnings = code.warnings;
    for (const Error& warning : warned) warnings.push_back(warning.text());
    writer->end_file(errors, warnings);
  };
  visit_files(
      files, visit, [&](const FilesDone& done) { show_progress(done, files.size()); }, unread, Keep::first);
  if (!any_visited && !unread.empty()) all_read = false;
  writer->finish(unread);
  const bool for_people = options.format->is_for_people;
  if (passed_over != 0 && for_people) print(count_of(passed_over, "file") + " without device code\n");
  if (libraries != 0 && for_people)
    print(count_of(libraries, "needed library", "needed libraries") + " without device code\n");
  if (!any_visited && for_people) print(printable(no_binary_text(options.paths, {})) + "\n");
  for (const Error& error : needed.errors) print_error(error);
  all_read &= needed.errors.empty() && (!side || side->errors.empty());
  ARCHGUARD_CHECK(finish_printing());
  return all_read ? kExitCovered : kExitUnreadable;
}

}  // namespace archguard
