#include "seeds.h"

#include "kept/file_result_record.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/offload_builder.h"
#include "support/builders/pe_builder.h"
#include "support/builders/zip_builder.h"

namespace archguard::fuzz {
namespace {

using test::ArchiveBuilder;
using test::Bytes;
using test::bytes_of_text;
using test::CubinBuilder;
using test::ElfBuilder;
using test::FatbinBuilder;
using test::PeBuilder;
namespace sass = test::sass;
using Seeds = std::vector<Bytes>;

const char* const kPtx =
    ".version 8.7\n.target sm_80\n.address_size 64\n// a comment\n"
    ".visible .entry gemm(.param .u64 p)\n.maxntid 1,1,1\n{\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [p];\n"
    " @%p1 bra $L;\n st.global.u32 [%rd1], 0;\n$L:\n ret;\n}\n"
    ".entry empty()\n{ ret; }\n.entry trap()\n{ trap; }\n.extern .func f(.param .b32 x);\n.global .b8 s[2] = "
    "\"a\";\n.visible .global .attribute(.managed) .align 4 .v2 .u32 mv[2][3] = {1, 2}, p = generic(s)+1;\n"
    ".const .align 1 .u8 _ZN4user1cE;\n.extern .global .b8 e[];\n";

Bytes cubin_of(int sm) {
  return CubinBuilder{}
      .sm(sm)
      .toolkit_info("13.0", "-arch sm_" + std::to_string(sm) + " -m 64")
      .kernel("gemm", sass::join({sass::prologue(), sass::store(), sass::exit()}))
      .kernel("empty", sass::exit())
      .local_kernel("trap", sass::trap())
      .function("helper", sass::call())
      .variable("dv", ".nv.global", 16)
      .variable("__nv_static_3__ab_mv", ".nv.global.init", 4, 4)
      .variable("_ZN4user1cE", ".nv.constant3", 1)
      .bytes();
}

Bytes fatbin() {
  return FatbinBuilder{}
      .cubin(80, cubin_of(80))
      .cubin("90a", cubin_of(90))
      .zstd()
      .identifier("a.cu")
      .ptx("86", "8.7", kPtx)
      .lz4()
      .options("-O3")
      .ltoir("90", test::filler(16))
      .lz4()
      .obfuscated()
      .ltoir("80")
      .bytes();
}

Bytes small_fatbin() {
  return FatbinBuilder{}.cubin(80, test::filler(8)).ptx("90", "8.7", "x").bytes();
}

Seeds cubins() {
  return {cubin_of(80),
          CubinBuilder{}.sm(75).generation7(124).kernel("k", sass::exit()).bytes(),
          CubinBuilder{}.sm(100).marked_a().relocatable().kernel("k", sass::trap_if()).bytes(),
          CubinBuilder{}.sm(61).generation7(80).flags(0xd00).kernel("k", sass::exit()).bytes(),
          CubinBuilder{}.sm(100).toolkit_info("12.9", "").compat({2, 9, 0, 0}).flags(0x10000).bytes(),
          CubinBuilder{}.kernel("k", sass::join({sass::exit(), Bytes(16)})).bytes()};
}

Seeds elves() {
  const Bytes code = small_fatbin();
  return {ElfBuilder{}.section(".nv_fatbin", code).at(0x78).load_segment(0, 0x78 + code.size()).bytes(),
          ElfBuilder{}.relocatable().section("__nv_relfatbin", small_fatbin()).no_bits(".bss", 64).bytes(),
          ElfBuilder{}.bits32().executable().section(".rodata", small_fatbin()).bytes(),
          ElfBuilder{}.without_section_table().section(".data", small_fatbin()).bytes()};
}

Seeds dynamics() {
  const auto program = [] {
    return ElfBuilder{}
        .executable()
        .interpreter("/lib64/ld-linux-x86-64.so.2")
        .needed("libfoo.so.1")
        .soname("s")
        .rpath("$ORIGIN/../lib:/opt")
        .runpath("${LIB}")
        .no_default_folders();
  };
  return {program().bytes(), program().bits32().without_section_table().bytes()};
}

Seeds caches() {
  const auto entry = [](test::ByteWriter& out, std::size_t name) {
    out.u32(0x303).u32(name).u32(name + 2).u32(0).u64(0);
  };
  const auto written = [&](test::ByteWriter out) {
    out.text("glibc-ld.so.cache1.1").u32(2).u32(8).u8(2).zeros(19);
    entry(out, 96);
    entry(out, 100);
    return out.text("a").u8(0).text("/").u8(0).text("b").u8(0).text("/").u8(0).bytes();
  };
  test::ByteWriter old;
  old.text("ld.so-1.7.0").u8(0).u32(1).zeros(16);
  return {written({}), written(old)};
}

Seeds pes() {
  return {PeBuilder{}.section(".nv_fatb", small_fatbin()).no_bytes(".bss", 64).bytes(),
          PeBuilder{}.imports({"KERNEL32.dll", "cudart64_13.dll"}, {"nvcuda.dll"}).bytes(),
          PeBuilder{}
              .imports({{"KERNEL32.dll", {"Sleep", "", "ExitProcess"}}}, {{"nvcuda.dll", {"cuInit"}}}, false)
              .bytes(),
          PeBuilder{}.object().section(".nv_fatbin", small_fatbin()).section("__nv_relfatbin", {}).bytes(),
          PeBuilder{}.big_object().section(".nv_fatbin_of_a_long_name", small_fatbin()).bytes()};
}

Seeds archives() {
  const auto filled = [](ArchiveBuilder::Names names) {
    return ArchiveBuilder{}
        .names(names)
        .member("a.o", ElfBuilder{}.relocatable().section(".nv_fatbin", small_fatbin()).bytes())
        .member("a_name_that_is_far_too_long.o", bytes_of_text("odd"))
        .bytes();
  };
  return {filled(ArchiveBuilder::Names::gnu), filled(ArchiveBuilder::Names::bsd),
          filled(ArchiveBuilder::Names::microsoft), ArchiveBuilder{}.thin().member("a.o", {}).bytes()};
}

Seeds zips() {
  const auto filled = [] {
    return test::ZipBuilder{}
        .deflated("lib/a.so", ElfBuilder{}.section(".nv_fatbin", small_fatbin()).bytes())
        .stored("lib/", {})
        .stored("RECORD", bytes_of_text("lib/a.so,,\n"));
  };
  return {filled().bytes(), filled().zip64().comment("PK").bytes(), filled().script("#!/bin/sh\n").bytes(),
          test::ZipBuilder{}.bytes()};
}

// tar's header and bytes, each filled up to blocks.
Bytes tar_member(const std::string& name, char kind, const Bytes& bytes, const std::string& link = {}) {
  Bytes head(512);
  const auto put = [&](std::size_t at, const std::string& text) {
    std::copy(text.begin(), text.end(), head.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto octal = [](std::uint64_t value) {
    std::string digits(11, '0');
    for (std::size_t i = digits.size(); i-- > 0; value /= 8) digits[i] = static_cast<char>('0' + value % 8);
    return digits;
  };
  put(0, name);
  put(100, "0000644");
  put(124, octal(bytes.size()));
  put(136, octal(0));
  put(148, "        ");
  put(156, std::string(1, kind));
  put(157, link);
  put(257, std::string("ustar\0"
                       "00",
                       8));
  std::uint64_t sum = 0;
  for (const std::uint8_t byte : head) sum += byte;
  put(148, octal(sum).substr(5) + std::string(1, '\0'));
  head.insert(head.end(), bytes.begin(), bytes.end());
  head.resize((head.size() + 511) / 512 * 512);
  return head;
}

Seeds tars() {
  const Bytes library = ElfBuilder{}.section(".nv_fatbin", small_fatbin()).bytes();
  const Bytes end(1024);
  const Bytes tar = test::ByteWriter{}
                        .append(tar_member("./lib/a.so", '0', library))
                        .append(tar_member("lib/b.so", '2', {}, "a.so"))
                        .append(tar_member("lib/c.so", '1', {}, "lib/a.so"))
                        .append(end)
                        .bytes();
  const std::string newc = "070701" + std::string(7, '0') + "1000081a4" + std::string(16, '0') + "00000001" +
                           std::string(8, '0') + "00000004" + std::string(32, '0') + "0000000600000000";
  const Bytes cpio = test::ByteWriter{}.text(newc + std::string("a.txt\0text", 10)).bytes();
  const Bytes debian = ArchiveBuilder{}
                           .names(ArchiveBuilder::Names::bsd)
                           .member("debian-binary", bytes_of_text("2.0\n"))
                           .member("data.tar", tar)
                           .bytes();
  return {tar,
          cpio,
          debian,
          test::ZipBuilder{}.stored("w.tar", tar).bytes(),
          bytes_of_text(std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20)),
          bytes_of_text(std::string("\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00\x99\xe9\xd8\x51", 13))};
}

// As `docker save` and as skopeo write them: a layer with a library, one that deletes it.
Seeds saved_images() {
  const Bytes library = ElfBuilder{}.section(".nv_fatbin", small_fatbin()).bytes();
  const Bytes end(1024);
  const Bytes layer = test::ByteWriter{}.append(tar_member("lib/a.so", '0', library)).append(end).bytes();
  const Bytes without = test::ByteWriter{}.append(tar_member("lib/.wh.a.so", '0', {})).append(end).bytes();
  const auto text = [](const std::string& name, const std::string& content) {
    return tar_member(name, '0', bytes_of_text(content));
  };
  const Bytes docker =
      test::ByteWriter{}
          .append(tar_member("a/layer.tar", '0', layer))
          .append(tar_member("b/layer.tar", '2', {}, "../a/layer.tar"))
          .append(text("c.json", "{}"))
          .append(text("manifest.json", R"([{"Config":"c.json","Layers":["a/layer.tar","b/layer.tar"]}])"))
          .append(end)
          .bytes();
  const Bytes oci =
      test::ByteWriter{}
          .append(text("oci-layout", R"({"imageLayoutVersion":"1.0.0"})"))
          .append(text("index.json", R"({"manifests":[{"digest":"sha256:0a"}]})"))
          .append(text("blobs/sha256/0a", R"({"layers":[{"digest":"sha256:0b"},{"digest":"sha256:0c"}]})"))
          .append(tar_member("blobs/sha256/0b", '0', layer))
          .append(tar_member("blobs/sha256/0c", '0', without))
          .append(end)
          .bytes();
  return {docker, oci};
}

Seeds offloads() {
  const Bytes pieces = test::OffloadBuilder{}
                           .image(test::OffloadBuilder::object, "sm_80", cubin_of(80))
                           .image(test::OffloadBuilder::ptx, "sm_90", bytes_of_text(kPtx))
                           .image(test::OffloadBuilder::fatbinary, "", small_fatbin())
                           .bytes();
  const std::string bundle = "__CLANG_OFFLOAD_BUNDLE__openmp-nvptx64-nvidia-cuda-sm_80";
  return {pieces, ElfBuilder{}.relocatable().section(".llvm.offloading", pieces).bytes(),
          ElfBuilder{}.executable().section(".llvm.offloading", pieces).bytes(),
          ElfBuilder{}.relocatable().section(bundle, cubin_of(80)).bytes()};
}

void add(Seeds& seeds, const Seeds& more) {
  seeds.insert(seeds.end(), more.begin(), more.end());
}

// What `lz4` and `zstd` take: the size, then the stored bytes of a builder's only entry.
Bytes stored_image(const Bytes& fatbin, std::size_t size) {
  const auto u32 = [&](std::size_t at) {
    return fatbin[at] | static_cast<std::size_t>(fatbin[at + 1]) << 8 |
           static_cast<std::size_t>(fatbin[at + 2]) << 16;
  };
  const std::size_t header = u32(16 + 4), stored = u32(16 + 16);
  const auto payload = fatbin.begin() + static_cast<std::ptrdiff_t>(16 + header);
  Bytes bytes = test::ByteWriter{}.u16(size & 0xffff).u8(size >> 16).bytes();
  bytes.insert(bytes.end(), payload, payload + static_cast<std::ptrdiff_t>(stored));
  return bytes;
}

Seeds texts(const std::vector<const char*>& all) {
  Seeds seeds;
  for (const char* text : all) seeds.push_back(bytes_of_text(text));
  return seeds;
}

Seeds kept_results() {
  FileResult result;
  result.path = "libx.so";
  result.warnings.push_back({"libx.so", "what", {}});
  result.devices.resize(2);
  DeviceResult& device = result.devices.front();
  device.kernels.missing = {"gemm"};
  device.needs_driver = Version{12, 0};
  device.partly.emplace();
  device.other_order.emplace();
  device.for_others.emplace();
  Failure failure;
  failure.places.resize(1);
  failure.mend.ways.resize(1);
  failure.mend.ways[0].holds.resize(1);
  device.failures.push_back(failure);
  return {bytes_of_text(encode(result)), bytes_of_text(encode({}))};
}

Seeds ptx_texts() {
  return texts(
      {kPtx, ".version 6.5\n.target sm_80\n.entry k() { ret; }\n",
       ".version 9.4\n# 1 \"k.cu\"\n.target sm_90a, debug\n.address_size 64\n.extern .func (.param .b32 r) "
       "f();\n"
       ".entry k() .maxntid 64, 1, 1 .pragma \"nounroll\"; { call (r), f, (); }\n.alias g, f;\n"
       ".section .debug_info\n{\n.b8 1\n}\n.common .global .attribute(.managed) .align 8 .b128 v;\n",
       ".version 1.4\n.target sm_13, map_f64_to_f32\n@@DWARF .byte 1\n.tex .u32 t;\n.reg .b32 r;\n"});
}

// What a program holds among its data.
Seeds data() {
  const Bytes ltoir = test::ByteWriter{}
                          .u32(0x7f4e43ed)
                          .u32(0x62024101)
                          .u32(0x00070203)
                          .u16(24)
                          .u16(1)
                          .u32(40)
                          .u32(44)
                          .u32(800 << 16 | 1)
                          .u32(0x20002)
                          .u32(99)
                          .u32(0)
                          .u32(0)
                          .bytes();
  Seeds seeds = {ltoir, cubin_of(80), small_fatbin()};
  add(seeds, ptx_texts());
  add(seeds,
      texts(
          {"called on .version 9.0\n.target sm_90\n.entry k() { exit; }\n#[x] .version 9.0\n.target sm_80\n",
           "// .version 9.0\n# 1 \"k.cu\"\n.version 9.0\n/**/.target sm_90\n.entry k() { exit; \"}"}));
  Bytes all;
  for (const Bytes& seed : seeds) all.insert(all.end(), seed.begin(), seed.end());
  seeds.push_back(all);
  return seeds;
}

}  // namespace

std::vector<Bytes> seeds_of(const std::string& target) {
  if (target == "dynamic") return dynamics();
  if (target == "loader_cache") return caches();
  if (target == "kept") return kept_results();
  if (target == "elf") return elves();
  if (target == "pe") return pes();
  if (target == "archive") return archives();
  if (target == "zip") return zips();
  if (target == "archive_stream") return tars();
  if (target == "saved_image") return saved_images();
  if (target == "promise_file")
    return texts({"__cuda_arch >=7.5,<9", "  - __cuda_arch >=7.5|8.0", "NVIDIA_REQUIRE_ARCH=\"arch>=7.5\"",
                  "NVIDIA_REQUIRE_CUDA=cuda>=12.4 brand=tesla,driver>=535,driver<536",
                  "cuda_compute_capabilities = ['8.0', '9.0']",
                  R"({"depends":["__cuda >=12.4","cuda-arch >=7.5"]})",
                  R"({"constrains":["__cuda_arch >=8.0"]})",
                  R"([{"Config":{"Env":["NVIDIA_REQUIRE_ARCH=arch>=7.5","PATH=/bin"]}}])",
                  R"({"variants":{"x":{"nvidia":{"cuda_arch":["80_real","90_virtual"]}}}})"});
  if (target == "cubin") return cubins();
  if (target == "ptx") return ptx_texts();
  if (target == "finder") return data();
  if (target == "host_file" || target == "fatbin" || target == "verify") {
    Seeds seeds = {fatbin(), small_fatbin(), bytes_of_text(kPtx)};
    for (const Seeds& more : {offloads(), elves(), pes(), archives(), cubins()}) add(seeds, more);
    const Bytes data = test::ByteWriter{}
                           .text(kPtx)
                           .zeros(3)
                           .append(cubin_of(80))
                           .text("\t.version %s\n")
                           .append(CubinBuilder{}.sm(90).relocatable().kernel("k", sass::exit()).bytes())
                           .text(".version 9.0\n.target sm_80\n.entry k() { call _optix_f; }")
                           .bytes();
    seeds.push_back(ElfBuilder{}.section(".nv_fatbin", small_fatbin()).section(".rodata", data).bytes());
    seeds.push_back(ElfBuilder{}.section(".nv_fatbin", fatbin()).section(".data", fatbin()).bytes());
    for (const char* library : {"libcudart.so.13", "libc.so.6"})
      seeds.push_back(
          ElfBuilder{}
              .section(".nv_fatbin", small_fatbin())
              .section(".nvFatBinSegment", test::ByteWriter{}.u32(0x466243b1).u32(1).zeros(16).bytes())
              .section(".rodata", bytes_of_text("driver version is insufficient"))
              .needed(library)
              .bytes());
    return seeds;
  }
  if (target == "entry") {
    Seeds seeds = {fatbin(), small_fatbin()};
    seeds.push_back(FatbinBuilder{}.image(0x100, "0", Bytes(64)).code_version(1, 0).zstd().bytes());
    for (Bytes& seed : seeds) seed.erase(seed.begin(), seed.begin() + 16);  // the fat binary's header
    return seeds;
  }
  const std::string text = std::string(kPtx) + kPtx;
  if (target == "lz4")
    return {stored_image(FatbinBuilder{}.ptx("80", "8.7", text).lz4().bytes(), text.size())};
  if (target == "zstd")
    return {stored_image(FatbinBuilder{}.ptx("80", "8.7", text).zstd().bytes(), text.size())};
  if (target == "fleet")
    return texts(
        {"name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host\n"
         "# two\nNVIDIA A100, 8.0, 580.65.06, 13.0, GPU-1, 00:01.0, 2, n1\n\"a, \"\"b\"\"\", [N/A], , , , , "
         ",\n",
         "name, compute_cap\r\nNVIDIA T4, 7.5\r\nname, compute_cap\r\nX, 9.0\r\n",
         "name, compute_cap, driver_version, count, excluded\nGeForce GT 710, 3.5, 470.82, 1, \"a card, "
         "\"\"for the "
         "display\"\"\"\nNVIDIA A100, 8.0, 580.95.05, 40,\n",
         "compute_cap,excluded\n3.5,[x]\n"});
  if (target == "fleet_import")
    return texts(
        {R"__(apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    annotations: {note: "a: b", other: null}
    labels:
      nvidia.com/gpu.compute.major: "9"
      nvidia.com/gpu.compute.minor: "0"
      nvidia.com/gpu.count: "8"
      nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
    name: h100-1
  status:
    capacity:
      nvidia.com/gpu: "8"
kind: List
---
kind: Node
metadata: {name: *a, labels: [[[]]]}
)__",
         R"__({"kind": "Node", "metadata": {"name": "bare", "labels": {}}, "status": {"capacity": {"nvidia.com/gpu": "2"}}}
)__",
         R"__({"kind": "Node", "metadata": {"name": "half", "labels": {"nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.product": "NVIDIA-H100-PCIe"}}}
)__",
         R"__(NodeName=gpu01 Arch=x86_64 CoresPerSocket=32
   CPUAlloc=0 CPUEfctv=64 CPUTot=64 CPULoad=0.01
   Gres=gpu:nvidia_l4:2(S:0-1)
   NodeAddr=gpu01 NodeHostName=gpu01 Version=23.11.4
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1

NodeName=cpu01 Arch=x86_64 CoresPerSocket=32
   Gres=(null)
   State=IDLE

NodeName=gpu02 Arch=x86_64
   Gres=gpu:4,craynetwork:4
   GresUsed=gpu:0
   State=IDLE
)__",
         R"__(NODELIST GRES
gpu[01-04,07] gpu:nvidia_l4:1(S:0)
login (null)
rack[1-2]n[08-09] gpu:nvidia_h100_80gb_hbm3:4(S:0-3),gpu:nvidia_l4:1
)__",
         R"__(slurmd: Gres Name=gpu Type=nvidia_h100_80gb_hbm3 Count=1 Index=0 ID=7696487 File=/dev/nvidia0 Cores=0-63 CoreCnt=128 Links=(null) Flags=HAS_FILE,HAS_TYPE,ENV_NVML
slurmd: Gres Name=gpu Type=nvidia_h100_80gb_hbm3 Count=1 Index=1 ID=7696487 File=/dev/nvidia1 Cores=64-127 CoreCnt=128 Links=(null) Flags=HAS_FILE,HAS_TYPE,ENV_NVML
)__",
         R"__(DetectedGPUs="GPU-c4a646d7, GPU-6a96bd13"
CUDADriverVersion=11.20
CUDAMaxSupportedVersion=11020
GPU_6a96bd13Capability=7.5
GPU_6a96bd13DeviceName="TITAN RTX"
GPU_6a96bd13DeviceUuid="6a96bd13-70bc-6494-6d62-1b77a9a7f29f"
GPU_c4a646d7Capability=7.0
GPU_c4a646d7DeviceName="Tesla V100-PCIE-16GB"
GPU_c4a646d7DeviceUuid="c4a646d7-aa14-1dd1-f1b0-57288cda864d"
)__",
         R"__(DetectedGPUs="GPU-aaaa0001, GPU-aaaa0002"
Common=[ Capability=8.0; DeviceName="NVIDIA A100-SXM4-40GB"; DriverVersion=12.40; MaxSupportedVersion=12040; ]
GPU_aaaa0001=[ id="GPU-aaaa0001"; DeviceUuid="aaaa0001-1"; DevicePciBusId="0000:01:00.0"; ]
GPU_aaaa0002=[ id="GPU-aaaa0002"; DeviceUuid="aaaa0002-2"; DevicePciBusId="0000:02:00.0"; ]
)__",
         R"__(Machine GPUs_Capability GPUs_DeviceName GPUs_DriverVersion
gpu1.example.org 8.0 NVIDIA A100-SXM4-40GB 12.40
gpu1.example.org 8.0 NVIDIA A100-SXM4-40GB 12.40
gpu2.example.org 7.5 Tesla T4 11.40
cpu1.example.org undefined undefined undefined
)__",
         R"__(DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-aa",modelName="NVIDIA L4",Hostname="l4-1",GPU_I_PROFILE="",GPU_I_ID="",DCGM_FI_SYSTEM_DRIVER_VERSION="580.95.05"} 0
)__",
         R"__(GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f)
  MIG 1g.5gb      Device  0: (UUID: MIG-6a4e8c52-1)
  MIG 1g.5gb      Device  1: (UUID: MIG-6a4e8c52-2)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc40)
)__",
         R"__(<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Tue Dec 30 09:49:57 2025</timestamp>
	<driver_version>590.44.01</driver_version>
	<cuda_version>13.1</cuda_version>
	<attached_gpus>1</attached_gpus>
	<gpu id="00000000:61:00.0">
		<product_name>NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition</product_name>
		<product_architecture>Blackwell</product_architecture>
		<mig_mode>
			<current_mig>N/A</current_mig>
			<pending_mig>N/A</pending_mig>
		</mig_mode>
		<uuid>GPU-1</uuid>
		<processes>
			<process_info><process_name>a &amp; b</process_name></process_info>
		</processes>
	</gpu>
</nvidia_smi_log>
)__",
         R"__(name, driver_version
NVIDIA L4, 470.82.01
)__",
         R"__({"items":[{"kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"driver":"gpu.nvidia.com","nodeName":"n","devices":[{"name":"gpu-0","attributes":{"type":{"string":"gpu"},"productName":{"string":"Tesla T4"},"cudaComputeCapability":{"version":"7.5.0"},"driverVersion":{"version":"535.183.6"},"uuid":{"string":"GPU-1"}}}]}}]})__"});
  if (target == "waivers")
    return texts({"kernel,compute_cap,reason\n*gemm*,8.?,needs tensor cores\n\"a,b\",*,because\n",
                  "\"gemm(float*, float*)\",8.6,as shown\n", "gemm(float*, float*),8.6,no quotes\n",
                  "name,compute_cap\nNVIDIA A100,8.0\n"});
  if (target == "excluded")
    return texts(
        {R"({"schema":"archguard.select/1","excluded":[{"device":{"name":"NVIDIA GeForce MX330","uuid":"GPU-1",)"
         R"("driver_cuda":"12.4","compute_capability":"6.1"},"reason":"too old","first_toolkit":"8.0",)"
         R"("last_toolkit":"12.9"},{"device":{"compute_capability":null}}]})"});
  if (target == "arch_list") return texts({"80-real;90a-virtual,103f", "8.0 9.0a;12.0+PTX", "8.6@12.4"});
  return {};
}

}  // namespace archguard::fuzz
