#include "device_option.h"

#include <algorithm>

#include "base/text.h"
#include "device/fleet.h"
#include "products/products.h"

namespace archguard {
namespace {

// The line for "H100", "H100@12.4"; empty where the table of products has no such name.
std::string fix_of_product(const std::string& text) {
  const auto at = std::min(text.find('@'), text.size());
  const std::string name = text.substr(0, at), driver = text.substr(at);
  const auto written_as = [&](const Product& product) {
    return to_string(product.capability) + driver + " (" + product.name + ")";
  };
  const ProductMatch match = find_product(name);
  if (match.product != nullptr) return "write " + written_as(*match.product);
  std::vector<std::string> each;
  for (const Product* candidate : match.candidates) each.push_back(written_as(*candidate));
  if (!each.empty()) return "several chips go by that name: write " + join(each, " or ");
  return match.meant ? "did you mean " + *match.meant + "?" : std::string();
}

}  // namespace

Result<Device> device_of_option(const std::string& text) {
  auto device = parse_device_option(text);
  if (device || !device.error().fix.empty()) return device;
  Error error = std::move(device).error();
  error.fix = fix_of_product(text);
  return error;
}

}  // namespace archguard
