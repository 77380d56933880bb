#include "coverage/untold_links.h"

#include <algorithm>

namespace archguard {

bool is_untold_part(const DeviceObject& object, const FatbinCode& code) {
  return object.linked && !object.has_sections && code.fatbin.in_data &&
         std::any_of(code.images.begin(), code.images.end(),
                     [](const Image& image) { return image.code && image.code->relocatable; });
}

void doubt_missing_images(DeviceResult& result) {
  for (Failure& failure : result.failures) {
    if (failure.unknown || failure.code != kNoKernelImage) continue;
    failure.unknown = true;
    failure.code = 0;
    failure.reason +=
        "; the file has code of -rdc=true and no section table, so that it does not tell what the driver "
        "links again when it loads the program";
    failure.mend = {};
    const std::uint64_t count = failure.places.size();
    result.fatbins.uncovered -= std::min(result.fatbins.uncovered, count);
    result.fatbins.unknown += count;
  }
}

}  // namespace archguard
