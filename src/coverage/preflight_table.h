#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "coverage/fatbin_code.h"

namespace archguard {

// What a program that carries the preflight (preflight/archguard_preflight.h) takes for all the device code
// that it holds: what verify finds in its file, and in files whose code it hands to the driver. It is a file
// beside the program, bound to the program's build-id: docs/reference/archguard.md.
class PreflightTable {
 public:
  // All of a file. An error where that could not be read whole.
  Status add(const DeviceCode& code, const ByteSource& file, const std::string& path);

  bool empty() const { return units_.empty(); }
  // What the file holds. An error where that is more than a preflight reads.
  Result<Bytes> bytes(const std::string& build_id) const;

 private:
  // A fat binary alone, or what a device link made with the objects that it made it of. Equal ones are one.
  void add_unit(Bytes unit);

  std::vector<Bytes> units_;
  std::vector<std::uint32_t> times_;
  std::map<Bytes, std::size_t> known_;
};

}  // namespace archguard
