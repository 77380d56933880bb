#pragma once

#include <string>
#include <vector>

#include "device/isolated_child.h"

namespace archguard {

// An answer of the drivers is kept in a file with the state of all that it depends on, and taken again while
// that state is the same. Only an answer with devices and without any failure is kept: "none" and "failed"
// are asked anew each time.

// What an answer depends on: records of a name ("the boot id", "the environment variable
// CUDA_VISIBLE_DEVICES") and its state as a text. In the order in which a change is told.
using MachineState = std::vector<Record>;

// The boot, the kernel driver, the device nodes, the GPUs and MIG instances the kernel driver knows, this
// program, the user, the cgroup, CUDA's, NVIDIA's and the loader's environment variables, and the libraries
// that the loader may find. Reads files, opens no device and loads no library.
MachineState machine_state();

// What `outcomes` (of the drivers' children) depend on beside: the very files of the libraries that answered.
MachineState library_state(const std::vector<ChildOutcome>& outcomes);

// Takes the answers that the file keeps into `outcomes`, where the state of all that they depend on is the
// same now. Otherwise says why not: "the boot id changed".
std::string read_cache(const std::string& file, const MachineState& now, std::vector<ChildOutcome>& outcomes);

// Keeps the answers where they are whole, and removes the file where they are not. `before` is the state of
// before the drivers were asked: an answer during which something changed is not kept. A driver that makes
// its device nodes when it is first asked changes nothing.
void write_cache(const std::string& file, const MachineState& before,
                 const std::vector<ChildOutcome>& outcomes);

}  // namespace archguard
