#include "coverage/registered_names.h"

#include <algorithm>
#include <utility>

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
  std::size_t at = 2;
  const bool nested = name.substr(at, 1) == "N";
  if (nested) ++at;
  bool any = false;
  for (;;) {
    if (name.substr(at, 1) == "L") ++at;  // static
    std::size_t length = 0, digits = at;
    for (; digits < name.size() && name[digits] >= '0' && name[digits] <= '9'; ++digits)
      length = std::min(length * 10 + static_cast<std::size_t>(name[digits] - '0'), name.size());
    if (digits == at) break;
    if (length > name.size() - digits) return true;
    at = digits + length;
    any = true;
    if (!nested) break;
  }
  if (!any || at >= name.size()) return true;
  return nested ? name[at] != 'E' : name[at] == 'I' || name[at] == 'B';
}

// Variables that this image has and another one lacks, and the last of those: nvcc registers what the image
// of the last architecture has.
std::map<std::string, std::string> held_by_some(const FatbinCode& code, std::size_t taken) {
  std::vector<const Image*> others;
  for (const Image& image : code.images)
    if (image.code && &image != &code.images[taken]) others.push_back(&image);
  std::map<std::string, std::string> held;
  for (const std::string& name : code.variables) {
    if (!has_variable(code.images[taken], name)) continue;
    const auto last = std::find_if(others.rbegin(), others.rend(),
                                   [&](const Image* image) { return !has_variable(*image, name); });
    if (last != others.rend()) held.emplace(name, image_name((*last)->entry));
  }
  return held;
}

}  // namespace

void RegisteredNames::take(const DeviceObject& object, const FatbinCode& code, std::size_t taken,
                           const std::string& image, KernelGaps& gaps) {
  if (!code.images[taken].code || !host_names_.tells_of(object, code.fatbin)) return;
  auto held = held_by_some(code, taken);
  if (held.empty() && gaps.variables.empty() && gaps.missing.empty()) return;
  Taken of{&object,
           subject_of(object, code),
           image,
           std::exchange(gaps.missing, {}),
           std::exchange(gaps.variables, {}),
           std::move(held),
           {},
           {}};
  look_for(std::move(of), code, gaps);
}

void RegisteredNames::take_linked(std::size_t link, const DeviceObject& object, const FatbinCode& code,
                                  std::size_t taken) {
  if (code.variables.empty() || !code.images[taken].code) return;
  auto held = held_by_some(code, taken);
  if (held.empty()) return;
  look_for({&object, subject_of(object, code), {}, {}, {}, std::move(held), {}, link}, code,
           compare_kernels(code, taken));
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
  for (const auto* names : {&of.kernels, &of.missing, &of.others})
    for (const std::string& name : *names) host_names_.look_for(*of.object, name);
  for (const auto& [name, lacking] : of.held) host_names_.look_for(*of.object, name);
  taken_.push_back(std::move(of));
}

// Of a fat binary of which host code registers nothing that the device gets, the file does not tell what it
// registers. A template that is not registered may be launched all the same, with error 98; the launch of
// another kernel wants a stub that is not there, and links only into libraries.
std::vector<RegisteredNames::Finding> RegisteredNames::tell() {
  std::vector<Finding> findings;
  for (Taken& each : taken_) {
    const bool told = std::any_of(each.others.begin(), each.others.end(), [&](const std::string& name) {
      return host_names_.has(*each.object, name);
    });
    Finding finding{std::move(each.subject), std::move(each.image), {}, 0, {}, {}, {}};
    for (std::string& name : each.kernels)
      if (told && host_names_.lacks(*each.object, name) && !may_be_template(name) &&
          host_names_.leaves_none_open(*each.object, name))
        ++finding.never_launched;
      else
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
