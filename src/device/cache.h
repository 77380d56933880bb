#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/platform.h"

namespace archguard {

// An answer of the drivers is kept in a file with the state of all that it depends on, and taken again while
// that state is the same. Only an answer with devices and without any failure is kept: "none" and "failed"
// are asked anew each time.

// What an answer depends on, by name, each with its state as a text. In the order in which a change is told.
struct MachineState {
  std::string name;  // "the boot id", "the environment variable CUDA_VISIBLE_DEVICES"
  std::string value;
};

// The boot, the kernel driver, the device nodes, the GPUs and MIG instances the kernel driver knows, this
// program, the user, the cgroup, CUDA's, NVIDIA's and the loader's environment variables, and the libraries
// that the loader may find. Reads files, opens no device and loads no library.
std::vector<MachineState> machine_state();

// What `outcomes` (of the drivers' children) depend on beside: the very files of the libraries that answered.
std::vector<MachineState> library_state(const std::vector<ChildOutcome>& outcomes);

// The answers that the file keeps, where the state of all that they depend on is the same now. Otherwise
// `why` says why not: "the boot id changed".
std::optional<std::vector<ChildOutcome>> read_cache(const std::string& file,
                                                    const std::vector<MachineState>& now, std::string& why);

// Keeps the answers where they are whole, and removes the file where they are not. `before` is the state of
// before the drivers were asked: an answer during which something changed is not kept. A driver that makes
// its device nodes when it is first asked changes nothing.
void write_cache(const std::string& file, const std::vector<MachineState>& before,
                 const std::vector<ChildOutcome>& outcomes);

}  // namespace archguard
