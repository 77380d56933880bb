#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "fleet/document.h"

namespace archguard::fleet {
namespace {

class JsonEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonEvents(std::string_view text, const std::string& file, DocumentHandler& handler)
      : text_(text), file_(file), handler_(handler) {}

  std::optional<Error> error;

  bool string(std::string& text) override {
    handler_.value(text);
    return true;
  }
  bool key(std::string& text) override {
    handler_.key(text);
    return true;
  }
  bool start_object(std::size_t) override {
    handler_.begin_object();
    return true;
  }
  bool start_array(std::size_t) override {
    handler_.begin_list();
    return true;
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool null() override { return take(""); }
  bool boolean(bool value) override { return take(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return take(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return take(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return take(text); }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    const auto end = std::min(position, text_.size());
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    const bool cut = position >= text_.size();
    error = Error{file_ + ":" + std::to_string(lines + 1),
                  cut ? "the JSON is cut short" : "is no JSON from here on",
                  cut ? "write the file again, to its end" : ""};
    return false;
  }

 private:
  bool take(std::string text) {
    handler_.value(text);
    return true;
  }
  bool end() {
    if (const Status ended = handler_.end(); !ended) error = ended.error();
    return !error;
  }

  std::string_view text_;
  const std::string& file_;
  DocumentHandler& handler_;
};

}  // namespace

Status read_json(std::string_view text, const std::string& file, DocumentHandler& handler) {
  JsonEvents events(text, file, handler);
  nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  if (events.error) return std::move(*events.error);
  return Done{};
}

}  // namespace archguard::fleet
