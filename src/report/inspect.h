#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coverage/fatbin_code.h"
#include "fatbin/fatbin.h"
#include "fatbin/passed_over.h"
#include "report/style.h"

namespace archguard {

// Where a report goes, piece by piece: a file with 24,000 fat binaries must not be held as one text.
using Sink = std::function<void(std::string_view)>;

// Shows what files hold, in the order of the calls: begin_file, for each of its objects begin_object,
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
  virtual void finish(const PassedOver& passed_over) = 0;
};

enum class InspectBy { arch, kernel, fatbin };

std::unique_ptr<InspectWriter> inspect_json(Sink sink);
std::unique_ptr<InspectWriter> inspect_text(Sink sink, InspectBy by, bool kernels, Style style);

}  // namespace archguard
