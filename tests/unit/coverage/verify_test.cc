// What one file adds up to: verify_file and classes_of.
#include "coverage/verify.h"

#include <doctest/doctest.h>

#include "compat/driver.h"
#include "coverage/failures_by_cause.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/program_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Device gpu(const std::string& capability, const std::string& driver_cuda = {}) {
  Device device;
  device.capability = parse_capability(capability);
  if (!driver_cuda.empty()) device.driver_cuda = parse_version(driver_cuda);
  return device;
}

CubinBuilder cubin(int sm, const char* kernel = "k") {
  return CubinBuilder{}.sm(sm).kernel(kernel, sass::join({sass::store(), sass::exit()}));
}

test::Bytes file_of(const std::vector<int>& archs, const char* kernel = "k") {
  FatbinBuilder builder;
  for (const int arch : archs) builder.cubin(arch, cubin(arch, kernel).bytes());
  return builder.bytes();
}

test::Bytes join(test::Bytes one, const test::Bytes& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

struct Asked {
  std::vector<Device> devices;
  VerifyPolicy policy = {};
  std::vector<ExpectedImage> expected = {};
  std::string waivers = {};
};

FileResult verify(const test::Bytes& bytes, const Asked& asked) {
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "t.fatbin");
  VerifyRequest request;
  request.classes = classes_of(asked.devices);
  request.policy = asked.policy;
  request.expected = asked.expected;
  Waivers waivers = *Waivers::parse(asked.waivers, "w.csv");
  return verify_file(code, source, "t.fatbin", request, waivers);
}

}  // namespace

TEST_CASE("devices that no rule tells apart are one class") {
  const auto classes = classes_of(std::vector<Device>{gpu("8.0"), gpu("8.6"), gpu("8.0"), gpu("8.0", "12.4"),
                                                      gpu("8.0", "12.2"), gpu("8.0", "12.4")});
  REQUIRE(classes.size() == 4);
  CHECK(classes[0].members == std::vector<std::size_t>{0, 2});
  CHECK(classes[1].members == std::vector<std::size_t>{1});
  CHECK(classes[2].members == std::vector<std::size_t>{3, 5});
  CHECK(classes[3].members == std::vector<std::size_t>{4});
}

TEST_CASE("a device that is excluded, or of no known capability, is in no class") {
  Device unknown, excluded = gpu("8.0");
  excluded.excluded = "display card";
  CHECK(classes_of(std::vector<Device>{unknown, excluded}).empty());
}

TEST_CASE("each class is answered in the order of the request") {
  const FileResult result = verify(file_of({80, 90}), {{gpu("8.6"), gpu("7.5"), gpu("9.0")}});
  REQUIRE(result.devices.size() == 3);
  CHECK(result.path == "t.fatbin");
  CHECK(result.has_code);
  CHECK(result.devices[0].coverage == Coverage::covered);
  CHECK(result.devices[0].fatbins.sass == 1);
  CHECK(result.devices[0].kernels.covered == 1);
  CHECK(result.devices[0].fix.empty());
  CHECK(result.devices[1].coverage == Coverage::not_covered);
  CHECK(result.devices[1].fatbins.uncovered == 1);
  CHECK(result.devices[2].coverage == Coverage::covered);
}

TEST_CASE("PTX that is newer than the driver has the driver's own number: 218 before CUDA 11.0") {
  const std::string text =
      ".version 7.0\n.target sm_53\n.visible .entry k() { .reg .b64 %rd; st.global.u32 [%rd], 7; ret; }\n";
  const auto code_on = [&](const Device& device) {
    const FileResult result = verify(FatbinBuilder{}.ptx("53", "7.0", text).bytes(), {{device}});
    REQUIRE(result.devices[0].failures.size() == 1);
    CHECK(result.devices[0].failures[0].reason.find("its PTX has ISA 7.0; ") == 0);
    return result.devices[0].failures[0].code;
  };
  CHECK(code_on(gpu("6.1", "9.1")) == kInvalidPtx);
  CHECK(code_on(gpu("6.1", "10.2")) == kInvalidPtx);
  CHECK(code_on(gpu("5.3")) == kInvalidPtx);  // which gets 10.2 at most
  CHECK(error_of_newer_ptx({11, 0}) == kUnsupportedPtxVersion);
}

TEST_CASE("no union over a file: each fat binary must run") {
  const FileResult result =
      verify(join(file_of({80}, "one"), file_of({90}, "two")), {{gpu("8.0"), gpu("9.0")}});
  for (const DeviceResult& device : result.devices) {
    CHECK(device.coverage == Coverage::not_covered);
    CHECK(device.fatbins.total == 2);
    CHECK(device.fatbins.sass == 1);
    CHECK(device.fatbins.uncovered == 1);
    REQUIRE(device.failures.size() == 1);
    CHECK(device.failures[0].code == kNoKernelImage);
  }
  CHECK(result.devices[0].failures[0].kernel == "two");
  CHECK(result.devices[1].failures[0].kernel == "one");
}

TEST_CASE("equal failures of one file are one, with all of their places") {
  const FileResult result =
      verify(join(join(file_of({80}, "a"), file_of({80}, "b")), file_of({80}, "c")), {{gpu("9.0")}});
  REQUIRE(result.devices[0].failures.size() == 1);
  CHECK(result.devices[0].failures[0].places.size() == 3);
}

TEST_CASE("the fix names the entry that the list lacks, as text and as data") {
  const FileResult result = verify(file_of({80}), {{gpu("9.0")}});
  const Failure& failure = result.devices[0].failures.at(0);
  REQUIRE(failure.add.size() == 1);
  CHECK(failure.add[0].arch == *parse_arch("90"));
  CHECK(failure.add[0].sass);
  CHECK_FALSE(failure.add[0].ptx);
  CHECK(failure.fix.find("add 90-real") == 0);
  CHECK(result.devices[0].fix == failure.fix);
}

TEST_CASE("where more than an entry is asked for, no entry is data") {
  VerifyPolicy policy;
  policy.target.compiles_cuda = false;  // its code comes from elsewhere: there is no list to add to
  const FileResult result = verify(file_of({80}), {{gpu("9.0")}, policy});
  CHECK(result.devices[0].failures.at(0).add.empty());
  CHECK_FALSE(result.devices[0].failures.at(0).fix.empty());
}

TEST_CASE("a file that is cut short covers nothing") {
  test::Bytes bytes = join(file_of({80}, "one"), file_of({80}, "two"));
  bytes.resize(bytes.size() - 16);
  const FileResult result = verify(bytes, {{gpu("8.0"), gpu("9.0")}});
  CHECK_FALSE(result.errors.empty());
  CHECK(result.devices[0].coverage == Coverage::unknown);
  CHECK(result.devices[1].coverage == Coverage::not_covered);  // what was read fails already
}

TEST_CASE("a file with an image that nobody understands covers nothing, beside exact SASS either") {
  const auto bytes =
      FatbinBuilder{}.cubin(80, cubin(80).bytes()).image(0x55, "90", test::Bytes(64, 1)).bytes();
  const FileResult result = verify(bytes, {{gpu("8.0"), gpu("9.0")}});
  CHECK_FALSE(result.errors.empty());
  CHECK(result.devices[0].coverage == Coverage::unknown);
  CHECK(result.devices[0].fatbins.sass == 1);
  CHECK(result.devices[1].coverage == Coverage::unknown);
  REQUIRE_FALSE(result.devices[1].failures.empty());
  CHECK(result.devices[1].failures[0].unknown);
}

TEST_CASE(
    "a fat binary that host code registers and nvprune emptied is unknown, but beside others of a library") {
  const auto full = file_of({80}, "one"), none = FatbinBuilder{}.bytes();
  const auto program = ProgramBuilder{}.whole(full).whole(none).bytes();
  const FileResult result = verify(program, {{gpu("8.0"), gpu("9.0")}});
  CHECK(result.devices[0].coverage == Coverage::unknown);
  CHECK(result.devices[0].fatbins.unknown == 1);
  CHECK(result.devices[1].coverage == Coverage::not_covered);
  VerifyPolicy policy;
  policy.scope = Scope::library;
  CHECK(verify(program, {{gpu("8.0")}, policy}).devices[0].coverage == Coverage::covered);
  const FileResult alone = verify(ProgramBuilder{}.whole(none).bytes(), {{gpu("8.0")}});
  CHECK(alone.has_code);
  CHECK(alone.devices[0].coverage == Coverage::unknown);
  const FileResult part =
      verify(ProgramBuilder{}.link({"_a", "_b"}, full).object("_a", full).object("_b", none).bytes(),
             {{gpu("8.0")}});
  CHECK(part.devices[0].coverage == Coverage::unknown);
  const FileResult link = verify(ProgramBuilder{}.whole(full).link({}, none).bytes(), {{gpu("8.0")}});
  CHECK_MESSAGE(link.devices[0].coverage == Coverage::covered, "what nvcc adds to every program");
}

TEST_CASE("with scope library one fat binary that fits is enough") {
  VerifyPolicy policy;
  policy.scope = Scope::library;
  const auto bytes = join(file_of({80}, "one"), file_of({90}, "two"));
  const FileResult result = verify(bytes, {{gpu("8.0"), gpu("9.0"), gpu("7.5")}, policy});
  CHECK(result.library);
  CHECK(result.devices[0].coverage == Coverage::covered);
  CHECK(result.devices[1].coverage == Coverage::covered);
  CHECK(result.devices[2].coverage == Coverage::not_covered);
}

TEST_CASE("images that were asked for and are not there are told, whatever the devices") {
  const ExpectedImage sass80{*parse_arch("80"), true}, sass90{*parse_arch("90"), true};
  const FileResult holds = verify(file_of({80, 90}), {{gpu("8.0")}, {}, {sass80, sass90}});
  CHECK(holds.expect.fatbins == 1);
  CHECK(holds.expect.failures.empty());
  const FileResult lacks = verify(file_of({80}), {{gpu("8.0")}, {}, {sass80, sass90}});
  REQUIRE(lacks.expect.failures.size() == 1);
  REQUIRE(lacks.expect.failures[0].absent.size() == 1);
  CHECK(lacks.expect.failures[0].absent[0].arch == *parse_arch("90"));
  CHECK(lacks.devices[0].coverage == Coverage::covered);
}

TEST_CASE("of fat binaries that an object holds as data nothing is expected") {
  const ExpectedImage sass90{*parse_arch("90"), true};
  const auto expect = [&](const test::Bytes& bytes) {
    return verify(bytes, {{gpu("8.0")}, {}, {sass90}}).expect.failures.size();
  };
  const auto held = file_of({80});
  CHECK(expect(held) == 1);
  CHECK(expect(ElfBuilder{}.shared().section(".nv_fatbin", held).bytes()) == 1);
  CHECK(expect(ElfBuilder{}.shared().section(".data", held, 1, 3).bytes()) == 1);
  CHECK(expect(ElfBuilder{}.relocatable().section(".data", held, 1, 3).bytes()) == 0);
}

TEST_CASE("a kernel that the image lacks is missing, unless it is waived") {
  const auto both = CubinBuilder{}
                        .sm(80)
                        .kernel("k", sass::join({sass::store(), sass::exit()}))
                        .kernel("more", sass::join({sass::store(), sass::exit()}));
  const auto bytes = FatbinBuilder{}.cubin(80, both.bytes()).cubin(90, cubin(90).bytes()).bytes();
  const FileResult lacks = verify(bytes, {{gpu("8.0"), gpu("9.0")}});
  CHECK(lacks.devices[0].coverage == Coverage::covered);
  CHECK(lacks.devices[1].coverage == Coverage::not_covered);
  CHECK(lacks.devices[1].kernels.missing == std::vector<std::string>{"more"});
  CHECK(lacks.devices[1].failures.at(0).code == kSymbolNotFound);
  const FileResult waived =
      verify(bytes, {{gpu("9.0")}, {}, {}, "kernel,compute_cap,reason\nmore,9.0,not called there\n"});
  CHECK(waived.devices[0].coverage == Coverage::covered);
}

TEST_CASE("a file without device code answers nothing") {
  const FileResult result = verify({}, {{gpu("8.0")}});
  CHECK_FALSE(result.has_code);
  CHECK_FALSE(result.has_fatbins);
  const FileResult empty = verify(FatbinBuilder{}.bytes(), {{gpu("8.0")}});
  CHECK_FALSE(empty.has_code);
}

TEST_CASE("an error that hides another is none that a newer driver mends") {
  const auto left = [](bool sooner) {
    Failure too_new, without;
    too_new.code = kUnsupportedPtxVersion;
    too_new.sooner = sooner;
    without.code = kNoKernelImage;
    std::vector<Failure> failures{too_new, without};
    const bool forgiven = forgive_missing_images(failures);
    CHECK(forgiven == !sooner);
    return failures.size();
  };
  CHECK(left(false) == 1);
  CHECK(left(true) == 2);
}

TEST_CASE("what cannot be told is forgiven beside a sure error of the driver alone") {
  const auto left = [](bool sure) {
    Failure refused, untold, relocatable, without;
    refused.code = untold.code = kInvalidKernelImage;
    refused.unknown = !sure;
    untold.unknown = relocatable.unknown = true;
    without.code = kNoKernelImage;
    std::vector<Failure> failures{refused, untold, relocatable, without};
    CHECK(forgive_missing_images(failures));
    return failures.size();
  };
  CHECK(left(true) == 1);
  CHECK(left(false) == 2);
}
