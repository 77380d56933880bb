#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/version.h"
#include "coverage/expected_images.h"
#include "device/device_list.h"

namespace archguard::promise {

// "arch >= 8.0". Of a driver's own version its branch alone is compared, to its advantage.
struct Condition {
  enum class Of { arch, cuda, driver } of = Of::arch;
  std::string comparator;  // >= > <= < = !=
  Version value;
};
using Term = std::vector<Condition>;     // which must all hold
using Alternatives = std::vector<Term>;  // of which one must hold

// What metadata says of a binary: the machines that it admits, and images that are there.
struct Promise {
  std::vector<Alternatives> admits;  // each must hold; none: it admits nothing by itself
  std::vector<ExpectedImage> images;
  // Of the source that is read: its statements by name. One name has one: of several, which hold together,
  // and which replace each other, the text does not tell.
  std::map<std::string, std::string> told;
};

// `text` is a promise itself, or names a file that holds one; see docs/reference/archguard.md. Errors have
// the place, and what can be written.
Status read_promise(const std::string& text, Promise& promise);

// Does it say which devices the binary is for? Else it is about drivers alone.
bool tells_devices(const Promise& promise);

// The devices that are promised, each with the oldest driver that is promised for it, and no driver where
// nothing is said of drivers. Without `tegra` none of Tegra.
DeviceList promised_devices(const Promise& promise, bool tegra);

// ---- for the forms ----

// One line of a recipe, an environment or a configuration: one statement. False: it promises nothing.
Result<bool> read_line(std::string_view line, const std::string& where, Promise& promise);
// All lines of a recipe, a Dockerfile, an environment or an easyconfig. False: they promise nothing.
Result<bool> read_lines(std::string_view text, const std::string& file, Promise& promise);
// index.json, variant.json, the configuration of an image.
Status read_json(const std::string& text, const std::string& where, Promise& promise);

Error not_understood(const std::string& where, std::string_view what);

}  // namespace archguard::promise
