#include "coverage/registered_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/mangled_name.h"
#include "base/text.h"
#include "image/symbol_name.h"

namespace archguard {
namespace {

constexpr std::size_t kOthersMost = 64;  // names to try whether the file tells what host code names

// Static in a file, of -rdc=true.
bool is_marked(std::string_view name) {
  return without_file_mark(name).size() != name.size();
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::binary_search(names.begin(), names.end(), name);
}

// Is this mangled name one of an instance of a template? False where it surely is not.
bool may_be_template(std::string_view name) {
  name = without_file_mark(name);
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

// Is it surely an instance of a template? Of those that only may be one a launch may not link.
bool is_template(std::string_view name) {
  name = without_file_mark(name);
  const auto last = last_plain_name(name);
  if (!last) return false;
  std::string_view behind = name.substr(last->end);
  while (starts_with(behind, "B")) {  // __attribute__((abi_tag)): B, a length and a text
    const auto text = behind.find_first_not_of("0123456789", 1);
    const auto length =
        parse_number(behind.substr(1, text == std::string_view::npos ? text : text - 1), behind.size());
    if (!length || text == std::string_view::npos || *length > behind.size() - text) return false;
    behind.remove_prefix(text + static_cast<std::size_t>(*length));
  }
  return starts_with(behind, "I");
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
  if (!code.images[taken].code || !host_names_.tells_of(object, code.fatbin)) return;
  note_witness(object, code);
  auto variables = lacked_by_some(code, code.variables, has_variable);
  auto templates = templates_lacked(code);
  if (variables.empty() && templates.empty() && gaps.missing.empty()) return;
  look_for({&object,
            subject_of(object, code),
            image,
            std::exchange(gaps.missing, {}),
            std::exchange(gaps.variables, {}),
            std::move(variables),
            std::move(templates),
            {},
            {}},
           code);
}

// Kept even where it lacks nothing: its objects, or a list of what was left out, may tell of more.
void RegisteredNames::take_linked(std::size_t link, const DeviceObject& object, const FatbinCode& code,
                                  std::size_t taken) {
  if (!code.images[taken].code) return;
  note_witness(object, code);
  KernelGaps gaps = compare_kernels(code, taken);
  look_for({&object,
            subject_of(object, code),
            {},
            std::move(gaps.missing),
            std::move(gaps.variables),
            lacked_by_some(code, code.variables, has_variable),
            templates_lacked(code),
            {},
            link},
           code);
}

void RegisteredNames::take_relinked(std::size_t link, const DeviceObject& object, const FatbinCode& code) {
  note_witness(object, code);
  Taken of{&object,
           subject_of(object, code),
           {},
           {},
           {},
           lacked_by_some(code, code.variables, has_variable),
           templates_lacked(code),
           {},
           link};
  of.relinked = true;
  look_for(std::move(of), code);
}

void RegisteredNames::take_part(std::size_t link, const DeviceObject& object, const FatbinCode& code) {
  if (!object.linked) return;
  auto variables = lacked_by_some(code, code.variables, has_variable);
  auto templates = templates_lacked(code);
  if (variables.empty() && templates.empty()) return;
  OfParts& of = parts_[link];
  of.object = &object;
  of.variables.merge(variables);
  of.templates.merge(templates);
}

// nvlink takes what the architectures that it links for need.
void RegisteredNames::join_parts() {
  if (parts_.empty()) return;
  for (Taken& of : taken_) {
    const auto parts = of.link ? parts_.find(*of.link) : parts_.end();
    if (parts == parts_.end() || parts->second.object != of.object) continue;
    for (const auto& [name, lacking] : parts->second.variables) {
      of.variables.emplace(name, lacking);
      look_for_variable(of, name);
    }
    for (const auto& [name, lacking] : parts->second.templates) {
      if (of.templates.emplace(name, lacking).second && of.held.count(name) == 0) of.of_parts.insert(name);
      host_names_.look_for_kernel(*of.object, name);
    }
  }
  parts_.clear();
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

void RegisteredNames::look_for_variable(const Taken& of, const std::string& name) {
  if (is_marked(name))
    host_names_.look_for_kernel(*of.object, name);
  else
    host_names_.look_for(*of.object, name);
}

void RegisteredNames::look_for(Taken of, const FatbinCode& code) {
  for (const Image& image : code.images) {
    if ((of.missing.empty() && !of.link) || !image.code) continue;
    for (const DeviceVariable& variable : image.code->variables)
      if (variable.space == VariableSpace::managed && (of.link || has_name(of.missing, variable.name)))
        of.managed.insert(variable.name);
  }
  const auto note_other = [&](const std::string& name) {
    if (of.others.size() < kOthersMost && !has_name(of.missing, name) && !has_name(of.kernels, name))
      of.others.push_back(name);
  };
  for (const KernelName& kernel : code.kernels) {
    note_other(kernel.name);
    if (of.link && is_template(kernel.name)) of.held.insert(kernel.name);
  }
  for (const std::string& name : code.variables) note_other(name);
  for (const auto& [name, lacking] : of.variables) look_for_variable(of, name);
  for (const auto* names : {&of.kernels, &of.others})
    for (const std::string& name : *names) host_names_.look_for_kernel(*of.object, name);
  for (const auto& [name, lacking] : of.templates) host_names_.look_for_kernel(*of.object, name);
  taken_.push_back(std::move(of));
}

// Of a fat binary of which host code registers nothing that is looked for, the file does not tell what it
// registers.
bool RegisteredNames::is_told(const Taken& of) {
  const auto is_told_by = [&](const std::string& name) { return host_names_.has(*of.object, name); };
  return std::any_of(of.others.begin(), of.others.end(), is_told_by) ||
         std::any_of(of.kernels.begin(), of.kernels.end(),
                     [&](const std::string& name) { return starts_with(name, "_Z") && is_told_by(name); });
}

// A name with the mark of its file stands nowhere but in the call that registers it.
bool RegisteredNames::registers(const Taken& of, const std::string& variable) {
  return is_marked(variable) ? !host_names_.lacks(*of.object, variable)
                             : host_names_.registers(*of.object, variable);
}

// Is a kernel of a template not registered, and its launch compiled? Of a device link device code may launch
// it, and only a symbol of its host function tells; of what is static in a file, other files may have one.
bool RegisteredNames::is_unlaunchable(const Taken& of, bool told, const std::string& kernel) {
  if (!host_names_.lacks(*of.object, kernel)) return false;
  if (of.link)
    return host_names_.has_host_function(*of.object, kernel) &&
           (!is_marked(kernel) || links_.is_named(*of.link, kernel));
  if (!told && !has_witness(*of.object)) return host_names_.has_host_function(*of.object, kernel);
  return host_names_.may_launch_unregistered(*of.object, kernel);
}

// Device code of an image that lacks it launches it neither: nvlink would not find it.
bool RegisteredNames::is_never_launched(const Taken& of, bool told, const std::string& kernel) {
  if (!told || !host_names_.lacks(*of.object, kernel) || !host_names_.leaves_none_open(*of.object, kernel))
    return false;
  return !may_be_template(kernel) ||
         (is_template(kernel) && !host_names_.may_launch_unregistered(*of.object, kernel));
}

RegisteredNames::Unregistered RegisteredNames::take_unregistered(std::size_t link, KernelGaps& gaps,
                                                                 std::vector<std::string>& unnamed) {
  join_parts();
  const auto found =
      std::find_if(taken_.begin(), taken_.end(), [&](const Taken& each) { return each.link == link; });
  if (found == taken_.end()) return {};
  Taken& of = *found;
  Unregistered names{of.subject, {}, {}, 0};
  for (const std::string& name : gaps.missing) host_names_.look_for_kernel(*of.object, name);
  for (const std::string& name : gaps.variables) look_for_variable(of, name);
  const bool told = is_told(of);
  const auto move_some = [](std::vector<std::string>& from, const auto& is_wanted, const auto& to) {
    const auto rest = std::stable_partition(from.begin(), from.end(),
                                            [&](const std::string& name) { return !is_wanted(name); });
    for (auto each = rest; each != from.end(); ++each) to(std::move(*each));
    from.erase(rest, from.end());
  };
  const auto tell = [&](const std::string& name, const std::string& lacking, auto& all) {
    if (of.told_names.insert(name).second) all[lacking].push_back(name);
  };
  move_some(
      gaps.missing,
      [&](const std::string& name) {
        return of.templates.count(name) != 0 && is_unlaunchable(of, told, name);
      },
      [&](const std::string& name) { tell(name, of.templates.at(name), names.kernels); });
  move_some(
      gaps.missing, [&](const std::string& name) { return is_never_launched(of, told, name); },
      [&](const std::string&) { ++names.never_launched; });
  move_some(
      gaps.variables,
      [&](const std::string& name) {
        return told && !is_marked(name) && of.managed.count(name) == 0 && !links_.is_named(link, name) &&
               host_names_.leaves_alone(*of.object, name);
      },
      [&](std::string name) { unnamed.push_back(std::move(name)); });
  move_some(
      gaps.variables,
      [&](const std::string& name) { return told && of.variables.count(name) != 0 && !registers(of, name); },
      [&](std::string name) {
        const bool is_used =
            is_marked(name) ? links_.is_named(*of.link, name) : host_names_.may_use(*of.object, name);
        if (is_used)
          tell(name, of.variables.at(name), names.variables);
        else
          unnamed.push_back(std::move(name));
      });
  return names;
}

// A template that is not registered may be launched all the same, with error 98; the launch of another kernel
// wants a stub that is not there, and links only into libraries.
std::vector<RegisteredNames::Finding> RegisteredNames::tell() {
  std::vector<Finding> findings;
  join_parts();
  for (Taken& each : taken_) {
    if (each.kernels.empty() && each.missing.empty() && each.variables.empty() && each.templates.empty())
      continue;
    const bool told = is_told(each);
    Finding finding{each.subject, std::move(each.image), {}, 0, {}, {}, {each.subject, {}, {}, 0}, 0};
    std::set<std::string> unlaunchable;
    for (const auto& [name, lacking] : each.templates) {
      const bool missing = has_name(each.kernels, name);
      if ((missing && each.link) || each.told_names.count(name) != 0 || !is_unlaunchable(each, told, name))
        continue;
      unlaunchable.insert(name);
      finding.names.kernels[lacking].push_back(name);
      const bool only_in_parts = each.of_parts.count(name) != 0;
      finding.in_parts += only_in_parts;
      finding.in_image += !missing && !only_in_parts;
    }
    const auto is_used = [&](const std::string& name) {
      return each.link ? links_.is_named(*each.link, name) && !is_template(name) && !registers(each, name)
                       : host_names_.uses_unregistered(*each.object, name);
    };
    for (const auto& [name, lacking] : each.variables)
      if (told && !has_name(each.missing, name) && each.told_names.count(name) == 0 && is_used(name))
        finding.names.variables[lacking].push_back(name);
    if (!each.link) tell_missing(each, told, unlaunchable, finding);
    if (each.relinked) finding.relinked = each.link;
    findings.push_back(std::move(finding));
  }
  taken_.clear();
  return findings;
}

void RegisteredNames::tell_missing(Taken& of, bool told, const std::set<std::string>& unlaunchable,
                                   Finding& finding) {
  for (std::string& name : of.kernels) {
    if (unlaunchable.count(name) != 0) continue;
    if (is_never_launched(of, told, name))
      ++finding.never_launched;
    else
      finding.kernels.push_back(std::move(name));
  }
  for (const std::string& name : of.missing)
    if (told && of.managed.count(name) == 0 && host_names_.leaves_alone(*of.object, name))
      finding.unnamed.push_back(name);
    else if (!told || registers(of, name))
      finding.missing.push_back(name);
    else if (host_names_.may_use(*of.object, name))
      finding.names.variables[of.variables.at(name)].push_back(name);
    else
      finding.unnamed.push_back(name);
}

}  // namespace archguard
