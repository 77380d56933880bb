#pragma once

#include <string>
#include <vector>

#include "support/builders/byte_writer.h"
#include "support/run_process/run_process.h"

// What the tests of input files share.
namespace archguard::test {

inline const std::string kPtx90 =
    ".version 9.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry gemm(.param .u64 p)\n{\n ld.param.u64 %rd1, [p];\n st.global.u32 [%rd1], 0;\n ret;\n}\n";

inline RunOutput run_archguard(std::vector<std::string> arguments, const std::string& folder = {}) {
  arguments.insert(arguments.begin(), ARCHGUARD);
  return run_process(arguments, {}, folder);
}

inline std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace archguard::test
