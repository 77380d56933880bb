#pragma once

#include <string>

#include "base/json.h"
#include "coverage/kernel_costs.h"

namespace archguard {

// The table, for people; without colour.
std::string text_of(const KernelCosts::Ranking& ranking);

// The member "sizes" of the object that is open: by kind and arch, those that there are alone.
void write_sizes(const ArchSizes& sizes, JsonWriter& json);

// Of an image of this kind and arch: "sm_80 cubin".
std::string image_name(EntryKind kind, Arch arch);

// The member "costs" of the object that is open.
void write_costs(const KernelCosts::Ranking& ranking, JsonWriter& json);

}  // namespace archguard
