#pragma once

#include <optional>
#include <string_view>

#include "base/version.h"
#include "image/image.h"

namespace archguard {

// From which CUDA on compilers of PTX bring that function along, so that a module may call it and hold no
// body of it: vprintf, system calls of the driver, the device side of CUDA graphs. 0.0 for those that every
// release knows, nothing for other names. Source: ptxas 11.7 to 13.5, asked for each name that CUDA's
// headers, libcuda and ptxas 13.5 hold (real.ptx_limits asks again); the compiler in driver 535 (CUDA 12.2)
// knows those of ptxas 12.2.
std::optional<Version> builtin_function_since(std::string_view name);

// Does that function only tell somebody something: of printf, of assert?
bool is_printing_function(std::string_view name);

// For an image that calls `name` and has no body of it: false where that is none of those functions. `newest`
// becomes the call that asks for the newest driver; functions that every release knows ask for none.
bool add_call(std::optional<DriverFunction>& newest, std::string_view name);

}  // namespace archguard
