#include "report/names.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/printable.h"
#include "base/text.h"
#include "image/demangle.h"

namespace archguard {

std::string_view name_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::sass:
      return "sass";
    case EntryKind::ptx:
      return "ptx";
    case EntryKind::ltoir:
      return "ltoir";
    case EntryKind::reloc_ptx:
      return "reloc-ptx";
    case EntryKind::other:
      break;
  }
  return "other";
}

std::string_view name_of(Compression compression) {
  switch (compression) {
    case Compression::none:
      break;
    case Compression::lz4:
      return "lz4";
    case Compression::zstd:
      return "zstd";
  }
  return "none";
}

std::string_view name_of(KernelState state) {
  switch (state) {
    case KernelState::real:
      return "real";
    case KernelState::empty:
      return "empty";
    case KernelState::trap:
      return "trap";
    case KernelState::prints:
      return "prints";
    case KernelState::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(VariableSpace space) {
  switch (space) {
    case VariableSpace::device:
      break;
    case VariableSpace::constant:
      return "constant";
    case VariableSpace::managed:
      return "managed";
    case VariableSpace::reference:
      return "reference";
  }
  return "device";
}

std::string_view name_of(Coverage coverage) {
  switch (coverage) {
    case Coverage::covered:
      return "covered";
    case Coverage::not_covered:
      return "not-covered";
    case Coverage::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::covered:
      return "covered";
    case Outcome::not_covered:
      return "not-covered";
    case Outcome::no_device_code:
      return "no-device-code";
    case Outcome::unknown:
      break;
  }
  return "unknown";
}

std::string_view seen_as(int code) {
  switch (code) {
    case kNoKernelImage:
      return "no kernel image is available for execution on the device";
    case kInvalidPtx:
      return "a PTX JIT compilation failed";
    case kUnsupportedPtxVersion:
      return "the provided PTX was compiled with an unsupported toolchain";
    case kInvalidKernelImage:
      return "device kernel image is invalid";
    case kInvalidDeviceFunction:
      return "invalid device function";
    case kSymbolNotFound:
      return "named symbol not found";
    case kInvalidSymbol:
      return "invalid device symbol";
    case kUnsupportedDeviceSync:
      return "the provided PTX contains unsupported call to cudaDeviceSynchronize";
    case kJitDisabled:
      return "PTX JIT compilation was disabled";
    case kInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case kNoDevice:
      return "no CUDA-capable device is detected";
    default:
      return {};
  }
}

std::string name_list(const std::vector<std::string>& names, std::size_t most) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown;
  for (const auto& name : names) {
    if (shown.size() == kShown) break;
    shown.push_back("'" + shortened(demangle(name), most) + "'");
  }
  std::string text = join(shown, ", ");
  if (names.size() > shown.size()) text += fmt::format(" and {} more", names.size() - shown.size());
  return text;
}

std::string shortened(const std::string& name, std::size_t most) {
  constexpr std::size_t kNameLeast = 40;
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto columns = static_cast<std::size_t>(
      std::count_if(name.begin(), name.end(), [&](char c) { return !is_inside(c); }));
  if (most == 0 || columns <= std::max(most, kNameLeast)) return name;
  const std::size_t kept = std::max(most, kNameLeast) - 1, behind = kept / 2;
  std::size_t left = 0, begin = 0, end = name.size();
  while (left < kept - behind || (begin < name.size() && is_inside(name[begin])))
    left += is_inside(name[begin++]) ? 0 : 1;
  for (std::size_t right = 0; right < behind;) right += is_inside(name[--end]) ? 0 : 1;
  return name.substr(0, begin) + "…" + name.substr(end);
}

std::string human_size(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string runtime_code_text(const std::vector<std::string>& functions) {
  return "compiles or loads code at run time (" + join(functions, ", ") +
         "): what it builds there is not judged";
}

std::string passed_over_text(const PassedOver& passed_over) {
  struct Kind {
    UnreadKind kind;
    std::string_view name, rest, fix;           // of one
    std::string_view names, all_rest, all_fix;  // of several
  };
  constexpr Kind kKinds[] = {
      {UnreadKind::packed, "archive or compressed file", "what it holds is not judged",
       "unpack it and name the folder", "archives or compressed files", "what they hold is not judged",
       "unpack them and name the folder"},
      {UnreadKind::image_layer, "layer of a container image", "what it holds is not judged",
       "name the folder of the image, which has its index.json", "layers of a container image",
       "what they hold is not judged", "name the folder of the image, which has its index.json"},
      {UnreadKind::folder_link, "link to another folder", "what it leads to is not judged", "name it as well",
       "links to other folders", "what they lead to is not judged", "name them as well"},
      {UnreadKind::broken_link, "link to nothing", "what it led to is not judged",
       "put what it leads to in its place", "links to nothing", "what they led to is not judged",
       "put what they lead to in their place"},
      {UnreadKind::pointer, "pointer of git-lfs or git-annex", "the file itself is not there",
       "git lfs pull, or git annex get", "pointers of git-lfs or git-annex",
       "the files themselves are not there", "git lfs pull, or git annex get"},
      {UnreadKind::bitcode, "file of LLVM bitcode", "its device code is not judged",
       "compile it without -flto, or verify what it is linked into", "files of LLVM bitcode",
       "their device code is not judged", "compile them without -flto, or verify what they are linked into"},
      {UnreadKind::gl, "object of MSVC's /GL", "its device code is not judged",
       "compile it without /GL, or verify what it is linked into", "objects of MSVC's /GL",
       "their device code is not judged", "compile them without /GL, or verify what they are linked into"},
      {UnreadKind::tile_ir, "file of CUDA Tile IR", "what a driver compiles of it is not judged",
       "verify the cubin that nvcc -tilecubin makes of it", "files of CUDA Tile IR",
       "what a driver compiles of them is not judged",
       "verify the cubins that nvcc -tilecubin makes of them"},
      {UnreadKind::ltoir, "file of LTO-IR", "what a program links of it when it runs is not judged",
       "verify what nvcc -dlto links of it", "files of LTO-IR",
       "what a program links of them when it runs is not judged", "verify what nvcc -dlto links of them"},
      {UnreadKind::lost_archive, "file named like an archive that is none",
       "what it should hold is not judged", "get it again, unless it is meant to be so",
       "files named like archives that are none", "what they should hold is not judged",
       "get them again, unless they are meant to be so"},
      {UnreadKind::no_object, "object or static library that is empty or too short to be one",
       "nothing of it is judged", "build it again, or copy it whole, unless it is meant to be so",
       "objects or static libraries that are empty or too short to be one", "nothing of them is judged",
       "build them again, or copy them whole, unless they are meant to be so"},
      {UnreadKind::no_file, "path without a file", "nothing there is judged",
       "put the files there, or take it out of the command", "paths without a file",
       "nothing there is judged", "put the files there, or take them out of the command"},
  };
  constexpr std::size_t kShown = 3;
  std::string text;
  for (const Kind& kind : kKinds) {
    std::vector<std::string> names;
    for (const Unread& each : passed_over)
      if (each.kind == kind.kind) names.push_back(each.path);
    if (names.empty()) continue;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size()));
    const bool several = names.size() > 1;
    text += "passed over unread: " + count_of(names.size(), std::string(kind.name), std::string(kind.names)) +
            " (" + printable(join(std::vector<std::string>(names.begin(), end), ", ")) +
            (names.size() > kShown ? ", …" : "") + "); " + std::string(several ? kind.all_rest : kind.rest) +
            "\n  fix: " + std::string(several ? kind.all_fix : kind.fix) + "\n";
  }
  return text;
}

std::string no_binary_text(const std::vector<std::string>& looked_in) {
  return "no binary in " + join(looked_in, ", ");
}

std::string_view file_name(std::string_view path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace archguard
