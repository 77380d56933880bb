#include "diff/difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace archguard {
namespace {

bool is_run(Runs runs) {
  return runs == Runs::everywhere || runs == Runs::in_some;
}

// The better of both.
Runs best_of(Runs a, Runs b) {
  const auto rank = [](Runs each) {
    return each == Runs::nowhere ? 0 : each == Runs::unknown ? 1 : each == Runs::in_some ? 2 : 3;
  };
  return rank(a) < rank(b) ? b : a;
}

enum class Fate { stays, lost, unknown };

// Of a name that both files have.
Fate fate_of(Runs was, Runs is) {
  if (was == Runs::nowhere || is == Runs::everywhere || (was == Runs::in_some && is == Runs::in_some))
    return Fate::stays;
  return was == Runs::unknown || is == Runs::unknown ? Fate::unknown : Fate::lost;
}

Coverage coverage_on(const DiffFile& file, std::size_t device) {
  return device < file.verdicts.size() ? file.verdicts[device].coverage : Coverage::not_covered;
}

bool has_plain_ptx(const DiffFile& file) {
  return std::any_of(file.sizes.begin(), file.sizes.end(), [](const auto& size) {
    return size.first.first == EntryKind::ptx && size.first.second.suffix == Suffix::none;
  });
}

class Comparing {
 public:
  explicit Comparing(Difference& difference)
      : all_(difference),
        devices_(all_.before.devices.size()),
        asks_names_(all_.before.scope != "library"),
        before_(numbers_of(all_.before)),
        after_(numbers_of(all_.after)) {}

  void compare() {
    std::vector<bool> stays(all_.before.files.size());  // that have device code on both sides
    for (const FilePair& pair : all_.files)
      if (pair.before && pair.after) stays[*pair.before] = all_.after.files[*pair.after].has_code;
    for (std::size_t device = 0; device < devices_; ++device) {
      was_.push_back(best_on(all_.before, before_, stays, device));
      is_.push_back(best_on(all_.after, after_, {}, device));
      told_.emplace_back(numbers_.size());
    }
    for (const FilePair& pair : all_.files) {
      first_ = all_.losses.size();
      for (std::size_t device = 0; device < devices_; ++device) {
        if (is_in(all_.before, pair.before))
          compare_old(pair, device);
        else
          look_at_new(pair, device);
        note_gain(pair, device);
      }
      note_ptx(pair);
    }
    for (const FilePair& pair : all_.files) {
      first_ = all_.losses.size();
      for (std::size_t device = 0; device < devices_; ++device)
        if (asks_names_ && is_in(all_.after, pair.after)) find_moved(*pair.after, device);
    }
    std::sort(all_.gained.begin(), all_.gained.end());
    all_.gained.erase(std::unique(all_.gained.begin(), all_.gained.end()), all_.gained.end());
  }

 private:
  using Numbers = std::vector<std::vector<std::size_t>>;  // of each file's names, over both sides

  static bool is_in(const DiffSide& side, const std::optional<std::size_t>& file) {
    return file && side.files[*file].has_code;
  }

  Numbers numbers_of(const DiffSide& side) {
    Numbers numbers;
    for (const DiffFile& file : side.files) {
      numbers.emplace_back();
      for (const DiffName& name : file.names)
        numbers.back().push_back(numbers_.try_emplace(name, numbers_.size()).first->second);
    }
    return numbers;
  }

  // By name: the best of the files, or of those that are marked.
  std::vector<Runs> best_on(const DiffSide& side, const Numbers& numbers, const std::vector<bool>& marked,
                            std::size_t device) const {
    std::vector<Runs> best(numbers_.size(), Runs::nowhere);
    for (std::size_t file = 0; file < side.files.size(); ++file) {
      if (!side.files[file].has_code || (!marked.empty() && !marked[file])) continue;
      const std::vector<Runs> here = runs_on(side.files[file], device);
      for (std::size_t i = 0; i < here.size(); ++i)
        best[numbers[file][i]] = best_of(best[numbers[file][i]], here[i]);
    }
    return best;
  }

  // Each name of the file.
  static std::vector<Runs> runs_on(const DiffFile& file, std::size_t device) {
    std::vector<Runs> runs(file.names.size(), Runs::everywhere);
    for (const auto& [index, each] : file.verdicts[device].not_all) runs[index] = each;
    return runs;
  }

  bool was_all_covered(std::size_t device) const {
    bool any = false;
    for (const DiffFile& file : all_.before.files) {
      if (!file.has_code) continue;
      any = true;
      if (coverage_on(file, device) != Coverage::covered) return false;
    }
    return any;
  }

  void compare_old(const FilePair& pair, std::size_t device) {
    const DiffFile& before = all_.before.files[*pair.before];
    CoverageLoss loss;
    loss.before = pair.before;
    loss.after = pair.after;
    loss.was_covered = coverage_on(before, device) == Coverage::covered;
    if (is_in(all_.after, pair.after))
      look_at_both(std::move(loss), device);
    else
      look_at_gone(std::move(loss), device);
  }

  void look_at_both(CoverageLoss loss, std::size_t device) {
    const DiffFile& before = all_.before.files[*loss.before];
    const DiffFile& after = all_.after.files[*loss.after];
    const Coverage was = coverage_on(before, device), is = coverage_on(after, device);
    const std::vector<Runs> ran = runs_on(before, device), run = runs_on(after, device);
    std::vector<DiffName> lost, untold;
    auto name = before.names.begin();
    for (std::size_t i = 0; i < after.names.size(); ++i) {  // both are sorted
      while (name != before.names.end() && *name < after.names[i]) ++name;
      if (name == before.names.end() || !(*name == after.names[i])) continue;
      const Fate fate = fate_of(ran[static_cast<std::size_t>(name - before.names.begin())], run[i]);
      if (fate == Fate::stays) continue;
      (fate == Fate::lost ? lost : untold).push_back(*name);
      told_[device][after_[*loss.after][i]] = true;
    }
    if (!asks_names_ && is == Coverage::covered) return;
    const bool falls = was == Coverage::covered && is == Coverage::not_covered;
    const bool is_in_doubt = (was == Coverage::covered && is == Coverage::unknown) ||
                             (was == Coverage::unknown && is != Coverage::covered);
    if (falls || (asks_names_ && !lost.empty()))
      loss.how = CoverageLoss::How::falls;
    else if (is_in_doubt || (asks_names_ && !untold.empty()))
      loss.how = CoverageLoss::How::unknown;
    else
      return;
    loss.names = std::move(loss.how == CoverageLoss::How::falls ? lost : untold);
    add(std::move(loss), device);
  }

  void look_at_gone(CoverageLoss loss, std::size_t device) {
    const DiffFile& before = all_.before.files[*loss.before];
    const std::vector<Runs> ran = runs_on(before, device);
    std::vector<DiffName> lost, untold;
    for (std::size_t i = 0; i < ran.size(); ++i) {
      const Runs now = is_[device][before_[*loss.before][i]];
      if (ran[i] == Runs::nowhere || is_run(now)) continue;
      (is_run(ran[i]) && now == Runs::nowhere ? lost : untold).push_back(before.names[i]);
    }
    const bool unnamed = before.names.empty();
    const Coverage was = coverage_on(before, device);
    if (!asks_names_ && was == Coverage::not_covered) return;
    if (!lost.empty() || (unnamed && was == Coverage::covered))
      loss.how = CoverageLoss::How::gone;
    else if (!untold.empty() || (unnamed && was == Coverage::unknown))
      loss.how = CoverageLoss::How::unknown;
    else
      return;
    loss.names = std::move(loss.how == CoverageLoss::How::gone ? lost : untold);
    if (!all_.after.passed_over.empty()) loss.how = CoverageLoss::How::unknown;  // it may be in there
    add(std::move(loss), device);
  }

  // A new file keeps nobody from running what ran before, but the whole is not covered any more.
  void look_at_new(const FilePair& pair, std::size_t device) {
    if (!is_in(all_.after, pair.after)) return;
    const Coverage is = coverage_on(all_.after.files[*pair.after], device);
    if (is == Coverage::covered || !was_all_covered(device)) return;
    CoverageLoss loss;
    loss.how = is == Coverage::unknown ? CoverageLoss::How::unknown : CoverageLoss::How::comes;
    loss.after = pair.after;
    add(std::move(loss), device);
  }

  // What ran from a file that stays, and is now in this one, and runs from none.
  void find_moved(std::size_t file, std::size_t device) {
    const DiffFile& after = all_.after.files[file];
    std::vector<DiffName> lost, untold;
    for (const auto& [index, here] : after.verdicts[device].not_all) {
      const std::size_t number = after_[file][index];
      const Runs was = was_[device][number], is = is_[device][number];
      if (was == Runs::nowhere || is_run(is) || told_[device][number]) continue;
      (is_run(was) && is == Runs::nowhere ? lost : untold).push_back(after.names[index]);
      told_[device][number] = true;
    }
    for (auto* names : {&lost, &untold}) {
      if (names->empty()) continue;
      CoverageLoss loss;
      loss.before = owner_of(names->front(), device);
      loss.after = file;
      if (names == &untold) loss.how = CoverageLoss::How::unknown;
      loss.names = std::move(*names);
      add(std::move(loss), device);
    }
  }

  // The file of OLD where it ran.
  std::optional<std::size_t> owner_of(const DiffName& name, std::size_t device) const {
    for (std::size_t i = 0; i < all_.before.files.size(); ++i) {
      const DiffFile& file = all_.before.files[i];
      const auto found = std::lower_bound(file.names.begin(), file.names.end(), name);
      if (found == file.names.end() || !(*found == name) || !file.has_code) continue;
      if (runs_on(file, device)[static_cast<std::size_t>(found - file.names.begin())] != Runs::nowhere)
        return i;
    }
    return std::nullopt;
  }

  // Devices that lose the same for the same reason share one.
  void add(CoverageLoss loss, std::size_t device) {
    if (is_in(all_.after, loss.after)) {
      const DiffVerdict& verdict = all_.after.files[*loss.after].verdicts[device];
      loss.verdict = {verdict.coverage, verdict.code, verdict.what, verdict.found, verdict.fix};
    }
    const auto key = [](const CoverageLoss& of) {
      return std::tie(of.how, of.before, of.after, of.was_covered, of.verdict.code, of.verdict.found,
                      of.names);
    };
    const auto begin = all_.losses.begin() + static_cast<std::ptrdiff_t>(first_);
    auto found = std::find_if(begin, all_.losses.end(),
                              [&](const CoverageLoss& other) { return key(other) == key(loss); });
    if (found == all_.losses.end()) found = all_.losses.insert(found, std::move(loss));
    found->devices.push_back(device);
  }

  void note_gain(const FilePair& pair, std::size_t device) {
    if (!pair.before || !pair.after) return;
    if (coverage_on(all_.after.files[*pair.after], device) == Coverage::covered &&
        coverage_on(all_.before.files[*pair.before], device) != Coverage::covered)
      all_.gained.push_back(device);
  }

  void note_ptx(const FilePair& pair) {
    if (!is_in(all_.before, pair.before) || !is_in(all_.after, pair.after)) return;
    if (has_plain_ptx(all_.before.files[*pair.before]) && !has_plain_ptx(all_.after.files[*pair.after]))
      all_.ptx_went.push_back(*pair.after);
  }

  Difference& all_;
  const std::size_t devices_;
  const bool asks_names_;  // else the library chooses, and verify asks what each device gets as a whole
  std::map<DiffName, std::size_t> numbers_;
  const Numbers before_, after_;
  std::size_t first_ = 0;  // of the losses of the file at hand
  // By device and name: where it ran in files that stay, and where it runs now; whether its loss is told.
  std::vector<std::vector<Runs>> was_, is_;
  std::vector<std::vector<bool>> told_;
};

}  // namespace

Difference difference_of(DiffSide before, DiffSide after) {
  Difference difference;
  difference.before = std::move(before);
  difference.after = std::move(after);
  difference.files = match_files(difference.before.files, difference.after.files);
  Comparing(difference).compare();
  return difference;
}

DiffSizes sizes_of(const DiffSide& side) {
  DiffSizes sizes;
  for (const DiffFile& file : side.files) add(sizes, file.sizes);
  return sizes;
}

std::optional<double> percent_of_growth(std::uint64_t was, std::uint64_t is) {
  if (was == is) return 0;
  if (was == 0) return std::nullopt;
  const double percent = (static_cast<double>(is) / static_cast<double>(was) - 1) * 100;
  return std::ceil(percent * 10 - 1e-6) / 10;
}

std::optional<double> growth_of(const Difference& difference) {
  return percent_of_growth(total_of(sizes_of(difference.before)).stored,
                           total_of(sizes_of(difference.after)).stored);
}

bool grew_too_much(const Difference& difference) {
  if (!difference.grow) return false;
  const std::uint64_t was = total_of(sizes_of(difference.before)).stored;
  const std::uint64_t is = total_of(sizes_of(difference.after)).stored;
  if (is <= was) return false;
  return static_cast<long double>(is - was) * 100 >
         static_cast<long double>(was) * static_cast<long double>(*difference.grow);
}

bool is_untold(const Difference& difference) {
  const auto is_unknown = [](const CoverageLoss& loss) { return loss.how == CoverageLoss::How::unknown; };
  return !difference.before.errors.empty() || !difference.after.errors.empty() ||
         std::any_of(difference.losses.begin(), difference.losses.end(), is_unknown);
}

bool is_lost(const Difference& difference) {
  return std::any_of(difference.losses.begin(), difference.losses.end(),
                     [](const CoverageLoss& loss) { return loss.how != CoverageLoss::How::unknown; });
}

}  // namespace archguard
