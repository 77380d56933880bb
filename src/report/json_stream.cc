#include "report/json_stream.h"

#include "base/printable.h"

namespace archguard {
namespace {

Json bytes_of(const Json& value) {
  if (value.is_string()) {
    const auto bytes = bytes_beside(value.get_ref<const std::string&>());
    return bytes ? Json(*bytes) : Json(nullptr);
  }
  if (!value.is_array()) return nullptr;
  bool any = false;
  Json all = Json::array();
  for (const Json& each : value) {
    if (!each.is_string()) return nullptr;
    all.push_back(bytes_of(each));
    any = any || !all.back().is_null();
  }
  return any ? std::move(all) : Json(nullptr);
}

void add_bytes(Json& json) {
  std::vector<std::pair<std::string, Json>> added;
  for (auto each = json.begin(); each != json.end(); ++each) {
    Json& value = *each;
    if (json.is_object())
      if (Json bytes = bytes_of(value); !bytes.is_null())
        added.emplace_back(each.key() + "_bytes", std::move(bytes));
    if (value.is_structured()) add_bytes(value);
  }
  for (auto& [key, bytes] : added) json[key] = std::move(bytes);
}

}  // namespace

void JsonStream::document(Json json, const Lists& lists) {
  object(std::move(json), lists);
  sink_.write("\n");
}

void JsonStream::object_element(Json json, const Lists& lists) {
  text_element({});
  object(std::move(json), lists);
}

std::string JsonStream::text_of_element(Json json) const {
  add_bytes(json);
  return text_of(json);
}

void JsonStream::numbered_element(const std::string& text, const char* key, std::size_t number) {
  text_element("{" + line() + "  \"" + key + "\": " + std::to_string(number) + ",");
  sink_.write(std::string_view(text).substr(1));
}

void JsonStream::object(Json json, const Lists& lists) {
  add_bytes(json);
  sink_.write("{");
  ++depth_;
  const char* separator = "";
  for (const auto& [key, value] : json.items()) {
    sink_.write(separator + line() + Json(key).dump() + ": ");
    separator = ",";
    if (const auto found = lists.find(key); found != lists.end())
      list(found->second);
    else
      sink_.write(text_of(value));
  }
  --depth_;
  sink_.write(line() + "}");
}

void JsonStream::list(const std::function<void()>& write) {
  const bool any_around = any_;
  any_ = false;
  sink_.write("[");
  ++depth_;
  write();
  --depth_;
  sink_.write(any_ ? line() + "]" : "]");
  any_ = any_around;
}

void JsonStream::text_element(const std::string& text) {
  sink_.write((any_ ? "," : "") + line() + text);
  any_ = true;
}

// Line ends inside of texts are escaped.
std::string JsonStream::text_of(const Json& json) const {
  const std::string indent(2 * depth_, ' ');
  std::string text;
  for (const char c : json.dump(2, ' ', false, Json::error_handler_t::replace)) {
    text += c;
    if (c == '\n') text += indent;
  }
  return text;
}

std::string JsonStream::line() const {
  return "\n" + std::string(2 * depth_, ' ');
}

}  // namespace archguard
