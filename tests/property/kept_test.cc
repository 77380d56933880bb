// A verdict that was kept is the one that was given: whatever is reported of it is the same to the letter.
#include "kept/kept.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "kept/file_result_record.h"
#include "report/verify_json.h"
#include "report/verify_text.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/run_process/run_process.h"

using namespace archguard;
using namespace archguard::test;

namespace {

test::Bytes cubin(int sm, const std::vector<std::string>& kernels, const char* variable = nullptr) {
  CubinBuilder builder;
  builder.sm(sm).toolkit_info("13.0", "-arch sm_" + std::to_string(sm));
  for (const std::string& kernel : kernels) builder.kernel(kernel, sass::join({sass::store(), sass::exit()}));
  if (variable != nullptr) builder.variable(variable, ".nv.global", 4);
  return builder.bytes();
}

std::string text_of(const test::Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> samples() {
  const std::string ptx =
      ".version 9.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry gemm(.param .u64 p)\n{\n ld.param.u64 %rd1, [p];\n st.global.u32 [%rd1], 0;\n "
      "ret;\n}\n";
  const test::Bytes code =
      FatbinBuilder{}.cubin(80, cubin(80, {"gemm", "scan"})).cubin(90, cubin(90, {"gemm"})).bytes();
  const test::Bytes variables =
      FatbinBuilder{}.cubin(80, cubin(80, {"gemm"}, "dv")).cubin(86, cubin(86, {"gemm"})).bytes();
  const test::Bytes hollow = FatbinBuilder{}
                                 .cubin(80, cubin(80, {"gemm"}))
                                 .cubin(90, CubinBuilder{}.sm(90).kernel("gemm", sass::exit()).bytes())
                                 .bytes();
  const test::Bytes object = ElfBuilder{}.relocatable().section(".nv_fatbin", variables).bytes();
  // No UTF-8, and a name that ends in the midst of a character.
  const test::Bytes strange =
      FatbinBuilder{}.cubin(80, cubin(80, {"\xff\xfe", "\xe2\x82"})).cubin(90, cubin(90, {"a"})).bytes();
  return {text_of(code),
          ptx,
          text_of(ElfBuilder{}.section(".nv_fatbin", code).bytes()),
          text_of(ElfBuilder{}.section(".nv_fatbin", hollow).bytes()),
          text_of(ElfBuilder{}.executable().section(".nv_fatbin", variables).bytes()),
          text_of(ElfBuilder{}.section(".nv_fatbin", strange).bytes()),
          text_of(ElfBuilder{}.section(".rodata", hollow).bytes()),
          text_of(ElfBuilder{}.section(".rodata", cubin(90, {"gemm"})).bytes()),
          text_of(ElfBuilder{}.needed("libc.so.6").bytes()),
          text_of(object),
          text_of(ArchiveBuilder{}.symbols().member("first.o", object).member("last.o", object).bytes())};
}

std::vector<Device> devices() {
  std::vector<Device> all;
  for (const char* each : {"7.5", "8.0", "8.6", "9.0", "12.0"}) {
    Device device;
    device.capability = parse_capability(each);
    device.name = "GPU";
    device.origin = "fleet.csv:4";
    device.driver_version = "450.51";
    if (all.size() % 2 == 1) device.driver_cuda = Version{11, 0};
    all.push_back(device);
  }
  return all;
}

std::vector<VerifyRequest> requests() {
  std::vector<VerifyRequest> all(1);
  all[0].classes = classes_of(devices());
  all.push_back(all[0]);
  all.back().policy.scope = Scope::library;
  all.push_back(all[0]);
  all.back().expected = {{*parse_arch("80"), true}, {*parse_arch("120"), false}};
  all.push_back(all[0]);
  all.back().policy.hollow = HollowPolicy::error;
  all.back().policy.embedded = EmbeddedPolicy::error;
  all.back().policy.judge.require_ptx = all.back().policy.judge.require_driver = true;
  all.back().policy.judge.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
  all.back().policy.target.name = "app";
  return all;
}

// Devices with nothing but what a question holds of them.
VerifyRequest bare(VerifyRequest request) {
  for (DeviceClass& each : request.classes) {
    Device device;
    device.capability = each.device.capability;
    device.driver_cuda = each.device.driver_cuda;
    device.cuda_by_branch = each.device.cuda_by_branch;
    device.cuda_at_least = each.device.cuda_at_least;
    each.device = device;
    each.members.clear();
  }
  return request;
}

FileResult judge_file(const std::string& path, const VerifyRequest& request) {
  const auto source = FileSource::open(path);
  REQUIRE(source);
  Waivers none;
  return verify_file(read_device_code(*source, path), *source, path, request, none);
}

std::string report(FileResult file, const VerifyRequest& request) {
  Verification verification;
  verification.devices = devices();
  verification.classes = request.classes;
  verification.expects = !request.expected.empty();
  verification.files.push_back(std::move(file));
  return verify_text(verification, {}) + held_text(VerifyJson(verification));
}

}  // namespace

TEST_CASE("what is reported of a kept verdict is what was reported of the fresh one") {
  const TemporaryFolder folder;
  const KeptVerdicts kept({folder.path() + "/cache"});
  std::size_t found_all = 0, failed = 0;
  for (const std::string& sample : samples()) {
    const std::string path = folder.file("f" + std::to_string(found_all), sample);
    for (const VerifyRequest& request : requests()) {
      const std::string question = question_of(request, "1.0");
      auto identity = identity_of(path);
      REQUIRE(identity);
      identity->taken += 10 * std::int64_t{1000000000};
      CHECK_FALSE(kept.find(path, question));
      const FileResult fresh = judge_file(path, request);
      CHECK(encode(fresh) == encode(judge_file(path, bare(request))));
      kept.keep(path, *identity, question, fresh);
      const auto found = kept.find(path, question);
      REQUIRE(found.has_value() == fresh.errors.empty());
      if (!found) continue;
      ++found_all;
      for (const DeviceResult& device : found->devices) failed += device.failures.size();
      CHECK(report(*found, request) == report(fresh, request));
    }
  }
  CHECK(found_all == samples().size() * requests().size());
  CHECK(failed > 100);
}
