// Device code of OpenMP and OpenACC, and of clang's offload driver for CUDA.
#include <doctest/doctest.h>

#include "running.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/offload_builder.h"

using namespace archguard::test;

namespace {

const std::string kOmpKernel = "__omp_offloading_fe00_53e7ff_g_l2";

CubinBuilder cubin(int sm, const std::string& kernel = kOmpKernel) {
  CubinBuilder made;
  made.sm(sm).generation7(118).kernel(kernel, sass::join({sass::store(), sass::exit()}));
  return made;
}

Bytes part(int sm) {
  return cubin(sm).relocatable().bytes();
}

Bytes offloaded(const std::vector<int>& archs) {
  OffloadBuilder builder;
  for (const int sm : archs)
    builder.image(OffloadBuilder::object, "sm_" + std::to_string(sm), cubin(sm).bytes());
  return builder.bytes();
}

ElfBuilder with_nvcc_code(ElfBuilder file) {
  return file.section(
      ".nv_fatbin",
      FatbinBuilder{}.cubin(80, cubin(80, "k").bytes()).cubin(90, cubin(90, "k").bytes()).bytes());
}

ElfBuilder object() {
  return ElfBuilder{}.relocatable();
}

class Verified {
 public:
  Verified(const std::string& name, const Bytes& bytes, std::vector<std::string> more = {}) {
    const TemporaryFolder folder;
    folder.file(name, text_of(bytes));
    std::vector<std::string> arguments = {"verify",   name,       "--device", "8.0@12.0",
                                          "--device", "8.6@12.0", "--device", "9.0@12.0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run = run_archguard(arguments, folder.path());
  }
  bool says(const std::string& text) const { return run.out.find(text) != std::string::npos; }
  bool covers_8x_alone() const {
    return run.exit_code == 1 && says(": 2 of 3 covered\n") && says("  error 209  9.0 ") &&
           says("  cause: it needs SASS of sm_90\n") &&
           says("  fix: add --offload-arch=sm_90 to clang's flags\n");
  }
  RunOutput run;
};

const std::string kGccHead =
    "// BEGIN PREAMBLE\n.version 6.0\n.target sm_30\n.address_size 64\n// END PREAMBLE\n";
const std::string kGccUser =
    kGccHead +
    "// BEGIN GLOBAL FUNCTION DECL: GOMP_parallel\n.extern .func GOMP_parallel (.param .u64 %in_ar0);\n"
    ".extern .func (.param .u32 %value_out) vprintf (.param .u64 %in_ar0, .param .u64 %in_ar1);\n"
    ".extern .shared .u32 __nvptx_uni[32];\n"
    "// BEGIN GLOBAL FUNCTION DEF: g$_omp_fn$0\n.visible .entry g$_omp_fn$0 (.param .u64 %arg)\n"
    "{\n.reg .u64 %r;\nld.param.u64 %r, [%arg];\nst.global.u32 [%r], 0;\n"
    "call GOMP_parallel, (%r);\ncall vprintf, (%r, %r);\nret;\n}\n";
const std::string kGccLibrary =
    kGccHead +
    "// BEGIN GLOBAL VAR DECL: gomp_icv\n.extern .global .align 8 .u64 gomp_icv[5];\n"
    "// BEGIN GLOBAL FUNCTION DEF: GOMP_parallel\n"
    ".visible .func GOMP_parallel (.param .u64 %in_ar0)\n"
    "{\n.reg .u64 %r;\nld.global.u64 %r, [gomp_icv];\nret;\n}\n";
const std::string kGccVariables = kGccHead +
                                  "// BEGIN GLOBAL VAR DEF: gomp_icv\n"
                                  ".visible .global .align 8 .u64 gomp_icv[5];\n";

Bytes program_of(const std::vector<std::string>& modules) {
  std::string data;
  for (const std::string& module : modules) data += module + std::string(8, '\0');
  return ElfBuilder{}.executable().section(".rodata", bytes_of_text(data)).bytes();
}

std::string with_target(std::string text, const std::string& target) {
  return text.replace(text.find("sm_30"), 5, target);
}

}  // namespace

TEST_CASE("the linked images of clang's offload in a linked file are judged, each for its arch") {
  for (const ElfBuilder& kind : {ElfBuilder{}.executable(), ElfBuilder{}.shared()}) {
    CHECK(Verified("p", ElfBuilder(kind).section(".llvm.offloading", offloaded({80})).bytes())
              .covers_8x_alone());
    CHECK(Verified("p", ElfBuilder(kind).section(".llvm.offloading", offloaded({80, 90})).bytes())
              .says("p: 3 of 3 covered\n"));
    // Whatever nvcc's code beside it covers.
    CHECK(Verified("p", with_nvcc_code(kind).section(".llvm.offloading", offloaded({80})).bytes())
              .covers_8x_alone());
  }
  // PTX of another fat binary is no answer, and there is none that libomptarget takes.
  const Bytes ptx = OffloadBuilder{}
                        .image(OffloadBuilder::cubin, "sm_80", cubin(80).bytes())
                        .image(OffloadBuilder::ptx, "sm_80", bytes_of_text(kGccUser))
                        .bytes();
  CHECK_FALSE(Verified("p", ElfBuilder{}.section(".llvm.offloading", ptx).bytes()).says("3 of 3 covered"));
}

TEST_CASE("an object of clang's asks for the driver of what is made of it") {
  enum Producer : unsigned { openmp = 1, cuda = 2, sycl = 8 };
  const auto verified = [](unsigned producer, const std::string& kernel, int generation) {
    CubinBuilder made;
    made.sm(80).kernel(kernel, sass::join({sass::store(), sass::exit()})).relocatable();
    if (generation != 0) made.generation7(generation);
    if (generation == 0) made.toolkit_info("13.0", "-arch sm_80");
    const Bytes images =
        OffloadBuilder{}.made_for(producer).image(OffloadBuilder::object, "sm_80", made.bytes()).bytes();
    return Verified("t.o", object().section(".llvm.offloading", images).bytes());
  };
  // Linked, it registers with the runtime; OpenMP's and SYCL's are loaded by libraries of theirs, whatever
  // the kernels are called: global constructors of OpenMP's are one.
  CHECK(verified(cuda, "k", 0).says("  error 35   8.0 "));
  CHECK(
      verified(cuda, "k", 0).says("  found: objects to be linked with the runtime of CUDA 13.0 or newer\n"));
  CHECK(verified(openmp, kOmpKernel, 0).says("  error 200  8.0 "));
  CHECK(verified(openmp, "nvptx$device$init", 0).says("  error 200  8.0 "));
  CHECK(verified(sycl, "k", 0).says("  error 200  8.0 "));
  for (const Producer producer : {openmp, cuda, sycl})
    CHECK(verified(producer, "k", 118).says("  covered    8.0 "));
}

TEST_CASE("clang -r leaves linked images in an object, under a longer name") {
  CHECK(Verified("p.o", object().section(".llvm.offloading.relocatable", offloaded({80})).bytes())
            .covers_8x_alone());
}

TEST_CASE("without a section table they are images among the data") {
  const Verified verified(
      "p", ElfBuilder{}.executable().section(".x", offloaded({80})).without_section_table().bytes());
  CHECK(verified.run.exit_code == 1);
  CHECK(verified.says("p: 2 of 3 covered\n"));
  CHECK(verified.says("  fix: add --offload-arch=sm_90 to clang's flags\n"));
}

TEST_CASE("what clang 14 linked stands among the data, and the fix is clang's") {
  CHECK(Verified("p", ElfBuilder{}.executable().section(".rodata", cubin(80).bytes()).bytes())
            .covers_8x_alone());
}

TEST_CASE("LLVM bitcode is linked for its own arch alone") {
  const auto bitcode = [](const std::vector<std::string>& archs) {
    OffloadBuilder builder;
    for (const std::string& arch : archs)
      builder.image(OffloadBuilder::bitcode, arch, bytes_of_text("BC\xc0\xde----------------"));
    return builder.bytes();
  };
  const Verified one("t.o", object().section(".llvm.offloading", bitcode({"sm_80"})).bytes());
  CHECK(one.covers_8x_alone());
  CHECK(one.says("  found: LLVM bitcode of sm_80, no PTX\n"));
  CHECK(Verified("t.o", object().section(".llvm.offloading", bitcode({"sm_80", "sm_90"})).bytes())
            .says("t.o: 3 of 3 covered\n"));
  CHECK(Verified("t.a", ArchiveBuilder{}
                            .member("t.o", object().section(".llvm.offloading", bitcode({"sm_80"})).bytes())
                            .bytes())
            .covers_8x_alone());
  // In a linked file libomptarget compiles it when the program runs: for which arch is not known.
  const Verified linked("t",
                        ElfBuilder{}.executable().section(".llvm.offloading", bitcode({"sm_80"})).bytes());
  CHECK(linked.run.exit_code == 2);
  CHECK(linked.says("unknown image: code that libomptarget may compile when the program runs\n"));
}

TEST_CASE("bundles of clang 14 and older are parts for a linker, in objects and archives") {
  const std::string section = "__CLANG_OFFLOAD_BUNDLE__openmp-nvptx64-nvidia-cuda-sm_80";
  const std::uint64_t exclude = 0x80000000;
  const auto bundle = [&](const Bytes& bytes) {
    return object()
        .section(section, bytes, 1, exclude)
        .section("__CLANG_OFFLOAD_BUNDLE__host-x86_64-pc-linux-gnu", Bytes(1), 1, exclude);
  };
  CHECK(Verified("t.o", bundle(part(80)).bytes()).covers_8x_alone());
  CHECK(Verified("t.o", with_nvcc_code(bundle(part(80))).bytes()).covers_8x_alone());
  const Bytes nvcc = with_nvcc_code(object()).bytes();
  CHECK(Verified("t.a", ArchiveBuilder{}.member("a.o", nvcc).member("b.o", bundle(part(80)).bytes()).bytes())
            .covers_8x_alone());
  // What `ld -r` makes of two.
  Bytes two = part(80);
  const Bytes more = part(80);
  two.insert(two.end(), more.begin(), more.end());
  CHECK(Verified("t.o", bundle(two).bytes())
            .says("  covered    8.0 (--device 8.0@12.0)  2 fat binaries: 2 SASS\n"));
  CHECK(Verified("t.o", bundle(bytes_of_text("BC\xc0\xde------------")).bytes()).covers_8x_alone());
  const Verified damaged("t.o",
                         bundle(bytes_of_text("neither of both, and longer than an ELF header is, which "
                                              "has 64 bytes"))
                             .bytes());
  CHECK(damaged.run.exit_code == 2);
  CHECK(damaged.says("expected a cubin or LLVM bitcode of clang's"));
  // Of other vendors.
  CHECK(
      Verified("t.o",
               object().section("__CLANG_OFFLOAD_BUNDLE__openmp-amdgcn-amd-amdhsa-gfx90a", Bytes(9)).bytes())
          .run.exit_code == 3);
}

TEST_CASE("what GCC leaves for the link step to compile for a device is an error") {
  const Bytes mine = object().section(".gnu.offload_lto_.lto.24b9", filler(8)).bytes();
  const Verified verified("t.o", mine);
  CHECK(verified.run.exit_code == 2);
  CHECK(verified.says(
      "t.o(.gnu.offload_lto_.lto.24b9+0x0): device code in what GCC's -fopenmp or -fopenacc left "
      "for the linker to compile cannot be judged\n"));
  const Bytes nvcc = with_nvcc_code(object()).bytes();
  CHECK(Verified("t.a", ArchiveBuilder{}.member("a.o", nvcc).member("b.o", mine).bytes()).run.exit_code == 2);
}

TEST_CASE("GCC's modules of PTX are linked together when the program runs") {
  const Verified whole("p", program_of({kGccUser, kGccLibrary, kGccVariables}));
  CHECK(whole.says("p: 3 of 3 covered\n"));
  CHECK(whole.says("embedded images: 1 of 1"));
  const Verified lacking("p", program_of({kGccUser, kGccLibrary}));
  CHECK(lacking.run.exit_code == 2);
  CHECK(lacking.says(
      "'gomp_icv' is declared in its PTX, which GCC made for linking, and defined in none of the "
      "file\n"));
  CHECK_FALSE(lacking.says("218"));
  // Each must fit.
  const Verified newer("p", program_of({kGccUser, with_target(kGccLibrary, "sm_70"), kGccVariables}),
                       {"--device", "6.1@12.0"});
  CHECK(newer.says("  error 209  6.1 "));
  CHECK(newer.says(
      "  fix: take -march and -misa out of GCC's -foffload-options, or name an older architecture there\n"));
  CHECK(newer.says("p: 3 of 4 covered\n"));
  // Another compiler's are not.
  std::string other = kGccUser;
  other.replace(other.find("// BEGIN PREAMBLE\n"), 18, "");
  const Verified unlinked("p", program_of({other, kGccLibrary, kGccVariables}));
  CHECK(unlinked.run.exit_code == 2);
  CHECK(unlinked.says(
      "whether something links it, at the latest when the program runs (nvJitLink, cuLinkAddData)"));
}

TEST_CASE("a whole image is judged, whatever section it stands in") {
  const auto program = [&](const Bytes& image) {
    return ElfBuilder{}
        .executable()
        .section("__nv_relfatbin", FatbinBuilder{}.cubin(80, image).bytes())
        .bytes();
  };
  const Verified whole("p", program(cubin(80, "k").bytes()));
  CHECK(whole.run.exit_code == 1);
  CHECK(whole.says("p: 2 of 3 covered\n"));
  CHECK(Verified("p", program(cubin(80, "k").relocatable().bytes())).run.exit_code == 3);
}

TEST_CASE("what a runtime takes from the data of a file is required beside nvcc's code, too") {
  const std::string lacks_90 = "p: 2 of 3 covered\n";
  const auto beside_nvcc = [](const Bytes& data) {
    return with_nvcc_code(ElfBuilder{}.executable()).section(".rodata", data).bytes();
  };
  const Verified of_clang("p", beside_nvcc(cubin(80).bytes()));
  CHECK(of_clang.run.exit_code == 1);
  CHECK(of_clang.says(lacks_90));
  std::string user = with_target(kGccUser, "sm_90");
  user.replace(user.find("6.0"), 3, "8.0");
  const std::string newer = user + std::string(8, '\0') + kGccLibrary + std::string(8, '\0') + kGccVariables;
  CHECK(Verified("p", beside_nvcc(bytes_of_text(newer))).says("p: 1 of 3 covered\n"));
  // What the program takes itself is a warning.
  const Verified own("p", beside_nvcc(cubin(80, "own").bytes()));
  CHECK(own.run.exit_code == 0);
  CHECK(own.says("archguard: warning: p: "));
}
