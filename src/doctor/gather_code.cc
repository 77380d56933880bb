#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/toolkit.h"
#include "coverage/driver_load.h"
#include "coverage/fatbin_code.h"
#include "coverage/fit.h"
#include "doctor/gather.h"
#include "doctor/package_code.h"
#include "fatbin/cuda_runtime.h"
#include "fatbin/other_file.h"
#include "host/host_file.h"

namespace archguard::doctor {
namespace {

// What the file holds, over all of its fat binaries.
class HeldImages {
 public:
  HeldImages() : bytes_(known_devices().size()) {}

  void add(const Fatbin& fatbin) {
    for (const FatbinEntry& entry : fatbin.entries) {
      if (entry.optix || (entry.kind != EntryKind::sass && entry.kind != EntryKind::ptx)) continue;
      (entry.kind == EntryKind::sass ? sass_ : ptx_).insert(entry.arch);
      for (std::size_t i = 0; i < bytes_.size(); ++i)
        if (fit_of(entry, known_devices()[i]) == Fit::yes) bytes_[i] += entry.uncompressed_size;
    }
  }

  std::string text() const {
    std::vector<std::string> names;
    for (const Arch arch : sass_) names.push_back("sm_" + to_string(arch));
    std::string text = join(names, " ");
    if (ptx_.empty()) return text.empty() ? text : text + ", no PTX";
    names.clear();
    for (const Arch arch : ptx_) names.push_back("compute_" + to_string(arch));
    return text + (text.empty() ? "PTX " : ", PTX ") + join(names, " ");
  }

  bool any_ptx() const { return !ptx_.empty(); }
  std::uint64_t best() const { return bytes_.empty() ? 0 : *std::max_element(bytes_.begin(), bytes_.end()); }

 private:
  std::set<Arch> sass_, ptx_;
  std::vector<std::uint64_t> bytes_;  // that fit each known device
};

std::uint64_t fitting_bytes(const Fatbin& fatbin, ComputeCapability device) {
  std::uint64_t bytes = 0;
  for (const FatbinEntry& entry : fatbin.entries)
    if (!entry.optix && (entry.kind == EntryKind::sass || entry.kind == EntryKind::ptx) &&
        fit_of(entry, device) == Fit::yes)
      bytes += entry.uncompressed_size;
  return bytes;
}

bool has_several_archs(const Fatbin& fatbin) {
  std::set<Arch> archs;
  for (const FatbinEntry& entry : fatbin.entries) archs.insert(entry.arch);
  return archs.size() > 1;
}

// With the kernels, as `verify --scope library` judges.
FileResult judge_with_kernels(const DeviceCode& code, const ByteSource& source,
                              const std::vector<DeviceClass>& classes, const std::string& path,
                              EmbeddedPolicy embedded = EmbeddedPolicy::off) {
  VerifyRequest request;
  request.classes = classes;
  request.policy.scope = Scope::library;
  request.policy.hollow = HollowPolicy::off;
  request.policy.embedded = embedded;
  Waivers none;
  return verify_file(code, source, path, request, none);
}

// For the classes that the headers do not decide.
void take_verdicts(const FileResult& result, CodeFile& file) {
  for (std::size_t i = 0; i < file.fits.size(); ++i) {
    FileFit& fit = file.fits[i];
    if (fit.state != FileFit::State::no_code) continue;
    const DeviceResult& device = result.devices[i];
    fit.state = device.coverage == Coverage::covered             ? FileFit::State::served
                : device.coverage != Coverage::not_covered       ? FileFit::State::unknown
                : device.kernels.covered == 0 && fit.good() == 0 ? FileFit::State::lacking
                                                                 : FileFit::State::partly;
    if (fit.state == FileFit::State::partly)
      fit.partly = std::to_string(device.kernels.covered) + " of " + count_of(device.kernels.total, "kernel");
  }
}

// The same classes, each without its driver: where a GPU gets hardly any kernel, would it with another one?
std::vector<DeviceClass> without_drivers(std::vector<DeviceClass> classes) {
  for (DeviceClass& each : classes) {
    each.device.driver_cuda.reset();
    each.device.driver_version.clear();
  }
  return classes;
}

// The kernels are read once, and judged for both. False where the file holds no device code.
bool judge_kernels(const DeviceCode& code, const ByteSource& source, const Facts& facts, CodeFile& file) {
  std::vector<DeviceClass> classes = facts.classes;
  const std::vector<DeviceClass> others = without_drivers(classes);
  classes.insert(classes.end(), others.begin(), others.end());
  const FileResult result = judge_with_kernels(code, source, classes, file.path);
  if (!result.has_code && result.errors.empty()) return false;
  take_verdicts(result, file);
  for (std::size_t i = 0; i < file.fits.size(); ++i)
    file.fits[i].driver_refuses = file.fits[i].state == FileFit::State::partly &&
                                  facts.classes[i].device.driver_cuda &&
                                  result.devices[file.fits.size() + i].coverage == Coverage::covered;
  return true;
}

// NVIDIA's wheels stand below one folder. A device that gets SASS for none of a library's fat binaries, and
// PTX for less than a tenth of them, is not served: cuSPARSELt 0.7 has one of 733 for 7.5. To read all
// kernels of it takes longer than all else.
bool decide_for_nvidia(CodeFile& file) {
  constexpr std::string_view kFolder = "-packages/nvidia/";
  if (file.path.find(kFolder) == std::string::npos) return false;
  const auto is_undecided = [](const FileFit& fit) {
    return fit.state == FileFit::State::no_code &&
           fit.good() + fit.failing() + fit.specific + fit.unknown != 0;
  };
  const auto is_left_out = [](const FileFit& fit) {
    return fit.to_link == 0 && fit.unknown == 0 && fit.sass == 0 &&
           fit.good() * 10 < fit.good() + fit.failing();
  };
  if (std::any_of(file.fits.begin(), file.fits.end(),
                  [&](const FileFit& fit) { return is_undecided(fit) && !is_left_out(fit); }))
    return false;
  for (FileFit& fit : file.fits) {
    if (!is_undecided(fit)) continue;
    fit.state = FileFit::State::partly;
    fit.partly = std::to_string(fit.good()) + " of " + count_of(file.fatbins, "fat binary", "fat binaries");
    FileFit loaded = fit;
    loaded.sass += loaded.too_new + loaded.packed;
    loaded.too_new = loaded.packed = 0;
    fit.driver_refuses = fit.too_new + fit.packed != 0 && decide_by_headers(loaded);
  }
  return true;
}

// The fat binaries that have no image for the device, by their headers.
DeviceCode gaps_for(const Device& device, const DeviceCode& code) {
  DeviceCode gaps;
  for (const DeviceObject& object : code.objects) {
    gaps.objects.push_back(object);
    auto& fatbins = gaps.objects.back().fatbins;
    const auto has_image = [&](const Fatbin& fatbin) {
      return fit_by_headers(fatbin, device, {}) != HeaderFit::none;
    };
    fatbins.erase(std::remove_if(fatbins.begin(), fatbins.end(), has_image), fatbins.end());
  }
  return gaps;
}

// Each fat binary with its smallest image alone.
DeviceCode smallest_images_of(DeviceCode code) {
  for (DeviceObject& object : code.objects) {
    for (Fatbin& fatbin : object.fatbins) {
      const auto smallest = std::min_element(fatbin.entries.begin(), fatbin.entries.end(),
                                             [](const FatbinEntry& a, const FatbinEntry& b) {
                                               return a.uncompressed_size < b.uncompressed_size;
                                             });
      if (smallest != fatbin.entries.end()) fatbin.entries = {*smallest};
    }
  }
  return code;
}

// How many fat binaries ask for an image. They are taken out of `code`, where `read` has the same.
std::uint64_t take_asking(const DeviceCode& read, const ByteSource& source, DeviceCode& code) {
  FatbinCodeReader reader(read, source);
  std::uint64_t asking = 0;
  for (DeviceObject& object : code.objects) {
    std::vector<Fatbin> rest;
    for (Fatbin& fatbin : object.fatbins) {
      if (asks_for_image(reader.next()))
        ++asking;
      else
        rest.push_back(std::move(fatbin));
    }
    object.fatbins = std::move(rest);
  }
  return asking;
}

// A fat binary without kernels asks for nothing. The few that lack an image, in a file that serves the device
// otherwise, are looked into: one image with a kernel is enough.
void drop_gaps_without_kernels(const DeviceCode& code, const ByteSource& source, const Facts& facts,
                               CodeFile& file) {
  for (std::size_t i = 0; i < file.fits.size(); ++i) {
    FileFit& fit = file.fits[i];
    if (fit.state != FileFit::State::served || fit.none == 0 || fit.good() == 0) continue;
    DeviceCode gaps = gaps_for(facts.classes[i].device, code);
    std::uint64_t asking = take_asking(smallest_images_of(gaps), source, gaps);
    const DeviceCode rest = gaps;
    asking += take_asking(rest, source, gaps);
    fit.none = std::min(fit.none, asking);
  }
}

void add_fatbin(const Fatbin& fatbin, const Facts& facts, CodeFile& file) {
  bool asks = false;
  for (std::size_t i = 0; i < facts.classes.size(); ++i) {
    const Device& device = facts.classes[i].device;
    FileFit& fit = file.fits[i];
    const HeaderFit of_one = fit_by_headers(fatbin, device, {});
    add_fit(fit, of_one);
    fit.to_link += may_link_by_headers(fatbin, device);
    asks |= of_one != HeaderFit::nothing;
    if (of_one == HeaderFit::none && has_several_archs(fatbin)) ++fit.mixed_gaps;
    fit.texts = is_image_by_itself(fatbin) && fatbin.entries[0].kind == EntryKind::ptx;
    fit.fitting_bytes += fitting_bytes(fatbin, *device.capability);
  }
  if (facts.classes.empty()) asks = !fatbin.relocatable;
  file.holds_link_parts |= fatbin.relocatable;
  file.fatbins += asks;
}

// Is its PTX too new for the driver?
bool wants_newer_driver(const EmbeddedResult& embedded) {
  const bool is_refused =
      embedded.code == kUnsupportedPtxVersion || embedded.code == kInvalidPtx;  // of drivers before CUDA 11.0
  return is_refused && embedded.needs_driver;
}

// A program without fat binaries that holds images in its data: one of each module shall run.
std::optional<CodeFile> judge_data(const DeviceCode& code, const ByteSource& source, const Facts& facts,
                                   const HeldImages& held, CodeFile file) {
  const FileResult result = judge_with_kernels(code, source, facts.classes, file.path, EmbeddedPolicy::warn);
  if (result.devices.size() != file.fits.size()) return std::nullopt;
  file.as_data = true;
  file.holds = held.text();
  file.any_ptx = held.any_ptx();
  for (std::size_t i = 0; i < file.fits.size(); ++i) {
    const EmbeddedResult& embedded = result.devices[i].embedded;
    FileFit& fit = file.fits[i];
    file.fatbins = std::max(file.fatbins, embedded.total);
    if (embedded.total == 0 || embedded.undecided()) continue;
    if (!embedded.lacking())
      fit.state = FileFit::State::served, fit.jit = embedded.total;
    else
      fit.state = FileFit::State::lacking,
      fit.texts = embedded.code == kInvalidPtx || embedded.code == kUnsupportedPtxVersion,
      (wants_newer_driver(embedded) ? fit.too_new : fit.none) = embedded.total;
  }
  return file.fatbins == 0 ? std::nullopt : std::optional(std::move(file));
}

// Is the driver of this class too old for some PTX among the data, that it loads itself or that OptiX
// compiles? By the headers.
bool is_data_newer(const DeviceCode& code, const DeviceClass& each, bool optix) {
  if (!each.device.driver_cuda || each.device.cuda_at_least) return false;
  for (const DeviceObject& object : code.objects)
    for (const Fatbin& fatbin : object.fatbins)
      for (const FatbinEntry& entry : fatbin.entries)
        if (fatbin.bare && entry.kind == EntryKind::ptx && entry.optix == optix && entry.ptx_isa &&
            driver_takes_ptx(*entry.ptx_isa, *each.device.driver_cuda) == Fit::no)
          return true;
  return false;
}

// OptiX is a part of the driver, and takes no newer PTX than it (mitsuba-renderer/mitsuba3: PTX 8.3 under
// driver 525).
std::optional<DataImages> judge_optix(const DeviceCode& code, const Facts& facts) {
  DataImages data{"PTX for OptiX", {}};
  for (std::size_t i = 0; i < facts.classes.size(); ++i)
    if (is_data_newer(code, facts.classes[i], true)) data.too_new_for.push_back(i);
  return data.too_new_for.empty() ? std::nullopt : std::optional(std::move(data));
}

// Beside fat binaries only PTX that is too new is told: what is there for other GPUs is chosen from by the
// program.
std::optional<DataImages> judge_data_beside(DeviceCode code, const ByteSource& source, const Facts& facts,
                                            const HeldImages& held, const std::string& path) {
  if (std::none_of(facts.classes.begin(), facts.classes.end(),
                   [&](const DeviceClass& each) { return is_data_newer(code, each, false); }))
    return judge_optix(code, facts);
  for (DeviceObject& object : code.objects) {
    const auto is_registered = [](const Fatbin& fatbin) { return !fatbin.bare; };
    object.fatbins.erase(std::remove_if(object.fatbins.begin(), object.fatbins.end(), is_registered),
                         object.fatbins.end());
  }
  const FileResult result = judge_with_kernels(code, source, facts.classes, path, EmbeddedPolicy::warn);
  DataImages data{held.text(), {}};
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const EmbeddedResult& embedded = result.devices[i].embedded;
    if (embedded.total != 0 && !embedded.undecided() && embedded.lacking() && wants_newer_driver(embedded))
      data.too_new_for.push_back(i);
  }
  return data.too_new_for.empty() ? std::nullopt : std::optional(std::move(data));
}

// Than the newest release of CUDA.
bool any_driver_is_older(const Facts& facts) {
  const Version newest = lowest_driver_cuda_for_toolkit(newest_release_told());
  return std::any_of(facts.classes.begin(), facts.classes.end(), [&](const DeviceClass& each) {
    return each.device.driver_cuda && !each.device.cuda_at_least && *each.device.driver_cuda < newest;
  });
}

// To look for one costs a search of the file's data.
std::optional<Version> linked_in_runtime(const DeviceCode& code, const ByteSource& source,
                                         const Facts& facts) {
  std::optional<Version> found;
  if (!any_driver_is_older(facts)) return found;
  for (const DeviceObject& object : code.objects) {
    if (!object.registers || needed_runtime(object, source)) continue;
    const auto held = held_runtime(object, source);
    if (held && held->at_least && (!found || *found < *held->at_least)) found = held->at_least;
  }
  return found;
}

// The smallest image of SASS that fits one of the classes, alone in what is returned.
std::optional<DeviceCode> smallest_sass_of(const DeviceObject& object, const Facts& facts) {
  const auto fits = [&](const FatbinEntry& entry) {
    return entry.kind == EntryKind::sass &&
           std::any_of(facts.classes.begin(), facts.classes.end(), [&](const DeviceClass& each) {
             return sass_fits(entry.arch, *each.device.capability) == Fit::yes;
           });
  };
  for (const Fatbin& fatbin : object.fatbins) {
    const FatbinEntry* smallest = nullptr;
    for (const FatbinEntry& entry : fatbin.entries)
      if (fits(entry) && (smallest == nullptr || entry.uncompressed_size < smallest->uncompressed_size))
        smallest = &entry;
    if (smallest == nullptr || fatbin.in_data || (fatbin.bare && fatbin.offset != 0)) continue;
    DeviceCode code;
    code.objects.push_back(object);
    code.objects[0].fatbins = {fatbin};
    code.objects[0].fatbins[0].entries = {*smallest};
    return code;
  }
  return std::nullopt;
}

// One image tells: the SASS of a file is of one toolkit.
std::optional<NewerSass> judge_sass(const DeviceCode& code, const ByteSource& source, const Facts& facts,
                                    const CodeFile& file) {
  for (const DeviceObject& object : code.objects) {
    const auto one = smallest_sass_of(object, facts);
    if (!one) continue;
    FatbinCodeReader reader(*one, source);
    const FatbinCode read = reader.next();
    if (read.images.size() != 1 || !read.images[0].code) return std::nullopt;
    const auto needs = lowest_driver_for_sass(read.images[0]);
    if (!needs) return std::nullopt;
    NewerSass newer{*needs, {}, {}};
    for (std::size_t i = 0; i < facts.classes.size(); ++i) {
      const Device& device = facts.classes[i].device;
      if (file.fits[i].state != FileFit::State::served || file.fits[i].sass == 0 || !device.driver_cuda ||
          device.cuda_at_least)
        continue;
      const Fit loads = driver_loads(read.images[0], *device.driver_cuda);
      if (loads == Fit::no) newer.refused_for.push_back(i);
      if (loads == Fit::unknown) newer.untold_for.push_back(i);
    }
    if (newer.refused_for.empty() && newer.untold_for.empty()) return std::nullopt;
    // A search of all its data, which only what is found so far is worth.
    if (needed_runtime(object, source) || held_runtime(object, source)) return std::nullopt;
    return newer;
  }
  return std::nullopt;
}

}  // namespace

bool is_program_or_library(const std::string& path) {
  const auto source = FileSource::open(path);
  return !source || is_host_file(*source);
}

std::optional<CodeFile> read_code_file(const std::string& path, const Facts& facts,
                                       std::vector<Error>& unread) {
  const auto source = FileSource::open(path);
  if (!source) {
    unread.push_back(source.error());
    return std::nullopt;
  }
  const DeviceCode code = read_device_code(*source, path);
  if (!code.recognized) {
    constexpr std::uint64_t kStart = 4096;
    const auto start = read_bytes(*source, 0, std::min(kStart, source->size()));
    // Empty ones are put there on purpose, but for those that a package cannot do without.
    if (start && (start->empty() ? is_called_like_main_file(path) : is_lost_binary(path, *start)))
      unread.push_back(
          Error{path, "is named like a library and is none: a copy or a download of it may have failed",
                "install the package that it belongs to again"});
    return std::nullopt;
  }
  CodeFile file;
  file.path = path;
  file.loose = is_image_name(path);
  file.fits.resize(facts.classes.size());
  HeldImages held, of_data;
  for (const DeviceObject& object : code.objects) {
    for (const Fatbin& fatbin : object.fatbins) {
      if (fatbin.bare && fatbin.offset != 0) {
        of_data.add(fatbin);
        continue;  // what a program hands to the driver by itself
      }
      add_fatbin(fatbin, facts, file);
      held.add(fatbin);
    }
  }
  unread.insert(unread.end(), code.errors.begin(), code.errors.end());
  if (file.fatbins == 0 && of_data.best() != 0)
    return judge_data(code, *source, facts, of_data, std::move(file));
  if (file.fatbins == 0) return std::nullopt;
  file.holds = held.text();
  file.any_ptx = held.any_ptx();
  file.held_runtime = linked_in_runtime(code, *source, facts);
  bool decided = true;
  for (FileFit& fit : file.fits) {
    fit.best_bytes = held.best();
    decided &= decide_by_headers(fit);
  }
  // A file may hold a fat binary without a kernel, which asks for nothing; to look into a few small ones
  // costs nothing.
  constexpr std::uint64_t kFew = 16, kSmall = std::uint64_t{4} << 20;
  const bool is_cheap = file.fatbins <= kFew && held.best() <= kSmall;
  const auto is_lacking = [](const FileFit& fit) { return fit.state == FileFit::State::lacking; };
  const bool lacks = std::any_of(file.fits.begin(), file.fits.end(), is_lacking);
  const bool asks_kernels = (!decided && !decide_for_nvidia(file)) || (lacks && is_cheap);
  if (asks_kernels && !judge_kernels(code, *source, facts, file)) return std::nullopt;
  drop_gaps_without_kernels(code, *source, facts, file);
  file.data = judge_data_beside(code, *source, facts, of_data, path);
  if (!file.held_runtime && any_driver_is_older(facts))
    file.newer_sass = judge_sass(code, *source, facts, file);
  return file;
}

}  // namespace archguard::doctor
