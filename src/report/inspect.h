#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text_source.h"
#include "coverage/fatbin_code.h"
#include "fatbin/fatbin.h"
#include "fatbin/passed_over.h"
#include "report/style.h"

namespace archguard {

// Shows what files hold, piece by piece, since a file with 24,000 fat binaries must not be held as one text:
// in the order of the calls: begin_file, for each of its objects begin_object,
// fat binary…, end_object; end_file; at last finish.
class InspectWriter {
 public:
  virtual ~InspectWriter() = default;
  // `member` names the file where it is one of a zip file.
  virtual void begin_file(const std::string& path, const std::string& member, std::uint64_t size) = 0;
  virtual void begin_object(const DeviceObject& object) = 0;
  // `code` holds the images' kernels, or is null where they were not asked for.
  virtual void fatbin(const DeviceObject& object, const Fatbin& fatbin, const FatbinCode* code) = 0;
  virtual void end_object(const DeviceObject& object) = 0;
  virtual void end_file(const std::vector<Error>& errors, const std::vector<std::string>& warnings) = 0;
  virtual void finish(const PassedOver& passed_over) = 0;  // all is in the sink then, and passed on
};

enum class InspectBy { arch, kernel, fatbin };

struct InspectLook {  // of the text
  InspectBy by = InspectBy::arch;
  bool costs = false;              // by kernel: what each costs, over all files, the largest first
  std::optional<std::size_t> top;  // of them, so many
  bool kernels = false;
  Style style;
  std::function<void(JsonWriter&)> members = {};  // further ones of the JSON document
};

std::unique_ptr<InspectWriter> inspect_json(TextSink& sink, const InspectLook& look);
std::unique_ptr<InspectWriter> inspect_text(TextSink& sink, const InspectLook& look);

}  // namespace archguard
