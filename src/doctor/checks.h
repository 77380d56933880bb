#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"

// One file a check: each reads facts and says what it finds. None reads anything else.
namespace archguard::doctor {

using Findings = std::vector<Finding>;

void check_driver(const Facts& facts, Findings& findings);
void check_libcuda(const Facts& facts, Findings& findings);
void check_environment(const Facts& facts, Findings& findings);
void check_library_mix(const Facts& facts, Findings& findings);
void check_device_code(const Facts& facts, Findings& findings);
void check_jit_compiler(const Facts& facts, Findings& findings);
void check_stale_code(const Facts& facts, Findings& findings);
void check_not_architecture(const Facts& facts, Findings& findings);

// What the given error itself proves, where no other check has named its cause.
void check_given_error(const Facts& facts, Findings& findings);
// The check of the GPU in a package's source that the given error comes from, likewise.
void check_capability_gate(const Facts& facts, Findings& findings);

// A part of check_environment: the variables that tell builds which architectures to make.
void check_arch_lists(const Facts& facts, Findings& findings);
// A part of check_libcuda: a cuda-compat that no longer knows a GPU of this machine, so that cuInit answers
// 100.
std::optional<Finding> dropped_by_compat(const ProbeResult& probe);

// A part of check_library_mix: two releases of cuDNN, or one that is older than what it serves.
void check_cudnn(const Facts& facts, Findings& findings);

// A part of check_library_mix: a library that stands where nothing makes the loader look.
void check_unloaded(const Facts& facts, Findings& findings);
// A part of check_library_mix: functions that the library that is found does not define, and files that two
// packages installed.
void check_symbols(const Facts& facts, Findings& findings);

// A part of check_not_architecture: builds without CUDA, by what they say where they are asked for a GPU.
void check_without_cuda(const Facts& facts, Findings& findings);

// A part of check_environment: the nvcc that builds take.
void check_nvcc(const Facts& facts, Findings& findings);
const JitTool* nvcc_of_builds(const Facts& facts);  // with its release; null where none is told

// The devices whose driver cannot support a runtime of this release (35).
std::vector<std::size_t> classes_too_old_for(const Facts& facts, Version runtime, bool& may_have_compat);

// ---- words that checks share ----

// Does it stand in the text, and is no part of a longer word? "libcudnn.so.9" is in "libcudnn.so.9: cannot
// open".
bool holds_word(const std::string& text, const std::string& word);
// Does the given error tell this number of CUDA's?
bool is_given(const Facts& facts, int code);
// Where the given error last names the package or one of its files, as the frames of a traceback do: the last
// is where it failed. 0: nowhere. Every error of torch names torch, which is not looked for.
std::size_t place_in_text(const Facts& facts, const std::optional<Package>& package);
// "NVIDIA T4 (7.5, this machine)", or the first and " and 2 more".
std::string devices_text(const Facts& facts, const std::vector<std::size_t>& classes);
// "torch 2.9.1+cu128 (pip)"; without an owner the file's name.
std::string who(const std::optional<Package>& owner, const std::string& path);
// "/x/libcudart.so.12 is 12.8.93 (nvidia-cuda-runtime-cu12 12.8.93 (pip)), found by environment"
std::string describe_copy(const LibraryCopy& copy);
// "libcudart.so.12, libnvrtc.so.12 and 3 more"
std::string some_of(const std::vector<std::string>& texts, std::size_t most);
std::string value_of(const Facts& facts, const char* name);  // "CUDAARCHS=86"
// Below the name of an environment variable: is it set, and not to 0?
bool is_on(const Facts& facts, const char* name);

}  // namespace archguard::doctor
