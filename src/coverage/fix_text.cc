#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "compat/torch.h"
#include "coverage/fix.h"
#include "coverage/waivers.h"
#include "device/exclusion.h"

namespace archguard {
namespace {

std::string entry_to_add(const Addition& add) {
  return to_string(add.arch) + (!add.ptx ? "-real" : !add.sass ? "-virtual" : "");
}

std::string nvcc_flags(const Addition& add) {
  const std::string number = to_string(add.arch), flag = "-gencode=arch=compute_" + number + ",code=";
  if (!add.ptx) return flag + "sm_" + number;
  return (add.sass ? flag + "sm_" + number + " " : "") + flag + "compute_" + number;
}

// "compute_75 (nvcc -ptx -arch=compute_75)"; "PTX of compute_75 (…)"
std::string apart(const Addition& add, const std::string& a_cubin, const std::string& some_ptx) {
  const std::string number = to_string(add.arch), sass = "sm_" + number, ptx = "compute_" + number;
  std::vector<std::string> texts;
  if (add.sass) texts.push_back(a_cubin + sass + " (nvcc -cubin -arch=" + sass + ")");
  if (add.ptx) texts.push_back(some_ptx + ptx + " (nvcc -ptx -arch=" + ptx + ")");
  return join(texts, " and ");
}

std::string as_file(const Addition& add) {
  return apart(add, "", "");
}

std::string as_data(const Addition& add) {
  return apart(add, "a cubin of ", "PTX of ");
}

std::string offload_arch(const Addition& add) {
  return "--offload-arch=sm_" + to_string(add.arch);
}

template <class Spelling>
std::vector<std::string> spelled(const std::vector<Addition>& additions, Spelling spelling) {
  std::vector<std::string> texts;
  for (const Addition& add : additions) texts.push_back(spelling(add));
  return texts;
}

// "a", "a and b", "a, b and c"; not empty.
std::string listed(std::vector<std::string> texts, const std::string& last_word = " and ") {
  const std::string last = texts.back();
  texts.pop_back();
  return texts.empty() ? last : join(texts, ", ") + last_word + last;
}

// "; TORCH_CUDA_ARCH_LIST: 8.6 9.0a", with the nearest names where torch does not take these; empty where it
// has none that would do. `exact`: no other image is what is asked for.
std::string torch_form(const std::vector<Addition>& additions, bool exact) {
  std::vector<std::string> names, others;
  for (const Addition& add : additions) {
    auto name = torch_name(add.arch, add.ptx);
    if (!name) {
      if (exact) return {};
      const auto nearest = add.sass ? nearest_in_torch(add.arch) : nearest_ptx_in_torch(add.arch);
      if (!nearest) return {};
      name = torch_name(*nearest, add.ptx);
      others.push_back(to_string(capability_of(add.arch)) + suffix_text(add.arch.suffix));
    }
    if (std::find(names.begin(), names.end(), *name) == names.end()) names.push_back(*name);
  }
  return "; TORCH_CUDA_ARCH_LIST: " + join(names, " ") +
         (others.empty() ? "" : ", as torch takes no " + listed(others, " or "));
}

// nvcc refuses -gencode beside -dlto where it compiles, and takes it where it links. -dlto is -rdc=true as
// well, code=lto_80 is not.
std::string lto_form(const std::vector<Addition>& additions) {
  std::vector<std::string> compiled, linked;
  for (const Addition& add : additions) {
    const std::string number = to_string(add.arch), flag = "-gencode=arch=compute_" + number + ",code=";
    if (add.sass && add.lacks_lto) compiled.push_back(flag + "lto_" + number);
    if (add.ptx) compiled.push_back(flag + "compute_" + number);
    if (add.sass) linked.push_back(flag + "sm_" + number);
  }
  std::string text = "nvcc: compile as before";
  if (!compiled.empty())
    text = "nvcc: compile with -dc, " + join(compiled, " ") +
           " too, and code=[lto_<arch>,compute_<arch>] in place of -dlto";
  return text + (linked.empty() ? "" : ", then link with -dlto, and " + join(linked, " ") + " too");
}

// The same entries for nvcc and for PyTorch's extensions: who reads this may build with any of them.
std::string other_forms(const std::vector<Addition>& additions, bool exact = false) {
  const auto is_by_lto = [](const Addition& add) { return add.by_lto; };
  if (std::any_of(additions.begin(), additions.end(), is_by_lto)) return " (" + lto_form(additions) + ")";
  return " (nvcc: " + join(spelled(additions, nvcc_flags), " ") + torch_form(additions, exact) + ")";
}

constexpr std::size_t kTargetsNamed = 4;

// "a, b, c, d and 3 more"
std::string targets_text(const std::vector<std::string>& names) {
  const std::size_t named = std::min(kTargetsNamed, names.size()), more = names.size() - named;
  return join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named)}, ", ") +
         (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

// " and of the CUDA libraries that it links (a, b)": a kernel of theirs is compiled for their lists.
std::string linked_text(const std::vector<std::string>& linked, bool several = false) {
  if (linked.empty()) return {};
  return std::string(" and of the CUDA ") + (linked.size() == 1 ? "library" : "libraries") + " that " +
         (several ? "they link (" : "it links (") + targets_text(linked) + ")";
}

// ", with all-major spelled out as 75-real;…;120"
std::string word_text(const FixTarget& target) {
  return target.word.empty() ? std::string() : ", with " + target.word + " spelled out as " + target.spelled;
}

std::string add_entries(const std::vector<Addition>& additions, const FixTarget& target,
                        const std::string& entries) {
  const std::string add = "add " + entries + " to ";
  if (!target.name.empty())
    return add + "CUDA_ARCHITECTURES of target '" + target.name + "'" + word_text(target) +
           linked_text(target.linked);
  return add + "CMAKE_CUDA_ARCHITECTURES" + other_forms(additions);
}

std::string add_entries(const std::vector<Addition>& additions, const FixTarget& target) {
  return add_entries(additions, target, listed(spelled(additions, entry_to_add)));
}

std::string toolkits_text(const ToolkitRange& range) {
  const std::string first = "CUDA " + to_string(range.first), last = to_string(range.last);
  if (range.first == range.last) return first;
  if (range.last == newest_known_toolkit().version) return first + " or newer";
  const auto& all = known_toolkits();
  const auto next =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.version > range.first; });
  return first + (next->version == range.last ? " or " : " to ") + last;
}

std::string library_text(const Remedy& way) {
  std::vector<std::string> held;
  for (const Arch arch : way.holds) held.push_back("sm_" + to_string(arch));
  std::string text = "use a build of this library that holds " + listed(held, " or ");
  if (way.toolkits->last < newest_known_toolkit().version)
    text += ", made with CUDA " + to_string(way.toolkits->last) + " or older";
  return text;
}

bool is_held(const std::vector<Addition>& additions, const std::vector<ExpectedImage>& held) {
  const auto holds = [&](Arch arch, bool sass) {
    return std::any_of(held.begin(), held.end(),
                       [&](const ExpectedImage& image) { return image.arch == arch && image.sass == sass; });
  };
  return std::all_of(additions.begin(), additions.end(), [&](const Addition& add) {
    return (!add.sass || holds(add.arch, true)) && (!add.ptx || holds(add.arch, false));
  });
}

// The way adds entries to the list of the build, and asks for nothing else.
bool only_adds(const Remedy& way, const std::vector<ExpectedImage>& held, const FixTarget& target) {
  const bool asks_more = !way.unset.empty() || way.driver || way.toolkits || !way.drop.empty() ||
                         way.other_library || !way.holds.empty() || way.lz4 || way.link;
  return !way.add.empty() && !asks_more && !way.offload && !way.embedded && !way.apart &&
         target.compiles_cuda && !is_held(way.add, held);
}

class Speaker {
 public:
  Speaker(ComputeCapability device, const std::vector<ExpectedImage>& held, const FixTarget& target)
      : device_(device), held_(held), target_(target) {}

  std::string say(const Remedy& way) {
    std::vector<std::string> steps;
    if (!way.unset.empty()) steps.push_back("unset " + listed(way.unset));
    if (way.driver) steps.push_back(update_driver(*way.driver, device_));
    if (way.other_library) {
      steps.push_back("use a build of this library for CUDA " + std::to_string(way.toolkits->last.major));
    } else if (!way.holds.empty()) {
      steps.push_back(library_text(way));
    } else if (way.toolkits) {
      std::string build = "build with " + toolkits_text(*way.toolkits);
      std::vector<std::string> dropped;
      for (const Arch arch : way.drop) dropped.push_back(to_string(arch));
      if (!dropped.empty()) build += " without " + listed(dropped) + ", which it does not make";
      const bool more = way.lz4 || !way.add.empty() || way.link;
      steps.push_back(build + (!dropped.empty() && more ? "," : ""));
    }
    if (way.lz4) steps.push_back(without_zstd(way));
    if (!way.add.empty()) steps.push_back(add(way));
    if (way.link)
      steps.push_back(
          "link that code with nvcc (nvcc -dlink, or CUDA_RESOLVE_DEVICE_SYMBOLS in CMake), or compile it "
          "without -rdc=true (CUDA_SEPARABLE_COMPILATION)");
    return join(steps, " and ");
  }

 private:
  // CUDA 12.7 had no toolkit; before 12.8 nvcc has no such option, and no zstd.
  static std::string without_zstd(const Remedy& way) {
    const bool has_option = !way.toolkits || Version{12, 8} <= way.toolkits->first;
    return has_option ? "compile with nvcc's --compress-mode=speed (LZ4)"
                      : "compile without nvcc's --compress-mode";
  }

  // The list in full once; it is the same list further on.
  std::string add(const Remedy& way) {
    if (way.offload) return "add " + listed(spelled(way.add, offload_arch)) + " to clang's flags";
    if (way.embedded) return "embed " + listed(spelled(way.add, as_data)) + " as well";
    if (way.apart) return "compile it for " + listed(spelled(way.add, as_file)) + " as well";
    const bool again = list_named_;
    list_named_ = true;
    const bool held = !way.toolkits && is_held(way.add, held_), elsewhere = !target_.compiles_cuda;
    if (held || (elsewhere && !again))
      return "build the source file or library that this fat binary comes from for " +
             listed(spelled(way.add, entry_to_add)) + " too" +
             (target_.name.empty() || elsewhere ? other_forms(way.add) : "") +
             (held ? ": other fat binaries of the file hold it" : "");
    return again ? "add " + listed(spelled(way.add, entry_to_add)) : add_entries(way.add, target_);
  }

  const ComputeCapability device_;
  const std::vector<ExpectedImage>& held_;
  const FixTarget& target_;
  bool list_named_ = false;
};

std::string or_waive(const std::string& kernel, const std::vector<std::string>& all,
                     ComputeCapability device) {
  return std::string(", or waive them: --waivers FILE with ") +
         (all.size() > 1 ? "a line for each, such as '" : "the line '") + waiver_line(kernel, device, all) +
         "'";
}

}  // namespace

std::string update_driver(Version cuda, ComputeCapability device) {
  if (may_be_tegra(device)) return jetpack_advice(cuda, device);
  const auto branch = driver_branch_of(cuda);
  return "update the driver to " +
         (branch ? "branch " + std::to_string(*branch) + " (CUDA " + to_string(cuda) + ")"
                 : "one that offers CUDA " + to_string(cuda)) +
         (branch && branch == last_driver_branch_for(device) ? ", the last for this device" : " or newer");
}

std::string text_of(const Fix& fix, const Device& device, const std::vector<ExpectedImage>& held,
                    const FixTarget& target) {
  if (!fix.change.empty()) return fix.change;
  const std::string capability = to_string(*device.capability);
  if (fix.name_driver)
    return "name the driver by the CUDA that it offers: --device " + capability + "@X.Y, or " +
           (may_be_tegra(*device.capability)
                ? "the column driver_cuda in the fleet file, with the CUDA of its JetPack"
                : "a column driver_version in the fleet file");
  std::vector<std::string> texts;
  Speaker speaker(*device.capability, held, target);
  for (const Remedy& way : fix.ways) texts.push_back(speaker.say(way));
  const std::string line = how_to_exclude(device);
  const std::string leave_out =
      line.empty() ? "leave this device out of the fleet" : "leave this device out: " + line;
  if (!fix.demand.empty())
    texts.push_back("do without " + fix.demand);
  else if (texts.empty() && fix.leave_out)
    return "no known toolkit helps " + capability + ": " + leave_out;
  if (fix.leave_out) texts.push_back(leave_out);
  return join(texts, ", or ");
}

std::vector<Addition> entries_to_add(const Fix& fix, const std::vector<ExpectedImage>& held,
                                     const FixTarget& target) {
  if (!fix.change.empty() || fix.name_driver || fix.ways.size() != 1) return {};
  return only_adds(fix.ways.front(), held, target) ? fix.ways.front().add : std::vector<Addition>();
}

std::string fix_by_adding(const std::vector<Addition>& additions, const FixTarget& target) {
  return add_entries(additions, target, join(spelled(additions, entry_to_add), ";"));
}

std::string fix_by_adding(const std::vector<Addition>& additions, const std::vector<FixTarget>& targets) {
  if (targets.size() < 2) return fix_by_adding(additions, targets.empty() ? FixTarget{} : targets.front());
  std::vector<std::string> names, linked;
  for (const FixTarget& target : targets) {
    names.push_back("'" + target.name + "'" + word_text(target));
    for (const std::string& library : target.linked)
      if (std::find(linked.begin(), linked.end(), library) == linked.end()) linked.push_back(library);
  }
  return "add " + listed(spelled(additions, entry_to_add)) + " to CUDA_ARCHITECTURES of " +
         std::to_string(names.size()) + " targets (" + targets_text(names) + ")" + linked_text(linked, true);
}

std::string fix_for_missing(const std::string& what, const std::string& image, const std::string& first,
                            const std::vector<std::string>& all, ComputeCapability device) {
  return "compile every source file that holds these " + what + " for " + image +
         " too, with no #if on __CUDA_ARCH__ that leaves them out" + or_waive(first, all, device);
}

std::string fix_for_hollow(const std::string& image, const std::string& kernel,
                           const std::vector<std::string>& all, ComputeCapability device) {
  return "give these kernels code for " + image + ", where an #if on __CUDA_ARCH__ may leave it out" +
         or_waive(kernel, all, device);
}

std::string fix_by_building_too(const std::vector<Addition>& additions) {
  return "build the source files or libraries that they come from for " +
         listed(spelled(additions, entry_to_add)) + " too" + other_forms(additions);
}

std::string fix_for_partly(const Device& device, const JudgePolicy& policy, bool asked) {
  if (!policy.environment.forces_jit.empty()) return "unset " + policy.environment.forces_jit;
  std::string fix = "use a build of this library that was made for " + to_string(*device.capability);
  const auto toolkits = toolkits_with_sass_for(*device.capability, device.driver_cuda);
  if (toolkits && toolkits->last < newest_known_toolkit().version)
    fix += ", with CUDA " + to_string(toolkits->last) + " or older";
  return fix + (asked ? "; --partly warn, if the program calls only what runs there" : "");
}

namespace {

// "build with CUDA 12.9 and ", where this toolkit does not make all of them; empty where it does, or is not
// known.
std::string with_toolkit_for(const std::vector<ExpectedImage>& images, std::optional<Version> toolkit) {
  const auto makes_all = [&](const Toolkit& each) {
    return std::all_of(images.begin(), images.end(),
                       [&](const ExpectedImage& image) { return has_arch(each, image.arch); });
  };
  const Toolkit* own = toolkit ? find_toolkit(*toolkit) : nullptr;
  if (own == nullptr || makes_all(*own)) return {};
  const auto& all = known_toolkits();
  const auto newest = std::find_if(all.rbegin(), all.rend(), makes_all);
  return newest == all.rend() ? std::string() : "build with CUDA " + to_string(newest->version) + " and ";
}

}  // namespace

std::string fix_for_absent(const std::vector<ExpectedImage>& absent, const std::string& target,
                           std::optional<Version> toolkit) {
  // The target's property asks for them already.
  if (!target.empty())
    return "remove -arch and -gencode flags that override CUDA_ARCHITECTURES of target '" + target +
           "' for this source file";
  std::vector<Addition> additions;
  for (const ExpectedImage& image : absent) {
    auto add = std::find_if(additions.begin(), additions.end(),
                            [&](const Addition& each) { return each.arch == image.arch; });
    if (add == additions.end()) add = additions.insert(add, {image.arch});
    (image.sass ? add->sass : add->ptx) = true;
  }
  return with_toolkit_for(absent, toolkit) + "add " + listed(spelled(additions, entry_to_add)) +
         " to CMAKE_CUDA_ARCHITECTURES" + other_forms(additions, true);
}

}  // namespace archguard
