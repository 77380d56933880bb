#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_source.h"
#include "diff/difference.h"
#include "diff/fleet_change.h"
#include "report/style.h"

namespace archguard {

// A format of diff's reports, and who writes it: of two sides, and of two fleets.
struct DiffFormat {
  std::string_view name;  // of --format
  bool is_for_people;
  void (*write)(const Difference&, const Style&, TextSink&);
  void (*write_fleets)(const FleetChange&, const Style&, TextSink&);
};
const std::vector<DiffFormat>& diff_formats();  // the first is the one that nobody has to name

void write_diff_text(const Difference& difference, const Style& style, TextSink& sink);
void write_diff_json(const Difference& difference, const Style& style, TextSink& sink);
void write_diff_markdown(const Difference& difference, const Style& style, TextSink& sink);

// What the formats share.

// "x-1.0.whl -> x-1.1.whl": the names of both without their folders, where these do not tell them apart.
std::string names_text(const Difference& difference);
// Names --scope library where a file was not covered before either, and loses kernels; else empty.
std::string scope_hint(const Difference& difference);
// "libx.so.12 -> libx.so.13", or one of them where both have one name, or one is missing.
std::string pair_text(const Difference& difference, const FilePair& pair);
// "5.0, 5.2 and 6.0"
std::string devices_text(const Difference& difference, const std::vector<std::size_t>& devices);
// What is lost, in a sentence: "5.0, 5.2 lose 1203 kernels, 'k(int)' first".
std::string loss_text(const Difference& difference, const CoverageLoss& loss);
// Losses of which the same is to be said but for the file, in the order of the first of each.
std::vector<std::vector<const CoverageLoss*>> loss_groups(const Difference& difference);
// Their files: "a.so, b.so and 3 more files".
std::string files_text(const Difference& difference, const std::vector<const CoverageLoss*>& group);
// "12 kernels and 1 variable, 'k(int)' first"; empty where there are none.
std::string counted_names(const std::vector<DiffName>& names);
// Why: "error 209: …; found: …"; empty where there is nothing to say.
std::string cause_text(const CoverageLoss& loss);
// That PTX went which devices compile that no known CUDA makes code for; empty where none did.
std::string ptx_text(const Difference& difference);
// "grew by 12.3 %, and --grow allows 5 %"; empty without that option.
std::string growth_text(const Difference& difference);
std::string verdict_text(const Difference& difference);
// "12.4 MB -> 13.0 MB (+4.9 %)" and "397 -> 410".
std::string change_text(std::uint64_t before, std::uint64_t after);
std::string size_change_text(std::uint64_t before, std::uint64_t after);
std::string_view name_of(CoverageLoss::How how);  // lost gone new unknown

}  // namespace archguard
