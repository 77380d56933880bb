#include "coverage/registered_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/mangled_name.h"
#include "base/text.h"

namespace archguard {
namespace {

constexpr std::size_t kOthersMost = 64;  // names to try whether the file tells what host code names

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::binary_search(names.begin(), names.end(), name);
}

// Is this mangled name one of an instance of a template? False where it surely is not.
bool may_be_template(std::string_view name) {
  if (!starts_with(name, "_Z")) return false;
  const auto last = last_plain_name(name);
  if (!last || last->end == name.size()) return true;
  const char next = name[last->end];
  return last->nested ? next != 'E' : next == 'I' || next == 'B';
}

// Of the names that not all images have, the last one that lacks it: what the image of the last architecture
// has, nvcc registers.
std::map<std::string, std::string> lacked_by_some(const FatbinCode& code,
                                                  const std::vector<std::string>& names,
                                                  bool (*has)(const Image&, const std::string&)) {
  std::map<std::string, std::string> lacking;
  for (const std::string& name : names) {
    const auto last = std::find_if(code.images.rbegin(), code.images.rend(),
                                   [&](const Image& image) { return image.code && !has(image, name); });
    if (last != code.images.rend()) lacking.emplace(name, image_name(last->entry));
  }
  return lacking;
}

void keep_those_of(const Image& image, bool (*has)(const Image&, const std::string&),
                   std::map<std::string, std::string>& names) {
  for (auto each = names.begin(); each != names.end();)
    each = has(image, each->first) ? std::next(each) : names.erase(each);
}

std::map<std::string, std::string> variables_lacked_elsewhere(const FatbinCode& code, const Image& own) {
  auto lacked = lacked_by_some(code, code.variables, has_variable);
  keep_those_of(own, has_variable, lacked);
  return lacked;
}

// Is it surely an instance of a template? Of those that only may be one a launch may not link.
bool is_template(std::string_view name) {
  const auto last = last_plain_name(name);
  return last && last->end < name.size() && name[last->end] == 'I';
}

std::map<std::string, std::string> templates_lacked(const FatbinCode& code) {
  const bool all_alike = std::all_of(code.images.begin(), code.images.end(), [&](const Image& image) {
    return !image.code || image.code->kernels.size() == code.kernels.size();
  });
  if (all_alike) return {};
  std::vector<std::string> names;
  for (const KernelName& kernel : code.kernels)
    if (is_template(kernel.name)) names.push_back(kernel.name);
  return lacked_by_some(code, names, has_kernel);
}

}  // namespace

void RegisteredNames::take(const DeviceObject& object, const FatbinCode& code, std::size_t taken,
                           const std::string& image, KernelGaps& gaps) {
  const Image& own = code.images[taken];
  if (!own.code || !host_names_.tells_of(object, code.fatbin)) return;
  note_witness(object, code);
  auto held = variables_lacked_elsewhere(code, own);
  auto templates = templates_lacked(code);
  if (held.empty() && templates.empty() && gaps.variables.empty() && gaps.missing.empty()) return;
  Taken of{&object,
           subject_of(object, code),
           image,
           std::exchange(gaps.missing, {}),
           std::exchange(gaps.variables, {}),
           std::move(held),
           std::move(templates),
           {},
           {}};
  look_for(std::move(of), code, gaps);
}

void RegisteredNames::take_linked(std::size_t link, const DeviceObject& object, const FatbinCode& code,
                                  std::size_t taken) {
  const Image& own = code.images[taken];
  if (!own.code) return;
  note_witness(object, code);
  auto held = variables_lacked_elsewhere(code, own);
  auto templates = templates_lacked(code);
  keep_those_of(own, has_kernel, templates);
  if (held.empty() && templates.empty()) return;
  look_for({&object, subject_of(object, code), {}, {}, {}, std::move(held), std::move(templates), {}, link},
           code, compare_kernels(code, taken));
}

void RegisteredNames::note_witness(const DeviceObject& object, const FatbinCode& code) {
  auto& names = witnesses_[&object];
  for (const KernelName& kernel : code.kernels)
    if (names.size() < kOthersMost && starts_with(kernel.name, "_Z")) names.push_back(kernel.name);
}

// Does the file tell what host code registers, by names of kernels or as its code is known?
bool RegisteredNames::has_witness(const DeviceObject& object) {
  if (host_names_.knows_registering_code(object)) return true;
  const auto& names = witnesses_[&object];
  for (const std::string& name : names) host_names_.look_for_kernel(object, name);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return host_names_.has(object, name); });
}

// `gaps`: what else the image lacks.
void RegisteredNames::look_for(Taken of, const FatbinCode& code, const KernelGaps& gaps) {
  const auto note_other = [&](const std::string& name) {
    if (of.others.size() < kOthersMost && !has_name(gaps.missing, name) && !has_name(gaps.variables, name) &&
        !has_name(of.missing, name) && !has_name(of.kernels, name))
      of.others.push_back(name);
  };
  for (const KernelName& kernel : code.kernels) note_other(kernel.name);
  for (const std::string& name : code.variables) note_other(name);
  for (const std::string& name : of.missing) host_names_.look_for(*of.object, name);
  for (const auto& [name, lacking] : of.held) host_names_.look_for(*of.object, name);
  for (const auto* names : {&of.kernels, &of.others})
    for (const std::string& name : *names) host_names_.look_for_kernel(*of.object, name);
  for (const auto& [name, lacking] : of.templates) host_names_.look_for_kernel(*of.object, name);
  taken_.push_back(std::move(of));
}

// Of a fat binary of which host code registers nothing that is looked for, the file does not tell what it
// registers. A template that is not registered may be launched all the same, with error 98; the launch of
// another kernel wants a stub that is not there, and links only into libraries.
std::vector<RegisteredNames::Finding> RegisteredNames::tell() {
  std::vector<Finding> findings;
  for (Taken& each : taken_) {
    const auto is_told_by = [&](const std::string& name) { return host_names_.has(*each.object, name); };
    const bool told = std::any_of(each.others.begin(), each.others.end(), is_told_by) ||
                      std::any_of(each.kernels.begin(), each.kernels.end(), [&](const std::string& name) {
                        return starts_with(name, "_Z") && is_told_by(name);
                      });
    const auto may_be_registered = [&](const std::string& name) {
      return !told || !host_names_.lacks(*each.object, name);
    };
    Finding finding{std::move(each.subject), std::move(each.image), {}, 0, {}, {}, {}, {}, 0};
    std::set<std::string> unregistered;
    for (const auto& [name, lacking] : each.templates)
      if (host_names_.lacks(*each.object, name)) unregistered.insert(name);
    // Of a device link, device code may launch it, and lists name templates as a whole.
    const bool by_symbol = each.link || (!told && !unregistered.empty() && !has_witness(*each.object));
    for (auto name = unregistered.begin(); by_symbol && name != unregistered.end();)
      name = host_names_.has_host_function(*each.object, *name) ? std::next(name) : unregistered.erase(name);
    for (const std::string& name : unregistered) {
      finding.unlaunchable[each.templates.at(name)].push_back(name);
      finding.in_image += !has_name(each.kernels, name);
    }
    for (std::string& name : each.kernels)
      if (!may_be_registered(name) && !may_be_template(name) &&
          host_names_.leaves_none_open(*each.object, name))
        ++finding.never_launched;
      else if (unregistered.count(name) == 0)
        finding.kernels.push_back(std::move(name));
    for (const std::string& name : each.missing)
      (told && !host_names_.may_use(*each.object, name) ? finding.unnamed : finding.missing).push_back(name);
    const auto is_used = [&](const std::string& name) {
      return each.link ? links_.is_named(*each.link, name) && !host_names_.registers(*each.object, name)
                       : host_names_.uses_unregistered(*each.object, name);
    };
    for (const auto& [name, lacking] : each.held)
      if (told && is_used(name)) finding.unregistered[lacking].push_back(name);
    findings.push_back(std::move(finding));
  }
  taken_.clear();
  return findings;
}

}  // namespace archguard
