#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text_source.h"
#include "diff/side.h"
#include "report/style.h"

namespace archguard {

// Devices that go, come or stay when one fleet takes the place of another.
struct FleetChange {
  struct Devices {
    DiffDevice device;
    std::string example;                  // "H100 (9.0, new.csv:4)"
    std::uint64_t before = 0, after = 0;  // how many
  };
  std::string from, to;          // the fleets
  DiffSide files;                // judged for `devices`, in their order
  std::vector<Devices> devices;  // of both
};

// Devices that come, and that a file does not cover: what breaks.
bool breaks_something(const FleetChange& change);
// Something was not read, or a verdict on a device that comes is unknown.
bool is_untold(const FleetChange& change);

void write_fleet_text(const FleetChange& change, const Style& style, TextSink& sink);
void write_fleet_json(const FleetChange& change, const Style& style, TextSink& sink);
void write_fleet_markdown(const FleetChange& change, const Style& style, TextSink& sink);

}  // namespace archguard
