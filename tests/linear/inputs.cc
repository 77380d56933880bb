// Writes a file that is mostly one kind of table, or of string:
//
//   linear_inputs KIND COUNT FILE
//   linear_inputs --list
//
// Those whose kind begins with "hostile-" claim that many tables hold the same bytes, or that texts have no
// end. Exit: 0 written, 2 usage.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/pe_builder.h"
#include "support/builders/program_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard::test;

namespace {

std::string numbered(const std::string& name, std::size_t number) {
  return name + std::to_string(number);
}

Bytes real_code() {
  return sass::join({sass::store(), sass::exit()});
}

Bytes cubin(const std::string& kernel) {
  return CubinBuilder{}.sm(80).kernel(kernel, real_code()).bytes();
}

// An ELF file whose section headers say what they like. Section 1 has the names; the bytes of all sections
// stand behind the header.
class RawElf {
 public:
  struct Section {
    std::uint32_t name = 0, type = 1;
    std::uint64_t flags = 0, offset = 64, size = 0;
    std::uint32_t link = 0;
  };
  RawElf(unsigned type, bool cubin) : type_(type), cubin_(cubin) {}

  std::size_t put(const Bytes& bytes) {
    content_.align(8);
    const std::size_t at = 64 + content_.size();
    content_.append(bytes);
    return at;
  }
  void add(Section section) { sections_.push_back(section); }

  Bytes bytes() const {
    ByteWriter out;
    const std::size_t count = sections_.size() + 1, table = (64 + content_.size() + 7) / 8 * 8;
    out.u32(0x464c457f).u8(2).u8(1).u8(1).u8(cubin_ ? 0x41 : 0).u8(cubin_ ? 8 : 0).zeros(7);
    out.u16(type_).u16(cubin_ ? 190 : 62).u32(1).u64(0).u64(0).u64(table).u32(cubin_ ? 80 << 8 : 0);
    out.u16(64).u16(56).u16(0).u16(64).u16(count < 0xff00 ? count : 0).u16(1);
    out.append(content_.bytes()).align(8);
    out.zeros(32).u64(count).zeros(24);
    for (const Section& each : sections_)
      out.u32(each.name)
          .u32(each.type)
          .u64(each.flags)
          .u64(0)
          .u64(each.offset)
          .u64(each.size)
          .u32(each.link)
          .u32(0)
          .u64(1)
          .u64(0);
    return out.bytes();
  }

 private:
  unsigned type_;
  bool cubin_;
  ByteWriter content_;
  std::vector<Section> sections_;
};

// Sections whose names begin one after the other in a table of names without a NUL.
Bytes endless_names(std::size_t count, unsigned type, bool cubin, std::uint32_t section_type,
                    std::uint64_t flags) {
  RawElf elf(type, cubin);
  const Bytes names = filler(count * 16);
  elf.add({0, 3, 0, elf.put(names), names.size(), 0});
  const std::size_t byte = elf.put(filler(16));
  for (std::size_t i = 0; i < count; ++i)
    elf.add({static_cast<std::uint32_t>(i * 7919 % (count * 16)), section_type, flags, byte, 1, 0});
  return elf.bytes();
}

// Sections of one name that all hold the same bytes.
Bytes same_bytes(std::size_t count, unsigned type, bool cubin, const std::string& name,
                 std::uint32_t section_type, std::uint64_t flags, const Bytes& bytes) {
  RawElf elf(type, cubin);
  const Bytes names = bytes_of_text("\0" + name + std::string(1, '\0'));
  Bytes all = {0};
  for (const char c : name) all.push_back(static_cast<std::uint8_t>(c));
  all.push_back(0);
  elf.add({0, 3, 0, elf.put(all), all.size(), 0});
  const std::size_t at = elf.put(bytes);
  for (std::size_t i = 0; i < count; ++i) elf.add({1, section_type, flags, at, bytes.size(), 1});
  return elf.bytes();
}

Bytes repeated(const Bytes& bytes, std::size_t count) {
  ByteWriter out;
  for (std::size_t i = 0; i < count; ++i) out.append(bytes);
  return out.bytes();
}

// Symbols of a cubin: `info` is type and binding, `name` says where each name begins.
template <class Name>
Bytes symbols(std::size_t count, unsigned info, unsigned section, const Bytes& names, Name&& name) {
  RawElf elf(1, true);
  elf.add({0, 3, 0, elf.put(names), names.size(), 0});
  ByteWriter table;
  for (std::size_t i = 0; i < count; ++i) table.u32(name(i)).u8(info).u8(0).u16(section).u64(0).u64(16);
  elf.add({0, 2, 0, elf.put(table.bytes()), table.size(), 1});
  return elf.bytes();
}

Bytes elf_sections(std::size_t count) {
  ElfBuilder elf;
  for (std::size_t i = 0; i < count; ++i) elf.section(numbered(".section_of_a_name_", i), filler(8));
  return elf.bytes();
}

Bytes dynamic_table(std::size_t count) {
  ElfBuilder elf;
  elf.section(".text", filler(64));
  for (std::size_t i = 0; i < count; ++i) elf.dynamic_value(0x6ffffef5, i);
  for (std::size_t i = 0; i < count / 4; ++i) elf.needed(numbered("lib", i) + ".so");
  return elf.bytes();
}

Bytes archive(std::size_t count, ArchiveBuilder::Names names) {
  ArchiveBuilder archive;
  archive.names(names).symbols();
  const Bytes member = ElfBuilder{}.relocatable().section(".text", filler(8)).bytes();
  for (std::size_t i = 0; i < count; ++i)
    archive.member(numbered("a_long_name_of_a_member_", i) + ".o", member);
  return archive.bytes();
}

Bytes zip(std::size_t count) {
  ZipBuilder zip;
  for (std::size_t i = 0; i < count; ++i) zip.stored(numbered("folder/file_", i), bytes_of_text("text"));
  zip.stored("a.so", ElfBuilder{}.section(".text", filler(8)).bytes());
  return zip.zip64().bytes();
}

Bytes pe_sections(std::size_t count) {
  PeBuilder pe;
  pe.big_object();
  for (std::size_t i = 0; i < count; ++i) pe.section(numbered(".section_of_a_name_", i), filler(8));
  return pe.bytes();
}

Bytes pe_imports(std::size_t count) {
  std::vector<std::string> functions;
  for (std::size_t i = 0; i < count; ++i) functions.push_back(numbered("a_function_", i));
  return PeBuilder{}.imports({{"a.dll", functions}}).bytes();
}

Bytes entries(std::size_t count) {
  FatbinBuilder fatbin;
  const Bytes image = cubin("gemm");
  for (std::size_t i = 0; i < count; ++i) fatbin.cubin(80, image);
  return fatbin.bytes();
}

Bytes fatbins(std::size_t count) {
  ByteWriter all;
  for (std::size_t i = 0; i < count; ++i)
    all.append(FatbinBuilder{}.cubin(80, cubin(numbered("k", i))).bytes());
  return ElfBuilder{}.section(".nv_fatbin", all.bytes()).bytes();
}

Bytes registered(std::size_t count) {
  ProgramBuilder program;
  for (std::size_t i = 0; i < count; ++i) program.whole(FatbinBuilder{}.cubin(80, cubin("k")).bytes());
  return program.bytes();
}

// An instance of a template in each, for one of two architectures, which host code does not register.
Bytes unregistered_templates(std::size_t count) {
  ProgramBuilder program;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = numbered("template_", i);
    const std::string kernel = "_Z" + std::to_string(name.size()) + name + "IfEvv";
    program.whole(FatbinBuilder{}
                      .cubin(80, CubinBuilder{}.kernel(kernel, real_code()).bytes())
                      .cubin(90, CubinBuilder{}.sm(90).bytes())
                      .bytes());
    program.symbol(kernel, 2, 0x1000 + i);
  }
  return program.constants(ByteWriter{}.u8(0).text("text").u8(0).bytes()).bytes();
}

Bytes kernels(std::size_t count) {
  CubinBuilder cubin;
  for (std::size_t i = 0; i < count; ++i) cubin.kernel(numbered("a_kernel_of_a_name_", i), real_code());
  return cubin.bytes();
}

const std::string kPtxHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

Bytes ptx(std::size_t count, const std::string& before, const std::string& each, const std::string& behind) {
  std::string text = kPtxHead + before;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = each;
    if (const auto at = line.find('#'); at != std::string::npos) line.replace(at, 1, std::to_string(i));
    text += line;
  }
  return bytes_of_text(text + behind);
}

Bytes lines(std::size_t count, const std::string& head, const std::string& each) {
  std::string text = head;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = each;
    for (auto at = line.find('#'); at != std::string::npos; at = line.find('#'))
      line.replace(at, 1, std::to_string(i));
    text += line + "\n";
  }
  return bytes_of_text(text);
}

using Make = Bytes (*)(std::size_t);
const std::map<std::string, Make>& kinds() {
  static const std::map<std::string, Make> all = {
      {"elf-sections", elf_sections},
      {"elf-dynamic", dynamic_table},
      {"ar-gnu", [](std::size_t n) { return archive(n, ArchiveBuilder::Names::gnu); }},
      {"ar-bsd", [](std::size_t n) { return archive(n, ArchiveBuilder::Names::bsd); }},
      {"ar-microsoft", [](std::size_t n) { return archive(n, ArchiveBuilder::Names::microsoft); }},
      {"zip", zip},
      {"pe-sections", pe_sections},
      {"pe-imports", pe_imports},
      {"fatbin-entries", entries},
      {"fatbins", fatbins},
      {"registrations", registered},
      {"unregistered-templates", unregistered_templates},
      {"cubin-kernels", kernels},
      {"cubin-code",
       [](std::size_t n) {
         return CubinBuilder{}
             .kernel("k", sass::join({repeated(sass::load(), n * 16), sass::exit()}))
             .bytes();
       }},
      {"cubin-compat",
       [](std::size_t n) {
         return CubinBuilder{}.compat(repeated({2, 9, 0, 0}, n * 16)).kernel("k", real_code()).bytes();
       }},
      {"ptx-entries",
       [](std::size_t n) { return ptx(n, "", ".visible .entry kernel_#()\n{\nret;\n}\n", ""); }},
      {"ptx-tokens",
       [](std::size_t n) {
         return ptx(n, ".visible .entry k()\n{\n", "add.s32 %r#, %r1, %r2;\n",
                    "st.global.u32 [%rd1], 0;\nret;\n}\n");
       }},
      {"ptx-variables",
       [](std::size_t n) {
         return ptx(n, "", ".visible .global .align 4 .u32 variable_# = 7;\n",
                    ".visible .entry k()\n{\nret;\n}\n");
       }},
      {"ptx-comments",
       [](std::size_t n) { return ptx(n, "", "/* # */ // *\n", ".visible .entry k()\n{\nret;\n}\n"); }},
      {"ptx-of-gcc",
       [](std::size_t n) {
         const Bytes text = lines(n, "",
                                  "// BEGIN PREAMBLE\n.version 6.0\n.target sm_30\n.extern .func f#;\n"
                                  ".visible .func g#\n{\ncall f#;\n}\n.visible .entry k#()\n{\nret;\n}");
         return ElfBuilder{}.section(".rodata", text).bytes();
       }},
      {"ptx-strays",
       [](std::size_t n) {
         const Bytes text =
             lines(n, "", ".version 9.0\n.target sm_80\n.entry k#()\n{\nret;\n}\n.note.gnu /* .x \" .y");
         return ElfBuilder{}.section(".rodata", text).bytes();
       }},
      {"ptx-file-lines",
       [](std::size_t n) { return ptx(n, "", ".file # \"a.cu\"\n", ".visible .entry k()\n{\nret;\n}\n"); }},
      {"hostile-elf-names", [](std::size_t n) { return endless_names(n, 3, false, 1, 0); }},
      {"hostile-cubin-names", [](std::size_t n) { return endless_names(n, 2, true, 0x70000086, 0); }},
      {"hostile-cubin-note-names", [](std::size_t n) { return endless_names(n, 2, true, 7, 0); }},
      {"hostile-cubin-code-names", [](std::size_t n) { return endless_names(n, 1, true, 1, 6); }},
      {"hostile-cubin-variables", [](std::size_t n) { return endless_names(n, 2, true, 1, 3); }},
      {"hostile-cubin-notes",
       [](std::size_t n) { return same_bytes(n, 2, true, ".note.nv.tkinfo", 7, 0, filler(n * 16)); }},
      {"hostile-cubin-compat",
       [](std::size_t n) {
         return same_bytes(n, 2, true, ".nv.compat", 0x70000086, 0, repeated({2, 9, 0, 0}, n));
       }},
      {"hostile-cubin-code",
       [](std::size_t n) { return same_bytes(n, 1, true, ".text.k", 1, 6, repeated(sass::load(), n)); }},
      {"hostile-cubin-tables",
       [](std::size_t n) {
         ByteWriter symbol;
         symbol.u32(1).u8(0x02).u8(0).u16(2).u64(0).u64(16);
         return same_bytes(n, 1, true, "f", 2, 0, repeated(symbol.bytes(), n));
       }},
      {"hostile-symbol-names",
       [](std::size_t n) { return symbols(n, 0x12, 0, filler(n * 8), [](std::size_t i) { return i; }); }},
      {"hostile-overlapping-names",
       [](std::size_t n) {
         Bytes names = filler(n * 8);
         names.push_back(0);
         return symbols(n, 0x12, 0, names, [](std::size_t i) { return i; });
       }},
      {"hostile-registrations",
       [](std::size_t n) {
         ByteWriter one;
         one.u32(0x466243b1).u32(1).u64(64).u64(0);
         return same_bytes(n, 3, false, ".nvFatBinSegment", 1, 2, repeated(filler(24), n));
       }},
      {"hostile-fatbin-sections",
       [](std::size_t n) {
         return same_bytes(n, 3, false, ".nv_fatbin", 1, 2, FatbinBuilder{}.cubin(80, cubin("k")).bytes());
       }},
      {"hostile-bundles",
       [](std::size_t n) {
         return same_bytes(n, 1, false, "__CLANG_OFFLOAD_BUNDLE__openmp-nvptx64-nvidia-cuda-sm_80", 1, 0,
                           repeated(cubin("k"), 16));
       }},
      {"hostile-lto",
       [](std::size_t n) { return same_bytes(n, 1, false, ".gnu.lto_.symtab.1", 1, 0, filler(n * 16)); }},
      {"hostile-zeros",
       [](std::size_t n) { return ElfBuilder{}.section(".nv_fatbin", Bytes(n * 8)).bytes(); }},
      {"hostile-magics",
       [](std::size_t n) {
         ByteWriter one;
         one.u32(0xba55ed50).u16(1).u16(16).u64(64);
         return ElfBuilder{}.section(".data", repeated(one.bytes(), n)).bytes();
       }},
      {"hostile-elf-magics",
       [](std::size_t n) {
         const Bytes whole = cubin("k");
         return ElfBuilder{}
             .section(".rodata", repeated(Bytes(whole.begin(), whole.begin() + 64), n))
             .bytes();
       }},
      {"hostile-ptx-heads",
       [](std::size_t n) {
         return ElfBuilder{}
             .section(".rodata", repeated(bytes_of_text("\n.version 8.0\n.target sm_80\n"), n))
             .bytes();
       }},
      {"hostile-ptx-braces", [](std::size_t n) { return ptx(n, ".visible .entry k()\n", "{", ""); }},
      {"hostile-ptx-needs",  // each function reaches what the last one wants
       [](std::size_t n) {
         std::string wants = ".visible .func hub()\n{\n";
         for (std::size_t i = 0; i < n; ++i) wants += "call e_" + std::to_string(i) + ";\n";
         const Bytes externs = ptx(n, "", ".extern .func e_# ();\n", ".visible .func hub();\n");
         const Bytes functions = ptx(n, "", ".visible .func f_#() { call hub; ret; }\n", wants + "}\n");
         std::string text(externs.begin(), externs.end());
         text.append(functions.begin() + static_cast<std::ptrdiff_t>(kPtxHead.size()), functions.end());
         return bytes_of_text(text + ".visible .entry k()\n{\nret;\n}\n");
       }},
      {"hostile-ptx-comment", [](std::size_t n) { return ptx(n, "", "/*", ""); }},
      {"hostile-ptx-quotes", [](std::size_t n) { return ptx(n, "", "\"\\\"", ""); }},
      {"fleet",
       [](std::size_t n) {
         return lines(n, "name, compute_cap, driver_version, uuid, site\n",
                      "GPU #, 8.0, 580.95.05, GPU-#, site #");
       }},
      {"fleet-drivers",
       [](std::size_t n) { return lines(n, "name, compute_cap, driver_version\n", "GPU #, 8.0, 580.#"); }},
      {"import-condor", [](std::size_t n) { return lines(n, "DetectedGPUs=G\nG=[\n", "Name#=text #;"); }},
      {"import-condor-ids",
       [](std::size_t n) {
         std::string ids;
         for (std::size_t i = 0; i < n; ++i) ids += ",G";
         return lines(n, "DetectedGPUs=G" + ids + "\nGCapability=8.0\n", "GName#=text #");
       }},
      {"import-yaml",
       [](std::size_t n) {
         return lines(n, "apiVersion: v1\nkind: List\nitems:\n",
                      "- kind: Node\n  metadata:\n    name: n#\n    labels:\n      nvidia.com/gpu.product: "
                      "NVIDIA-L4\n      other: |\n        # a\n        - \"b");
       }},
      {"hostile-yaml-flow", [](std::size_t n) { return lines(n, "kind: Node\nmetadata: ", "{a#: [[[[[["); }},
      {"hostile-yaml-block", [](std::size_t n) { return lines(n, "kind: Node\na: ", "- - - - - - ? a#"); }},
      {"waivers",
       [](std::size_t n) { return lines(n, "kernel, compute_cap, reason\n", "kernel_#*, 9.0, reason #"); }},
      {"paths", [](std::size_t n) { return lines(n, "", "nothing_#.so"); }},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const auto& [kind, make] : kinds()) std::puts(kind.c_str());
    return 0;
  }
  const auto kind = argc == 4 ? kinds().find(argv[1]) : kinds().end();
  if (kind == kinds().end()) {
    std::fputs("usage: linear_inputs KIND COUNT FILE\n", stderr);
    return 2;
  }
  const Bytes bytes = kind->second(std::stoul(argv[2]));
  std::ofstream out(argv[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? 0 : 2;
}
