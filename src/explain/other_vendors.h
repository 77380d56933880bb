#pragma once

#include "explain/pasted_text.h"

namespace archguard {

// Whose the text is, where it is not NVIDIA's: AMD's and others' libraries have CUDA's numbers and sentences
// for errors of their own. "AMD's ROCm", "ZLUDA"; empty where it names none of them.
std::string_view other_vendor_of(const PastedText& pasted);

}  // namespace archguard
