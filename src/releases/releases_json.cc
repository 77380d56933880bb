#include "base/json.h"
#include "releases/releases.h"

namespace archguard {
namespace {

template <class Value>
std::vector<std::string> texts_of(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& each : values) texts.push_back(to_string(each));
  return texts;
}

const char* serves_text(Serves serves) {
  switch (serves) {
    case Serves::no:
      return "no";
    case Serves::partly:
      return "partly";
    case Serves::yes:
      return "yes";
    case Serves::unknown:
      break;
  }
  return "unknown";
}

void put_devices(JsonWriter& json, const ReleasesQuestion& question, const Release& release) {
  json.begin_list("asked", JsonLayout::packed);
  for (const AskedDevice& each : question.devices) {
    json.begin_object();
    json.message("compute_capability", to_string(each.device));
    json.known_or_null("driver_cuda", each.driver);
    json.message("serves", serves_text(serves(release, each)));
    json.message_or_null("image", image_for(release, each.device));
    json.known_or_null("needs_driver_cuda", lowest_driver_for(release, each.device));
    json.end();
  }
  json.end();
  json.begin_list("devices", JsonLayout::packed);
  for (const ServedDevice& each : release.devices) {
    json.begin_object();
    json.message("compute_capability", to_string(each.device));
    json.message("driver_cuda", to_string(each.driver));
    json.flag("jit", each.jit);
    json.flag("partly", each.partly);
    json.end();
  }
  json.end();
}

void put_release(JsonWriter& json, const ReleasesQuestion& question, const Release& release) {
  json.begin_object(JsonLayout::lines);
  json.message("version", release.version);
  json.known_or_null("cuda", release.cuda);
  json.texts("sass", texts_of(release.sass), JsonLayout::packed);
  json.texts("sass_some", texts_of(release.sass_some), JsonLayout::packed);
  json.texts("ptx", texts_of(release.ptx), JsonLayout::packed);
  json.texts("ptx_some", texts_of(release.ptx_some), JsonLayout::packed);
  json.texts("ptxas", texts_of(release.ptxas), JsonLayout::packed);
  json.texts("pythons", texts_of(release.pythons), JsonLayout::packed);
  json.flag("newer_pythons", release.newer_pythons);
  json.message_or_null("glibc", release.glibc);
  json.texts("pins", release.companions, JsonLayout::packed);
  json.texts("pinned_by", pinned_by(release), JsonLayout::packed);
  json.texts("lacking", release.lacking, JsonLayout::packed);
  json.message("measured", release.measured);
  put_devices(json, question, release);
  json.end();
}

std::string version_of(const Release* release) {
  return release == nullptr ? std::string() : release->version;
}

void put_choice(JsonWriter& json, const ReleasesQuestion& question, const ReleaseChoice& choice) {
  json.message_or_null("newest_serving", version_of(choice.found));
  json.message_or_null("install", choice.found == nullptr ? std::string() : install_line(choice, question));
  json.message_or_null("with_another_python", version_of(choice.other_python));
  if (const auto& newer = choice.needs_driver) {
    json.begin_object("passed_over_for_driver", JsonLayout::packed);
    json.message("version", newer->release->version);
    json.message("compute_capability", to_string(newer->asked.device));
    json.known_or_null("driver_cuda", newer->asked.driver);
    json.message("needs_driver_cuda", to_string(newer->driver));
    json.end();
  } else {
    json.null("passed_over_for_driver");
  }
  json.message_or_null("pins_another",
                       question.devices.empty() ? std::string() : pins_another(choice, question));
  json.message_or_null(
      "refused_by_torch_compile",
      choice.told() == nullptr ? std::string() : refused_by_torch_compile(*choice.told(), question.devices));
  json.message_or_null("documented_elsewhere",
                       question.devices.empty() ? std::string() : documented_elsewhere(question));
}

}  // namespace

std::string releases_json(const ReleasesQuestion& question) {
  HeldText text;
  JsonWriter json(text);
  json.begin_object(JsonLayout::lines);
  json.message("schema", "archguard.releases/1");
  json.message("package", question.package);
  json.message("platform", question.platform);
  json.known_or_null("python", question.python);
  put_choice(json, question, question.devices.empty() ? ReleaseChoice() : choose_release(question));
  json.begin_list("releases");
  for (const Release* each : releases_of(question.package, question.platform))
    put_release(json, question, *each);
  json.end();
  json.end();
  return text.take();
}

}  // namespace archguard
