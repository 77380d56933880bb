#include "doctor/checks.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "doctor/diagnose.h"

using namespace archguard;
using namespace archguard::doctor;

namespace {

Facts facts_for(ComputeCapability capability, std::optional<Version> driver = {}) {
  Device device;
  device.capability = capability;
  device.driver_cuda = driver;
  device.origin = "test";
  Facts facts;
  facts.devices.push_back(device);
  facts.classes = classes_of(facts.devices);
  facts.environments.push_back({"venv", "/env", "test", "3.11", {"/env/site"}, {}});
  return facts;
}

CodeFile code_file(const std::string& path, const std::string& package, FileFit::State state) {
  CodeFile file;
  file.path = path;
  file.owner = Package{package, "1.0", PackageManager::pip};
  file.holds = "some";
  file.fatbins = 4;
  file.fits.resize(1);
  file.fits[0].state = state;
  (state == FileFit::State::served ? file.fits[0].sass : file.fits[0].none) = 4;
  return file;
}

Findings run(void (*check)(const Facts&, Findings&), const Facts& facts) {
  Findings findings;
  check(facts, findings);
  return findings;
}

}  // namespace

TEST_CASE("a package without any image for the GPU is a certain cause") {
  Facts facts = facts_for({6, 1});
  facts.code = {code_file("/env/a/liba.so", "a", FileFit::State::lacking)};
  const Findings found = run(check_device_code, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == Rank::certain);
  CHECK(found[0].code == 209);
  CHECK(found[0].package->name == "a");
  CHECK(diagnose(facts).answer == Answer::cause);
}

TEST_CASE("code that a newer driver would load is not called missing") {
  Facts facts = facts_for({9, 0}, Version{12, 4});
  facts.code = {code_file("/env/a/liba.so", "a", FileFit::State::partly)};
  facts.code[0].fits[0].partly = "0 of 9 kernels";
  CHECK(run(check_device_code, facts).at(0).cause.find("hardly any code") != std::string::npos);
  facts.code[0].fits[0].driver_refuses = true;
  const Findings found = run(check_device_code, facts);
  CHECK(found.at(0).cause.find("too old to load") != std::string::npos);
  CHECK(found.at(0).fix.find("update the driver") != std::string::npos);
}

TEST_CASE("what comes with a torch that lacks the GPU is no cause of its own") {
  Facts facts = facts_for({8, 7});
  facts.code = {code_file("/env/nvidia/libcusolver.so", "nvidia-cusolver", FileFit::State::partly)};
  CHECK(run(check_device_code, facts).at(0).rank == Rank::likely);
  facts.code.push_back(code_file("/env/torch/libtorch_cuda.so", "torch", FileFit::State::lacking));
  for (const Finding& each : run(check_device_code, facts))
    CHECK(each.rank == (each.package->name == "torch" ? Rank::certain : Rank::risk));
}

TEST_CASE("a torch whose main library lacks the GPU lacks it, whatever its linear algebra has") {
  Facts facts = facts_for({6, 1});
  facts.code = {code_file("/env/torch/lib/libtorch_cuda.so", "torch", FileFit::State::lacking),
                code_file("/env/torch/lib/libtorch_cuda_linalg.so", "torch", FileFit::State::served),
                code_file("/env/nvidia/libcusparseLt.so.0", "nvidia-cusparselt-cu12", FileFit::State::partly)};
  for (const Finding& each : run(check_device_code, facts))
    CHECK(each.rank == (each.package->name == "torch" ? Rank::certain : Rank::risk));
  facts.code[0].fits[0].state = FileFit::State::served;
  facts.code[1].fits[0].state = FileFit::State::lacking;
  CHECK(diagnose(facts).answer == Answer::clean);
}

TEST_CASE("a small part of a package with hardly any code is a risk, the most of it a cause") {
  Facts facts = facts_for({9, 0});
  facts.code = {code_file("/env/torch/lib/libtorch_cuda.so", "torch", FileFit::State::served),
                code_file("/env/torch/lib/libcusparseLt-f80c68d1.so.0", "torch", FileFit::State::partly)};
  CHECK(run(check_device_code, facts).at(0).rank == Rank::risk);
  CHECK(run(check_device_code, facts).at(0).cause.find("a part of torch 1.0 (pip) has hardly any code") == 0);
  std::swap(facts.code[0].fits, facts.code[1].fits);
  CHECK(run(check_device_code, facts).at(0).rank == Rank::likely);
  facts.code = {code_file("/env/a/liba.so", "a", FileFit::State::served), code_file("/env/a/libb.so", "a", FileFit::State::partly)};
  facts.code[0].fits[0].best_bytes = 100;
  CHECK(run(check_device_code, facts).at(0).rank == Rank::risk);
  facts.code[1].fits[0].best_bytes = 1000;
  CHECK(run(check_device_code, facts).at(0).rank == Rank::likely);
}

TEST_CASE("a part that is named for another GPU of the same major version is no part of this one's") {
  const auto rank_on = [](ComputeCapability device, const char* lacking) {
    Facts facts = facts_for(device);
    facts.code = {code_file("/env/a/core.so", "a", FileFit::State::served), code_file(lacking, "a", FileFit::State::lacking)};
    const Findings found = run(check_device_code, facts);
    return found.empty() ? Rank::note : found[0].rank;
  };
  CHECK(rank_on({10, 3}, "/env/a/fused_moe_sm100.so") == Rank::likely);
  CHECK(rank_on({10, 0}, "/env/a/fused_moe_sm103a.so") == Rank::note);
  CHECK(rank_on({10, 3}, "/env/a/fused_moe_sm103a.so") == Rank::likely);
  CHECK(rank_on({10, 3}, "/env/a/fused_moe_sm100f.so") == Rank::likely);
  CHECK(rank_on({12, 0}, "/env/a/fused_moe_sm100f.so") == Rank::note);
}

TEST_CASE("a ptxas that torch.compile does not ask is a risk") {
  Facts facts = facts_for({3, 7});
  facts.tools = {JitTool{"ptxas", "/env/triton/backends/nvidia/bin/ptxas", Version{12, 0}, Package{"triton", "2.0.0", PackageManager::pip}, false}};
  CHECK(run(check_jit_compiler, facts).at(0).rank == Rank::likely);
  facts.torch = TorchFacts{Package{"torch", "2.0.1", PackageManager::pip}, "/env/site", {}, true};
  for (const Finding& each : run(check_jit_compiler, facts)) CHECK(each.rank == Rank::risk);
}

TEST_CASE("a library of NVIDIA's for newer GPUs is a risk where the other packages support this one") {
  Facts facts = facts_for({7, 5});
  facts.code = {code_file("/env/nvidia/libcusparseLt.so.0", "nvidia-cusparselt-cu12", FileFit::State::partly),
                code_file("/env/torch/lib/libtorch_cuda.so", "torch", FileFit::State::served)};
  CHECK(run(check_device_code, facts).at(0).rank == Rank::risk);
  CHECK(diagnose(facts).answer == Answer::clean);
}

TEST_CASE("the profiler inside triton is no code that a program needs") {
  Facts facts = facts_for({11, 0});
  facts.code = {code_file("/env/triton/backends/nvidia/lib/cupti/libcupti.so.13", "triton", FileFit::State::lacking)};
  CHECK(run(check_device_code, facts).empty());
}

TEST_CASE("triton takes its second ptxas, and the variable of that, for GPUs of 10.0 and newer") {
  Facts facts = facts_for({12, 1});
  const auto ptxas = [](const char* path, Version version, bool chosen) {
    return JitTool{"ptxas", path, version, Package{"triton", "3.7.0", PackageManager::pip}, chosen};
  };
  facts.tools = {ptxas("/env/triton/backends/nvidia/bin/ptxas", {13, 1}, false),
                 ptxas("/env/triton/backends/nvidia/bin/ptxas-blackwell", {12, 8}, false)};
  const Findings found = run(check_jit_compiler, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].cause.find("triton's ptxas-blackwell 12.8 does not know sm_121a") == 0);
  CHECK(found[0].fix.find("TRITON_PTXAS_BLACKWELL_PATH") != std::string::npos);
  // The other variable does not change that.
  facts.variables["TRITON_PTXAS_PATH"] = "/new/ptxas";
  facts.tools.push_back(ptxas("/new/ptxas", {13, 1}, true));
  CHECK(run(check_jit_compiler, facts).size() == 1);
  facts.variables["TRITON_PTXAS_BLACKWELL_PATH"] = "/new/ptxas";
  CHECK(run(check_jit_compiler, facts).empty());
}

TEST_CASE("an error that was given raises what ends in its number, and nothing else") {
  Facts facts = facts_for({9, 0});
  facts.code = {code_file("/env/a/core.so", "a", FileFit::State::served), code_file("/env/a/extra.so", "a", FileFit::State::lacking),
                code_file("/env/b/b.so", "b", FileFit::State::served)};
  facts.code[2].fits[0].sass = 0;
  facts.code[2].fits[0].jit = 4;  // PTX alone: a risk without a number
  Explanation error;
  error.code = 209;
  error.findings = {"device-code"};
  facts.explained = {error};
  for (const Finding& each : diagnose(facts).findings)
    if (each.package) CHECK((each.rank == Rank::likely) == (each.package->name == "a"));
  facts.code.erase(facts.code.begin() + 1);
  const Diagnosis fine = diagnose(facts);
  CHECK(fine.answer == Answer::clean);
  CHECK(fine.findings.back().fix.find("code that was not looked at") != std::string::npos);
}

TEST_CASE("a library for another torch, by its name, is not the one that is loaded") {
  Facts facts = facts_for({8, 6});
  facts.torch = TorchFacts{Package{"torch", "2.13.0+cu130", PackageManager::pip}, "/env/site", {}, false};
  const auto found = [&](const char* path) {
    facts.torch_gaps = {SymbolGap{path, Package{"torch_c_dlpack_ext", "0.1.5", PackageManager::pip}, "/env/torch/lib", {}, {"_ZN3c10"}}};
    return run(check_not_architecture, facts).size();
  };
  CHECK(found("/env/torch_c_dlpack_ext/libtorch_c_dlpack_addon_torch29-cuda.so") == 0);
  CHECK(found("/env/torch_c_dlpack_ext/libtorch_c_dlpack_addon_torch213-cuda.so") == 1);
  CHECK(found("/env/mine/libmine_torch.so") == 1);
}

TEST_CASE("a torch for AMD's GPUs is no torch for this one") {
  Facts facts = facts_for({8, 6});
  facts.torch = TorchFacts{Package{"torch", "2.9.1+rocm6.4", PackageManager::pip}, "/env/site", {}, true};
  CHECK(run(check_not_architecture, facts).at(0).cause.find("AMD's GPUs") != std::string::npos);
}

TEST_CASE("in place of a torch without CUDA comes one that supports the GPU") {
  Facts facts = facts_for({6, 1});
  facts.torch = TorchFacts{Package{"torch", "2.9.1+cpu", PackageManager::pip}, "/env/lib/python3.12/site-packages", {}, true};
  CHECK(starts_with(run(check_not_architecture, facts).at(0).fix, "pip uninstall torch, then pip install torch==2.7.1 "));
}

TEST_CASE("files that differ in numbers alone are alternatives") {
  Facts facts = facts_for({8, 6});
  facts.code = {code_file("/env/a/liba_cuda118.so", "a", FileFit::State::served),
                code_file("/env/a/liba_cuda130.so", "a", FileFit::State::lacking)};
  CHECK(run(check_device_code, facts).empty());
  CHECK(diagnose(facts).answer == Answer::clean);
}

TEST_CASE("a part without code is a risk, and likely where it is named for this GPU") {
  Facts facts = facts_for({10, 3});
  facts.code = {code_file("/env/a/core.so", "a", FileFit::State::served),
                code_file("/env/a/extra.so", "a", FileFit::State::lacking)};
  CHECK(run(check_device_code, facts).at(0).rank == Rank::risk);
  facts.code[1].path = "/env/a/moe_sm100.so";
  CHECK(run(check_device_code, facts).at(0).rank == Rank::likely);
  facts.code[1].path = "/env/a/moe_sm90.so";
  CHECK(run(check_device_code, facts).empty());
}

TEST_CASE("what cannot be told is not clean") {
  Facts facts = facts_for({8, 6});
  facts.code = {code_file("/env/a/liba.so", "a", FileFit::State::unknown)};
  CHECK(diagnose(facts).answer == Answer::unknown);
  facts.code.clear();
  CHECK(diagnose(facts).answer == Answer::clean);
  facts.unread.push_back(Error{"/env/b", "cannot be walked", {}});
  CHECK(diagnose(facts).answer == Answer::unknown);
  facts.unread.clear();
  facts.environments.clear();
  CHECK(diagnose(facts).answer == Answer::unknown);
}

TEST_CASE("the runtime's major version against the driver") {
  Facts facts = facts_for({8, 6}, Version{12, 4});
  facts.names_to_find = {"libcudart.so.13", "libcudart.so.12"};
  LinkedFile file;
  file.path = "/env/torch/lib/libtorch_cuda.so";
  file.needed = {"libcudart.so.13"};
  facts.linked = {file};
  REQUIRE(run(check_library_mix, facts).size() == 1);
  CHECK(run(check_library_mix, facts)[0].code == 35);
  facts.linked[0].needed = {"libcudart.so.12"};
  CHECK(run(check_library_mix, facts).empty());
}

TEST_CASE("a library that is nowhere is a risk, and likely where another version of it is here") {
  Facts facts = facts_for({8, 6});
  LinkedFile file;
  file.path = "/env/a/liba.so";
  file.needed = {"libnvrtc.so.12"};
  facts.linked = {file};
  CHECK(run(check_library_mix, facts).at(0).rank == Rank::risk);
  facts.libraries.push_back({"nvrtc", "/env/libnvrtc.so.13", "13.0", 13, {}, "environment"});
  CHECK(run(check_library_mix, facts).at(0).rank == Rank::likely);
  facts.names_to_find.insert("libnvrtc.so.12");
  CHECK(run(check_library_mix, facts).empty());
}

TEST_CASE("the needed library stands in a folder under another name, or where no loader looks") {
  Facts facts = facts_for({8, 6});
  LinkedFile file;
  file.path = "lnk/libcusolverMg.so.11";
  file.needed = {"libcublas.so.11"};
  facts.linked = {file};
  LibraryCopy copy{"cublas", "lnk/libcublas.so.11.11.3.6", "11.11.3.6", 11, {}, "environment"};
  copy.soname = "libcublas.so.11";
  copy.folder = "/home/jane/lnk";
  facts.libraries = {copy};
  CHECK(run(check_library_mix, facts).at(0).fix == "ln -s libcublas.so.11.11.3.6 lnk/libcublas.so.11");
  facts.libraries[0].under_soname = true;
  const Findings found = run(check_library_mix, facts);
  CHECK(found.at(0).cause == "libcusolverMg.so.11 needs libcublas.so.11; lnk/libcublas.so.11 is that version, but the "
                             "loader does not look in lnk");
  CHECK(found.at(0).fix == "export LD_LIBRARY_PATH=/home/jane/lnk");
  facts.linked[0].run_path = {"/home/jane/lnk"};
  CHECK(run(check_library_mix, facts).empty());
}

TEST_CASE("a toolkit is named by its folder where that stands there") {
  Facts facts = facts_for({12, 0});
  facts.tools = {{"nvcc", "/usr/bin/nvcc", Version{12, 4}, {}, false}};
  CHECK(run(check_environment, facts).at(0).fix.find("export CUDA_HOME=<folder of CUDA 12.8>") != std::string::npos);
  facts.toolkits = {"/usr/local/cuda-12.8"};
  CHECK(run(check_environment, facts).at(0).fix.find("export CUDA_HOME=/usr/local/cuda-12.8") != std::string::npos);
}

TEST_CASE("where nothing could be judged nothing is called right") {
  Facts facts = facts_for({8, 6});
  CHECK_FALSE(diagnose(facts).judged);
  CHECK(diagnose(facts).answer == Answer::clean);  // an environment may be without CUDA
  facts.environments[0].kind = "folder";
  CHECK(diagnose(facts).answer == Answer::unknown);
  facts.code = {code_file("/env/a/liba.so", "a", FileFit::State::served)};
  CHECK(diagnose(facts).answer == Answer::clean);
}

TEST_CASE("kernels without code for the GPU: the line to type has the driver") {
  Facts facts = facts_for({12, 0}, Version{13, 0});
  facts.code = {code_file("/x/libnppif.so.11.8", "a", FileFit::State::served)};
  facts.code[0].owner.reset();
  facts.code[0].fits[0].none = 1;
  CHECK(run(check_device_code, facts).at(0).fix ==
        "install a newer release of libnppif; these are the kernels: archguard verify /x/libnppif.so.11.8 --device 12.0@13.0");
}

TEST_CASE("a runtime that is linked in asks for a driver as a library does") {
  Facts facts = facts_for({9, 0});
  facts.classes[0].device.driver_cuda = Version{12, 2};
  CodeFile file;
  file.path = "/env/ext.so";
  file.fits.resize(1);
  file.held_runtime = Version{13, 0};
  facts.code.push_back(file);
  const Findings found = run(check_library_mix, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == 35);
  CHECK(found[0].evidence.front().find("ext.so holds the runtime of CUDA 13.0 or newer") == 0);
  facts.classes[0].device.driver_cuda = Version{13, 0};
  CHECK(run(check_library_mix, facts).empty());
}

TEST_CASE("a driver too old for the runtime is told of torch, not of each library that comes with it") {
  Facts facts = facts_for({8, 9}, Version{12, 4});
  const auto user = [&](const char* path, const char* package) {
    CodeFile file = code_file(path, package, FileFit::State::served);
    file.held_runtime = Version{13, 0};
    return file;
  };
  facts.code = {user("/env/nvidia/libcublas.so.13", "nvidia-cublas"), user("/env/nvidia/libcurand.so.10", "nvidia-curand")};
  REQUIRE(run(check_library_mix, facts).size() == 1);
  CHECK(run(check_library_mix, facts)[0].evidence.back() == "others do, too: nvidia-curand");
  facts.code.push_back(user("/env/torch/lib/libtorch_cuda.so", "torch"));
  const Findings found = run(check_library_mix, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].package->name == "torch");
  CHECK(found[0].evidence.back() == "so does what comes with it: nvidia-cublas, nvidia-curand");
}

TEST_CASE("a module that lacks a library is a risk where its package has its CUDA and the rest of its code") {
  Facts facts = facts_for({8, 6});
  facts.code = {code_file("/env/cupy/cuda/thrust.so", "cupy-cuda12x", FileFit::State::served)};
  const auto owner = facts.code[0].owner;
  facts.linked = {LinkedFile{"/env/cupy_backends/cublas.so", owner, {"libcublas.so.12"}},
                  LinkedFile{"/env/cupy_backends/nvrtc.so", owner, {"libnvrtc.so.12"}}};
  LibraryCopy newer;
  newer.family = "cublas";
  newer.path = "/usr/local/cuda-13.0/lib64/libcublas.so.13";
  newer.major = 13;
  newer.found_by = "ld.so.cache";
  facts.libraries = {newer};
  facts.names_to_find = {"libnvrtc.so.12"};
  const auto rank_of_cublas = [&] {
    for (const Finding& each : run(check_library_mix, facts))
      if (each.cause.find("libcublas.so.12") != std::string::npos) return each.rank;
    return Rank::note;
  };
  CHECK(rank_of_cublas() == Rank::risk);
  facts.linked[0].has_code = true;
  CHECK(rank_of_cublas() == Rank::likely);
  facts.linked[0].has_code = false;
  facts.names_to_find.clear();
  CHECK(rank_of_cublas() == Rank::likely);
}

TEST_CASE("an architecture list that leaves the GPU out") {
  Facts facts = facts_for({12, 0});
  const auto count = [&](const char* list) {
    facts.variables["TORCH_CUDA_ARCH_LIST"] = list;
    return run(check_environment, facts).size();
  };
  CHECK(count("8.0;8.6") == 1);
  CHECK(count("8.0 9.0+PTX") == 0);
  CHECK(count("12.0") == 0);
  CHECK(count("Ampere") == 0);  // with PTX of 8.6
  CHECK(count("Ampere+Tegra") == 1);
  CHECK(count("native") == 0);
  facts.variables.clear();
  facts.variables["CUDAARCHS"] = "80-real;90-virtual";
  CHECK(run(check_environment, facts).empty());
  facts.variables["CUDAARCHS"] = "80-real";
  CHECK(run(check_environment, facts).size() == 1);
}

TEST_CASE("an architecture list that torch refuses") {
  Facts facts = facts_for({8, 6});
  const auto finding = [&](const char* list) {
    facts.variables["TORCH_CUDA_ARCH_LIST"] = list;
    const Findings found = run(check_environment, facts);
    REQUIRE(found.size() == 1);
    return found[0];
  };
  const Finding commas = finding("8.6,12.0");
  CHECK(commas.cause ==
        "TORCH_CUDA_ARCH_LIST=8.6,12.0: torch builds no extension with it: Unknown CUDA arch (8.6,12.0) or GPU not supported");
  CHECK(commas.evidence.front() == "torch separates by ';' or one blank, not by ','");
  CHECK(commas.fix == "export TORCH_CUDA_ARCH_LIST='8.6;12.0'");
  CHECK(finding("8.0; 8.6").cause.find("Unknown CUDA arch () or") != std::string::npos);
  CHECK(finding("8.0; 8.6").fix == "export TORCH_CUDA_ARCH_LIST='8.0;8.6'");
  CHECK(finding("86").fix == "export TORCH_CUDA_ARCH_LIST='8.6'");
  CHECK(finding("sm_86;9.0-virtual").fix == "export TORCH_CUDA_ARCH_LIST='8.6;9.0+PTX'");
  CHECK(finding("Ampere+PTX").fix == "export TORCH_CUDA_ARCH_LIST='8.0;8.6+PTX'");
  for (const char* list : {"All", "all", "Common", "Auto", "ampere", "native;8.0", "Lovelace"})
    CHECK_MESSAGE(finding(list).cause.find("Unknown CUDA arch (") != std::string::npos, list);
  // 9.0 alone would leave the GPU out.
  CHECK(finding("9.0,12.0").fix == "unset TORCH_CUDA_ARCH_LIST before anything is built");
  facts = facts_for({8, 8});
  CHECK(finding("8.8").cause.find("Unknown CUDA arch (8.8) or GPU not supported") != std::string::npos);
  CHECK(finding("8.8").fix == "export TORCH_CUDA_ARCH_LIST='8.7+PTX'");
}

TEST_CASE("an architecture that the installed torch is too old for") {
  Facts facts = facts_for({12, 0});
  facts.variables["TORCH_CUDA_ARCH_LIST"] = "9.0 12.0";
  facts.torch = TorchFacts{Package{"torch", "2.5.1", PackageManager::pip}, "/env/site", Version{12, 4}, true};
  CHECK(run(check_environment, facts).empty());
  facts.torch->build_archs = {"8.0", "9.0", "9.0a"};
  const Findings found = run(check_environment, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].cause.find("Unknown CUDA arch (12.0)") != std::string::npos);
  CHECK(found[0].fix == "unset TORCH_CUDA_ARCH_LIST before anything is built");
}

TEST_CASE("what torch refused by the error is no name that it takes") {
  Facts facts = facts_for({8, 0});
  facts.variables["TORCH_CUDA_ARCH_LIST"] = "8.0;9.0+PTX";
  CHECK(run(check_environment, facts).empty());
  facts.explained = explain("ValueError: Unknown CUDA arch (9.0+PTX) or GPU not supported");
  const Findings found = run(check_environment, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].cause.find("Unknown CUDA arch (9.0+PTX)") != std::string::npos);
  CHECK(found[0].fix == "export TORCH_CUDA_ARCH_LIST='8.0+PTX'");
  CHECK(diagnose(facts).findings.front().rank == Rank::likely);
}

TEST_CASE("the driver is older than triton's ptxas: the line to type has a ptxas of its major version") {
  Facts facts = facts_for({8, 0}, Version{11, 4});
  facts.tools = {
      {"ptxas", "/env/triton/bin/ptxas", Version{12, 3}, Package{"triton", "2.2.0", PackageManager::pip}}};
  const auto fix = [&] {
    const Findings found = run(check_jit_compiler, facts);
    REQUIRE(found.size() == 1);
    CHECK(found[0].rank == Rank::risk);
    CHECK(found[0].code == 200);
    return found[0].fix;
  };
  CHECK(fix().find("export TRITON_PTXAS_PATH=<folder of CUDA 11.8>/bin/ptxas; or update the driver to one of "
                   "CUDA 12.0") == 0);
  facts.toolkits.insert("/usr/local/cuda-11.7");
  CHECK(fix().find("export TRITON_PTXAS_PATH=/usr/local/cuda-11.7/bin/ptxas") == 0);
  facts.classes[0].device.driver_cuda = Version{12, 0};
  CHECK(run(check_jit_compiler, facts).empty());
}

TEST_CASE("one file needs, two files need") {
  Facts facts = facts_for({8, 6});
  facts.variables = {{"CUDA_FORCE_PTX_JIT", "1"}, {"CUDA_DISABLE_PTX_JIT", "1"}};
  facts.code = {code_file("/env/a/liba.so", "a", FileFit::State::served)};
  facts.code[0].fits[0].sass = 0;
  facts.code[0].fits[0].jit = 4;
  const auto says = [&](const char* text) {
    for (const Finding& each : run(check_environment, facts))
      if (each.cause.find(text) != std::string::npos) return true;
    return false;
  };
  CHECK(says("1 file with device code holds no PTX"));
  CHECK(says("which 1 file needs here"));
  facts.code.push_back(facts.code[0]);
  CHECK(says("2 files with device code hold no PTX"));
  CHECK(says("which 2 files need here"));
  facts.code[1] = code_file("/env/a/moe_sm80.so", "a", FileFit::State::lacking);
  CHECK(run(check_device_code, facts).at(0).evidence.back() == "1 other file of it covers this GPU");
}

TEST_CASE("a fix names a release of x86-64 for no other machine") {
  Facts facts = facts_for({6, 1});
  const auto lacks_code = [&](const char* package) {
    facts.code = {code_file("/env/lib/x.so", package, FileFit::State::lacking)};
    return run(check_device_code, facts).at(0).fix;
  };
  CHECK(lacks_code("torch").find("pip install torch==2.7.1") == 0);
  facts.platform = "aarch64";
  CHECK(lacks_code("torch").find("no measured release of torch on PyPI supports 6.1") == 0);
  CHECK(lacks_code("xformers").find("; its releases were measured for x86_64 and windows alone: judge a wheel "
                                    "for aarch64 by its file: archguard verify WHEEL --scope library --device "
                                    "6.1") != std::string::npos);
  facts = facts_for({8, 7});  // Jetson Orin, whatever this machine is
  CHECK(lacks_code("bitsandbytes") == "no measured release of bitsandbytes on PyPI supports 8.7");
  facts = facts_for({11, 0});
  CHECK(lacks_code("torch").find("pip install torch==2.15.0") == 0);
}

TEST_CASE("a fix tells which newer release the driver is too old for, and both ways out") {
  Facts facts = facts_for({9, 0}, Version{12, 4});
  facts.code = {code_file("/env/torch/libtorch_cuda.so", "torch", FileFit::State::lacking)};
  const auto fix = [&] { return run(check_device_code, facts).at(0).fix; };
  CHECK(fix() ==
        "pip install torch==2.10.0 torchvision==0.25.0 (the last measured release on PyPI that supports 9.0 under a driver of CUDA 12.4; "
        "torch 2.15.0 needs a driver of CUDA 13.0 (driver 580) or newer); not measured: PyTorch's own index (not PyPI) has builds for "
        "CUDA 12.6 up to 2.14, cu126, which support 5.0 to 9.0 (not Jetson)");
  facts = facts_for({7, 5}, Version{10, 2});
  facts.code = {code_file("/env/torch/libtorch_cuda.so", "torch", FileFit::State::lacking)};
  CHECK(fix() ==
        "update the driver to one of CUDA 13.0 (driver 580) or newer, then pip install torch==2.15.0 (the newest "
        "measured release on PyPI that supports 7.5); or use a build of torch for CUDA 10.2, which was not measured");
}

TEST_CASE("of two GPUs the fix names the one whose driver is too old") {
  Facts facts = facts_for({9, 0}, Version{13, 0});
  Device other = facts.classes[0].device;
  other.capability = ComputeCapability{7, 5};
  other.driver_cuda = Version{12, 4};
  facts.classes.push_back({other, {1}});
  facts.code = {code_file("/env/torch/libtorch_cuda.so", "torch", FileFit::State::lacking)};
  facts.code[0].fits.push_back(facts.code[0].fits[0]);
  const std::string fix = run(check_device_code, facts).at(0).fix;
  CHECK(fix.find("supports 9.0 and 7.5 under a driver of CUDA 12.4; torch 2.15.0 needs a driver of CUDA 13.0 (driver 580) "
                 "or newer for 7.5)") != std::string::npos);
}

TEST_CASE("a fix for a GPU below 7.0 promises no torch.compile") {
  Facts facts = facts_for({6, 1}, Version{12, 8});
  facts.code = {code_file("/env/torch/libtorch_cuda.so", "torch", FileFit::State::lacking)};
  CHECK(run(check_device_code, facts).at(0).fix.find(
            "; torch.compile refuses 6.1 all the same: Triton only supports devices of CUDA Capability >= 7.0") != std::string::npos);
  // Of triton's ptxas, that which knows the GPU and that which does not.
  facts.torch = TorchFacts{Package{"torch", "2.7.1", PackageManager::pip}, "/env/site", Version{12, 6}, true};
  facts.tools = {{"ptxas", "/env/triton/backends/nvidia/bin/ptxas", Version{12, 8}, Package{"triton", "3.3.1", PackageManager::pip}}};
  Findings found = run(check_jit_compiler, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == Rank::risk);
  CHECK(found[0].cause.find("torch.compile ends with an error on 6.1") == 0);
  facts.tools[0].version = Version{13, 1};
  found = run(check_jit_compiler, facts);
  REQUIRE(found.size() == 2);
  CHECK(found[0].fix.find("or install an older triton; torch.compile refuses the GPU all the same") != std::string::npos);
  facts.torch.reset();  // JAX asks Triton by itself
  found = run(check_jit_compiler, facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].fix.find("torch.compile") == std::string::npos);
  facts = facts_for({7, 0});
  facts.tools = {{"ptxas", "/env/triton/backends/nvidia/bin/ptxas", Version{12, 8}, Package{"triton", "3.3.1", PackageManager::pip}}};
  CHECK(run(check_jit_compiler, facts).empty());
}

TEST_CASE("a machine without a GPU, and with none named, has no cause") {
  Facts facts = facts_for({8, 6});
  facts.devices = {};
  facts.classes.clear();
  facts.probe.emplace();
  facts.probe->diagnostics.push_back({"load", {}, "", "no NVIDIA driver on this machine", "install it"});
  CHECK(diagnose(facts).answer == Answer::no_gpu);
  facts.probe->devices.emplace_back();  // one on the bus
  facts.devices.push_back(facts.probe->devices.front());
  CHECK(diagnose(facts).answer == Answer::cause);
}
