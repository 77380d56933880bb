#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "compat/rules.h"
#include "device/device.h"
#include "fatbin/fatbin.h"
#include "image/image.h"

namespace archguard {

// What the driver would do with one container on one device.
enum class Verdict {
  sass,
  jit,
  uncovered,
  unknown,
  not_asked
};  // not_asked: no kernels, relocatable part of a linked file, or specific and not fitting

}  // namespace archguard
