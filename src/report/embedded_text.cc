#include "report/embedded_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "image/demangle.h"

namespace archguard {

std::string embedded_text(const EmbeddedResult& embedded, const std::string& device) {
  if (!embedded.without.empty())
    return fmt::format("of the images that it holds as data, none with kernel '{}' ({}) {} on {}",
                       demangle(embedded.kernel), embedded.found,
                       embedded.may_run ? "is known to run" : "runs", device);
  const bool one = embedded.total == 1;
  const std::string images = fmt::format("{} that it holds as data ({})",
                                         one ? "image" : count_of(embedded.total, "image"), embedded.found);
  if (embedded.undecided())
    return fmt::format("whether {}the {} runs on {} cannot be told", one ? "" : "one of ", images, device);
  return one ? fmt::format("the {} does not run on {}", images, device)
             : fmt::format("none of the {} runs on {}", images, device);
}

std::string fix_of_embedded(const EmbeddedResult& embedded) {
  if (embedded.in_doubt) return "none, if the program launches it on other devices alone";
  if (embedded.for_others) return "none, if the program loads them on other devices alone";
  if (embedded.ltoir) return embedded.fix;  // no policy makes that an error
  return embedded.fix + (embedded.fix.empty() ? "" : "; ") + "--embedded error makes this an error";
}

}  // namespace archguard
