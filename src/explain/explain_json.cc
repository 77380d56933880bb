#include "base/json.h"
#include "explain/explain.h"

namespace archguard {

std::string explanations_json(const std::vector<Explanation>& explanations) {
  HeldText text;
  JsonWriter json(text);
  json.begin_object(JsonLayout::lines);
  json.message("schema", "archguard.explain/1");
  json.flag("known", !explanations.empty());
  json.begin_list("explanations", JsonLayout::lines);
  for (const Explanation& each : explanations) {
    json.begin_object();
    json.message("id", each.id);
    if (each.code)
      json.number("code", *each.code);
    else
      json.null("code");
    json.texts("names", each.names, JsonLayout::row);
    json.text("text", each.found);
    json.message("meaning", each.meaning);
    json.texts("here", each.here);
    json.texts("causes", each.causes);
    json.message("check", each.check);
    json.message("fix", each.fix);
    json.message("sure", each.sure);
    json.texts("findings", each.findings, JsonLayout::row);
    json.end();
  }
  json.end();
  json.end();
  return text.take();
}

}  // namespace archguard
