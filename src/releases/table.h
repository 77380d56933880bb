#pragma once

#include <vector>

namespace archguard {

// A line of table.inc, which bench/releases writes: lists are separated by blanks.
struct ReleaseRow {
  const char* package;
  const char* version;
  const char* platform;
  const char* cuda;
  const char* sass;
  const char* sass_some;
  const char* ptx;
  const char* ptx_some;
  const char* devices;  // "10.0:12.8j": the device, the CUDA of its lowest driver, j: by JIT, p: in part
  const char* ptxas;
  const char* lacking;
  const char* pythons;  // "3.9 3.10", "3.9+"
  const char* glibc;
  const char* pins;
  const char* measured;
};
const std::vector<ReleaseRow>& release_rows();
// The devices that were asked for: "6.1 7.0".
const char* asked_devices();

}  // namespace archguard
