#include "doctor/compiler_archs.h"

#include "compat/toolkit.h"

namespace archguard::doctor {

Knows knows(Version toolkit, Arch arch) {
  const Toolkit* release = find_toolkit(toolkit);
  if (release == nullptr) return Knows::untold;
  if (has_arch(*release, arch)) return Knows::yes;
  bool earlier = false, later = false;
  for (const Toolkit& each : known_toolkits())
    if (has_arch(each, arch)) (each.version < toolkit ? earlier : later) = true;
  return later ? Knows::too_old : earlier ? Knows::too_new : Knows::untold;
}

std::optional<Version> nearest_that_knows(Arch arch, Knows answer) {
  std::optional<Version> nearest;
  for (const Toolkit& each : known_toolkits())
    if (has_arch(each, arch) && (!nearest || answer == Knows::too_new)) nearest = each.version;
  return nearest;
}

std::string range_text(Arch arch, Knows answer) {
  const auto nearest = nearest_that_knows(arch, answer);
  if (!nearest) return {};
  return std::string(answer == Knows::too_old ? "the first" : "the last") + " that does is " +
         to_string(*nearest);
}

}  // namespace archguard::doctor
