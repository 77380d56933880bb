// Writes a shared library with device code as a release of CUDA would leave it, for the commands in
// reports.py:
//
//   reports_fixture FILE CUDA IMAGE... [+ IMAGE...] [runtime]
//
// IMAGE: sm_90a (SASS) or compute_90 (PTX), each with one kernel, `gemm`; followed by `:empty` the kernel
// does nothing there, by `:without` another kernel stands in its place, by `:zstd` the image is compressed.
// `+` begins another fat binary; `runtime` registers the first with a CUDA runtime of that release, linked in.
// Exit: 0 written, 2 usage.

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "compat/toolkit.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

struct Wanted {
  bool sass = true;
  Arch arch;
  std::string how;  // after the colon
};

std::optional<Wanted> wanted_image(const std::string& text) {
  Wanted wanted;
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (colon < text.size()) wanted.how = text.substr(colon + 1);
  const std::size_t dash = text.find('_');
  wanted.sass = text.substr(0, dash) == "sm";
  if (dash == std::string::npos || (!wanted.sass && text.substr(0, dash) != "compute")) return std::nullopt;
  const auto arch = parse_arch(text.substr(dash + 1, colon - dash - 1));
  if (!arch) return std::nullopt;
  wanted.arch = *arch;
  return wanted;
}

Bytes cubin(const Wanted& wanted, Version cuda) {
  CubinBuilder builder;
  builder.sm(wanted.arch.number);
  if (cuda.major >= 13) builder.toolkit_info(to_string(cuda), "-arch sm_" + to_string(wanted.arch));
  if (cuda.major < 13 && wanted.arch.number <= 90) builder.generation7(cuda.major * 10 + cuda.minor);
  if (wanted.arch.suffix == Suffix::a) builder.marked_a();
  const Bytes code = wanted.how == "empty" ? sass::exit() : sass::join({sass::store(), sass::exit()});
  return builder.kernel(wanted.how == "without" ? "other" : "gemm", code).bytes();
}

std::string ptx(const Wanted& wanted, Version isa) {
  const std::string body = wanted.how == "empty" ? "" : " st.global.u32 [%rd1], 0;\n";
  return ".version " + to_string(isa) + "\n.target sm_" + to_string(wanted.arch) +
         "\n.address_size 64\n.visible .entry " + (wanted.how == "without" ? "other" : "gemm") + "()\n{\n" +
         body + " ret;\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto cuda = args.size() > 2 ? parse_version(args[1]) : std::nullopt;
  const Toolkit* toolkit = cuda ? find_toolkit(*cuda) : nullptr;
  if (toolkit == nullptr) {
    std::fprintf(stderr, "usage: reports_fixture FILE CUDA IMAGE... [+ IMAGE...] [runtime]\n");
    return 2;
  }
  std::vector<FatbinBuilder> containers(1);
  bool runtime = false;
  for (std::size_t i = 2; i < args.size(); ++i) {
    if (args[i] == "+") {
      containers.emplace_back();
      continue;
    }
    if (args[i] == "runtime") {
      runtime = true;
      continue;
    }
    const auto wanted = wanted_image(args[i]);
    if (!wanted) {
      std::fprintf(stderr, "reports_fixture: '%s' is no image\n", args[i].c_str());
      return 2;
    }
    FatbinBuilder& container = containers.back();
    if (wanted->sass)
      container.cubin(to_string(wanted->arch), cubin(*wanted, *cuda));
    else
      container.ptx(to_string(wanted->arch), to_string(toolkit->ptx_isa), ptx(*wanted, toolkit->ptx_isa));
    if (wanted->how == "zstd") container.zstd();
  }
  Bytes section;
  for (const FatbinBuilder& container : containers) {
    const Bytes bytes = container.bytes();
    section.insert(section.end(), bytes.begin(), bytes.end());
  }
  ElfBuilder library;
  library.shared().section(".nv_fatbin", section);
  if (runtime)
    library.section(".nvFatBinSegment", ByteWriter{}.u32(0x466243b1).u32(1).u64(0).u64(0).bytes())
        .section(".rodata", bytes_of_text("CUDA driver version is insufficient for CUDA runtime version"));
  const Bytes file = library.bytes();
  std::ofstream out(args[0], std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  return out.flush() ? 0 : 2;
}
