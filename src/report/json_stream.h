#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text_source.h"

namespace archguard {

using Json = nlohmann::ordered_json;

// A document, indented, of which the long lists are written element by element and never held. Bytes that are
// not UTF-8 (a path, a kernel's name) are replaced; they stand beside then: of "path" in "path_bytes", of a
// list of texts in a list that has null for those that are whole.
class JsonStream {
 public:
  // What writes the elements of a member, by its key. In the object stands any value in its place.
  using Lists = std::map<std::string, std::function<void()>>;

  explicit JsonStream(TextSink& sink) : sink_(sink) {}
  void document(Json json, const Lists& lists);

  // Elements of the list that is being written.
  void element(Json json) { text_element(text_of_element(std::move(json))); }
  void object_element(Json json, const Lists& lists);
  // For objects that differ in a number alone, which is their first member: the text of the others is made
  // once.
  std::string text_of_element(Json json) const;
  void numbered_element(const std::string& text, const char* key, std::size_t number);

 private:
  void object(Json json, const Lists& lists);
  void list(const std::function<void()>& write);
  void text_element(const std::string& text);
  std::string text_of(const Json& json) const;
  std::string line() const;

  TextSink& sink_;
  std::size_t depth_ = 0;
  bool any_ = false;  // the list that is being written has an element
};

}  // namespace archguard
