#pragma once

#include <string>
#include <vector>

#include "compat/arch.h"
#include "doctor/facts.h"

// What a package has for a GPU, by its files: which of them count.
namespace archguard::doctor {

struct PackageCode {
  std::vector<const CodeFile*> files;
};

// What a package has for one class of devices.
struct PackageFit {
  std::vector<const CodeFile*> served, lacking, partly, unknown;
};

PackageFit fit_of_package(const Facts& facts, const PackageCode& package, std::size_t of_class);

// The architectures that the last parts of a path name: "sm90/common_ops.so", "fused_moe_sm100.so",
// "fmha_sm103a.cubin".
std::vector<Arch> named_archs(const std::string& path);
// Does its name say that it is for other devices?
bool is_for_another(const CodeFile& file, ComputeCapability device);

// Without its main files a package does nothing on a GPU, whatever its other files have.
bool is_main_file(const CodeFile& file);
// By its path alone: what a package may leave empty on purpose, no package does with such a file.
bool is_called_like_main_file(const std::string& path);
bool any_is_main(const std::vector<const CodeFile*>& files);

bool is_of_nvidia(const PackageCode& package);
std::string library_stem(const std::string& path);  // "libnppif" of libnppif.so.11.8.0.86

}  // namespace archguard::doctor
