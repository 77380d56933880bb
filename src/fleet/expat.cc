#include "fleet/expat.h"

#include <algorithm>
#include <optional>

#include "io/shared_library.h"

namespace archguard::fleet {
namespace {

// The part of expat.h that is called, which has been so since 1.95.8.
struct Expat {
  using Parser = void*;
  using Begin = void (*)(void* user, const char* name, const char** attributes);
  using End = void (*)(void* user, const char* name);
  using Text = void (*)(void* user, const char* text, int length);
  using EntityDeclared = void (*)(void* user, const char* name, int is_parameter, const char* value,
                                  int length, const char* base, const char* system, const char* pub,
                                  const char* notation);

  Parser (*create)(const char* encoding);
  void (*release)(Parser parser);
  void (*set_user)(Parser parser, void* user);
  void (*set_elements)(Parser parser, Begin begin, End end);
  void (*set_text)(Parser parser, Text text);
  void (*set_entities)(Parser parser, EntityDeclared declared);
  int (*parse)(Parser parser, const char* text, int length, int is_final);
  unsigned char (*stop)(Parser parser, unsigned char resumable);
  int (*error_code)(Parser parser);
  const char* (*error_text)(int code);
  unsigned long (*line)(Parser parser);
};

bool load_expat(Expat& expat) {
  const SharedLibrary library("libexpat.so.1");
  return library.bind("XML_ParserCreate", expat.create) && library.bind("XML_ParserFree", expat.release) &&
         library.bind("XML_SetUserData", expat.set_user) &&
         library.bind("XML_SetElementHandler", expat.set_elements) &&
         library.bind("XML_SetCharacterDataHandler", expat.set_text) &&
         library.bind("XML_SetEntityDeclHandler", expat.set_entities) &&
         library.bind("XML_Parse", expat.parse) && library.bind("XML_StopParser", expat.stop) &&
         library.bind("XML_GetErrorCode", expat.error_code) &&
         library.bind("XML_ErrorString", expat.error_text) &&
         library.bind("XML_GetCurrentLineNumber", expat.line);
}

struct Reading {
  const Expat* expat;
  Expat::Parser parser;
  const XmlHandler* handler;
  bool declares_entities = false;
};

}  // namespace

Status read_xml(std::string_view document, const std::string& file, const XmlHandler& handler) {
  Expat expat{};
  if (!load_expat(expat))
    return Error{
        file, "is XML, and libexpat.so.1 is missing",
        "apt install libexpat1, or write CSV: nvidia-smi --query-gpu=name,compute_cap,driver_version,uuid "
        "--format=csv"};
  Expat::Parser parser = expat.create(nullptr);
  if (parser == nullptr) return Error{file, "cannot be read: not enough memory", {}};
  Reading reading{&expat, parser, &handler};
  expat.set_user(parser, &reading);
  expat.set_elements(
      parser,
      [](void* user, const char* name, const char** attributes) {
        static_cast<Reading*>(user)->handler->begin(name, attributes);
      },
      [](void* user, const char* name) { static_cast<Reading*>(user)->handler->end(name); });
  expat.set_text(parser, [](void* user, const char* text, int length) {
    static_cast<Reading*>(user)->handler->text(std::string_view(text, static_cast<std::size_t>(length)));
  });
  expat.set_entities(parser, [](void* user, const char*, int, const char*, int, const char*, const char*,
                                const char*, const char*) {
    auto* reading_now = static_cast<Reading*>(user);
    reading_now->declares_entities = true;
    reading_now->expat->stop(reading_now->parser, 0);
  });
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  std::optional<Error> error;
  for (std::size_t at = 0; !error && (at < document.size() || at == 0); at += kAtOnce) {
    const std::size_t length = std::min(kAtOnce, document.size() - at);
    const bool is_final = at + length == document.size();
    if (expat.parse(parser, document.data() + at, static_cast<int>(length), is_final ? 1 : 0) != 0) continue;
    const std::string where = file + ":" + std::to_string(expat.line(parser));
    error = reading.declares_entities
                ? Error{where, "declares entities, which nvidia-smi does not", {}}
                : Error{where,
                        std::string("is no XML from here on: ") + expat.error_text(expat.error_code(parser)),
                        "write the file again: nvidia-smi -q -x"};
  }
  expat.release(parser);
  if (error) return std::move(*error);
  return Done{};
}

}  // namespace archguard::fleet
