// Which image nvJitLink takes of a fat binary, against linker_choice(); and how often judge(), which goes by
// another order, takes the same.
//   real_other_order CACHE TOOLKIT RELEASE
// Exit: 0; 1 where linker_choice() is wrong; 77 where NVRTC, nvFatbin or nvJitLink is missing.

#include "coverage/other_order.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "base/version.h"
#include "compat/rules.h"
#include "nvjitlink.h"
#include "support/factory/factory.h"

using namespace archguard;
using factory::Factory;
using factory::Kind;
using factory::Part;

namespace {

constexpr int kSets = 300;

// Every name that a device's code can have; each image is made twice, so that equals meet.
const std::vector<Part> kPool = [] {
  std::vector<Part> parts;
  for (const char* arch : {"75", "80", "86", "87", "89", "90", "90a", "100", "100a", "100f", "103", "103a",
                           "103f", "120", "120f", "121a"})
    parts.push_back({Kind::sass, arch});
  for (const char* arch : {"75", "80", "86", "87", "90", "90a", "100", "100a", "100f", "103f", "120", "120f"})
    parts.push_back({Kind::ptx, arch});
  return parts;
}();

// Devices by the target that stands for all that they can do. (PTX with `a` needs a target with `a`.)
const char* const kTargets[] = {"75", "80", "86", "87", "89", "90a", "100a", "103a", "110a", "120a", "121a"};

// A made image whose one kernel tells it from all others.
struct Made {
  factory::Image image;
  std::string kernel;
};

Result<std::vector<Made>> make_pool(const Factory& factory) {
  std::vector<Made> pool;
  for (const Part& part : kPool)
    for (const char* twin : {"_first", "_second"}) {
      const std::string kernel = (part.kind == Kind::sass ? "sass_" : "ptx_") + part.arch + twin;
      std::vector<std::string> options;
      if (part.kind == Kind::sass)
        options.push_back("-rdc=true");  // nvJitLink drops others as whole programs
      ARCHGUARD_TRY(image, factory.compile("extern \"C\" __global__ void " + kernel +
                                               "(float* x) { x[threadIdx.x] *= 2; }",
                                           part, options));
      pool.push_back({std::move(image), kernel});
    }
  return pool;
}

// The fat binary as a verdict sees it, had its SASS been linked.
Result<FatbinCode> read(const Bytes& fatbin) {
  const MemorySource source(fatbin);
  const DeviceCode code = read_device_code(source, "t.fatbin");
  if (!code.errors.empty() || code.objects.size() != 1 || code.objects[0].fatbins.size() != 1)
    return Error{"t.fatbin", "is not read as one fat binary", ""};
  FatbinCodeReader codes(code, source);
  FatbinCode contents = codes.next();
  for (Image& image : contents.images)
    if (image.code) image.code->relocatable = false;
  return contents;
}

std::string kernel_of(const FatbinCode& code, std::size_t image) {
  return code.images[image].code->kernels.front().name;
}

// nvJitLink 13.2 and newer link SASS of Tegra and of desktop GPUs with one another, which no driver is said
// to load: nothing to be learned there.
bool mixes_tegra(const FatbinCode& code, ComputeCapability device) {
  return std::any_of(code.images.begin(), code.images.end(), [&](const Image& image) {
    const ComputeCapability made_for = capability_of(image.entry.arch);
    return image.entry.kind == EntryKind::sass && made_for.major == device.major &&
           is_tegra(made_for) != is_tegra(device);
  });
}

struct Counts {
  int cells = 0, wrong = 0, same = 0;
  std::map<std::string, int> parted;  // why judge() takes another
};

std::string why(const FatbinEntry& published, const FatbinEntry& linked) {
  if (published.kind != linked.kind)
    return "nearest arch of SASS and PTX alike, where SASS comes first in a driver";
  if (published.arch != linked.arch) return "a before f before neither, where the first is taken";
  return "the first of equal PTX, where the last is taken";
}

void ask(const NvJitLink& jit, const std::vector<const Made*>& set, const Bytes& fatbin, Counts& counts) {
  const auto code = read(fatbin);
  if (!code) {
    std::printf("%s\n", code.error().text().c_str());
    ++counts.wrong;
    return;
  }
  for (const char* name : kTargets) {
    const Arch target = *parse_arch(name);
    Device device;
    device.capability = capability_of(target);
    const auto predicted = linker_choice(*code, *device.capability);
    if (!predicted || mixes_tegra(*code, *device.capability)) continue;
    ++counts.cells;
    const auto cubin = jit.link_fatbin(fatbin, target);
    const std::string bytes(cubin ? ByteView(*cubin).text() : std::string_view());
    const std::string expected = kernel_of(*code, *predicted);
    if (bytes.find(".text." + expected) == std::string::npos) {
      ++counts.wrong;
      std::printf("for sm_%s of", name);
      for (const Made* made : set) std::printf(" %s", made->kernel.c_str());
      std::printf(": expected %s, %s\n", expected.c_str(),
                  cubin ? "got another" : cubin.error().text().c_str());
      continue;
    }
    const Judgement judgement = judge(*code, device, {});
    if (judgement.image == predicted)
      ++counts.same;
    else if (judgement.image)
      ++counts.parted[why(code->images[*judgement.image].entry, code->images[*predicted].entry)];
    else
      ++counts.wrong;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto release = argc == 4 ? parse_version(argv[3]) : std::nullopt;
  if (!release) {
    std::fprintf(stderr, "usage: real_other_order CACHE TOOLKIT RELEASE\n");
    return 2;
  }
  const auto skip = [](const Error& error) {
    std::printf("SKIPPED: %s; %s\n", error.text().c_str(), error.fix.c_str());
    return 77;
  };
  const auto factory = Factory::open(argv[1], argv[2]);
  if (!factory) return skip(factory.error());
  const std::string name = "nvjitlink-" + to_string(*release);
  const std::string folder =
      release->major == 12 ? "nvjitlink/lib" : "cu" + std::to_string(release->major) + "/lib";
  auto jit = NvJitLink::open(std::string(argv[1]) + "/" + name + "/nvidia/" + folder + "/libnvJitLink.so." +
                                 std::to_string(release->major),
                             *release);
  if (!jit) return skip({jit.error().where, jit.error().what, "run tests/support/fetch " + name});
  const auto pool = make_pool(*factory);
  if (!pool) {
    std::printf("%s\n", pool.error().text().c_str());
    return 1;
  }

  Counts counts;
  std::mt19937 random(1);
  for (int i = 0; i < kSets; ++i) {
    std::vector<const Made*> set;
    for (std::size_t wanted = 2 + random() % 3; set.size() < wanted;) {
      const Made* made = &(*pool)[random() % pool->size()];
      if (std::find(set.begin(), set.end(), made) == set.end()) set.push_back(made);
    }
    std::vector<factory::Image> images;
    for (const Made* made : set) images.push_back(made->image);
    const auto fatbin = factory->pack(images);
    if (!fatbin) {
      std::printf("%s\n", fatbin.error().text().c_str());
      return 1;
    }
    ask(*jit, set, *fatbin, counts);
  }
  std::printf("nvJitLink %s: %d fat binaries, %d choices, %d not as linker_choice() says\n",
              to_string(*release).c_str(), kSets, counts.cells, counts.wrong);
  std::printf("  the order of a driver, as published, takes the same in %d\n", counts.same);
  for (const auto& [reason, count] : counts.parted)
    std::printf("  another in %d: %s\n", count, reason.c_str());
  return counts.wrong == 0 && counts.cells != 0 ? 0 : 1;
}
