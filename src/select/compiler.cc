#include "compat/toolkit.h"
#include "select/select.h"

namespace archguard {
namespace {

Error unknown_toolkit(Version version) {
  const std::string oldest = to_string(known_toolkits().front().version);
  const std::string newest = to_string(newest_known_toolkit().version);
  if (version > newest_known_toolkit().version)
    return {
        "",
        "CUDA " + to_string(version) + " is not in the table: newest known is " + newest + "; pass --nvcc",
        ""};
  return {"", "CUDA " + to_string(version) + " is no toolkit that the table knows",
          "choose a release from " + oldest + " to " + newest + ", or pass --nvcc"};
}

}  // namespace

Result<Compiler> compiler_of_toolkit(Version version) {
  const Toolkit* toolkit = find_toolkit(version);
  if (toolkit == nullptr) return unknown_toolkit(version);
  Compiler compiler;
  compiler.version = toolkit->version;
  compiler.ptx_isa = toolkit->ptx_isa;
  for (const Arch arch : toolkit->archs)
    if (!is_sass_only(arch)) compiler.sass.push_back(arch);  // nvcc compiles it from older PTX only
  compiler.ptx = compiler.sass;
  return compiler;
}

}  // namespace archguard
