#pragma once

#include "base/json.h"
#include "base/result.h"

namespace archguard {

// Members of the object that is open.
inline void write_members(const Error& error, JsonWriter& json) {
  json.text("where", error.where);
  json.text("what", error.what);
  json.text_or_null("fix", error.fix);
}

}  // namespace archguard
