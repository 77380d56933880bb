// JSON that promises something: `depends` and `constrains` of a conda package's info/index.json, `Env` of an
// image's configuration (docker inspect), and variant.json of a wheel.
//
// variant.json (PEP 825, a draft): variants.{label}.{namespace}.{feature} are lists. Of NVIDIA's provider:
// cuda_version_lower_bound, inclusive, and cuda_version_upper_bound, exclusive, of the driver's CUDA, and
// sm_arch. `80_real` is compatible with 8.0 and all 8.x behind it, `90_virtual` with 9.x (its plugin.py).
#include <nlohmann/json.hpp>
#include <optional>

#include "base/printable.h"
#include "base/text.h"
#include "promise/promise.h"

namespace archguard::promise {
namespace {

using Json = nlohmann::json;
constexpr int kDeepest = 32;

// Of several values of a feature one is enough (PEP 825): the widest bound is what is promised.
Status read_bound(const Json& values, const std::string& comparator, const std::string& where, Term& term) {
  std::optional<Version> widest;
  for (const Json& each : values) {
    const auto version = each.is_string() ? parse_version(each.get<std::string>()) : std::nullopt;
    if (!version) return Error{where, "a bound of CUDA is no version", "write it as [\"12.4\"]"};
    const bool wider = !widest || (comparator == ">=" ? *version < *widest : *widest < *version);
    if (wider) widest = *version;
  }
  if (widest) term.push_back({Condition::Of::cuda, comparator, *widest});
  return Done{};
}

Status read_sm_arch(const Json& values, const std::string& where, const Term& cuda, Promise& promise) {
  Alternatives alternatives;
  for (const Json& each : values) {
    const std::string text = each.is_string() ? each.get<std::string>() : std::string();
    const bool real = ends_with(text, "_real");
    const auto arch = parse_arch(text.substr(0, text.find('_')));
    if (!arch || (!real && !ends_with(text, "_virtual")))
      return Error{where, "'" + printable(text) + "' is no sm_arch", "write 80_real, 90_virtual"};
    promise.images.push_back({*arch, real});
    const ComputeCapability from = capability_of(*arch);
    if (!real && from.minor != 0) continue;  // which the provider takes for no device
    Term term = cuda;
    term.push_back({Condition::Of::arch, ">=", {from.major, from.minor}});
    term.push_back({Condition::Of::arch, "<", {from.major + 1, 0}});
    alternatives.push_back(std::move(term));
  }
  if (!alternatives.empty()) promise.admits.push_back(std::move(alternatives));
  return Done{};
}

Status read_variants(const Json& variants, const std::string& where, Promise& promise) {
  if (!variants.is_object() || variants.size() != 1)
    return Error{where, "has " + count_of(variants.size(), "variant") + ", and one is to be judged",
                 "name the wheel, or the variant.json in it"};
  const Json& namespaces = *variants.begin();
  const Json features = namespaces.is_object() ? namespaces.value("nvidia", Json::object()) : Json::object();
  if (!features.is_object() || !features.contains("sm_arch"))
    return Error{where, "has no sm_arch of namespace nvidia: it promises no device", {}};
  Term cuda;
  ARCHGUARD_CHECK(read_bound(features.value("cuda_version_lower_bound", Json::array()), ">=", where, cuda));
  ARCHGUARD_CHECK(read_bound(features.value("cuda_version_upper_bound", Json::array()), "<", where, cuda));
  return read_sm_arch(features["sm_arch"], where, cuda, promise);
}

Status walk_json(const Json& json, const std::string& where, int depth, bool& any, Promise& promise) {
  if (depth > kDeepest) return Error{where, "is nested too deep", {}};
  if (json.is_object() && json.contains("variants")) {
    any = true;
    return read_variants(json["variants"], where, promise);
  }
  for (const auto& [key, value] : json.items()) {
    const bool holds_lines = key == "depends" || key == "constrains" || key == "Env" || key == "run" ||
                             key == "run_constrained" || key == "run_constraints";
    if (holds_lines && value.is_array()) {
      for (const Json& line : value) {
        if (!line.is_string()) continue;
        ARCHGUARD_TRY(found, read_line(line.get<std::string>(), where, promise));
        any |= found;
      }
    } else if (value.is_structured()) {
      ARCHGUARD_CHECK(walk_json(value, where, depth + 1, any, promise));
    }
  }
  return Done{};
}

}  // namespace

Status read_json(const std::string& text, const std::string& where, Promise& promise) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return Error{where, "begins as JSON and is none", "write the file again, to its end"};
  bool any = false;
  ARCHGUARD_CHECK(walk_json(json, where, 0, any, promise));
  if (!any) return not_understood(where, "declares no known bound on GPUs");
  if (json.is_array() && json.size() > 1 && !promise.told.empty())
    return Error{where,
                 "describes " + std::to_string(json.size()) + " images: which of them is judged is not known",
                 "docker inspect that image alone"};
  return Done{};
}

}  // namespace archguard::promise
