// Every fix that a report names is tried: the steps are taken on what the file was built from, it is built
// again with the builders and verified again. The error is gone then, and no other error of CUDA has come in
// its place. And no step is one that the tool at hand refuses.
#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/torch.h"
#include "coverage/verify.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr unsigned kSeed = 20261121;
constexpr int kCases = 15000;

enum class Packing { usual, size, speed };  // as nvcc does by itself, --compress-mode=size, =speed

struct Part {
  Arch arch;
  bool sass = true;
  bool lacks = false, hollow = false;  // of its second kernel
};

// What one fat binary is compiled from.
struct Recipe {
  Version toolkit;
  std::vector<Part> parts;
  Packing packing = Packing::usual;
  bool calls_another_file = false;  // -rdc=true, never linked for the device
  int since = 0;                    // its second kernel stands behind __CUDA_ARCH__, from this arch on
};

struct Case {
  std::vector<Recipe> fatbins;
  bool as_data = false;      // its only recipe's images stand among the data of the file, each by itself
  bool has_runtime = false;  // linked in; else the driver API loads them
  Device device;
  VerifyPolicy policy;
  bool waived = false;  // the second kernel of each
};

bool makes(Version toolkit, Arch arch) {
  const auto& archs = find_toolkit(toolkit)->archs;
  return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

Bytes cubin(const Part& part, Version toolkit) {
  CubinBuilder builder;
  builder.sm(part.arch.number);
  if (toolkit.major < 13 && part.arch.number <= 90)
    builder.generation7(toolkit.major * 10 + toolkit.minor);
  else
    builder.toolkit_info(to_string(toolkit), "-arch sm_" + to_string(part.arch));
  if (part.arch.suffix == Suffix::a) builder.marked_a();
  const Bytes real = sass::join({sass::store(), sass::exit()});
  builder.kernel("gemm", real);
  if (!part.lacks) builder.kernel("scan", part.hollow ? sass::exit() : real);
  return builder.bytes();
}

std::string ptx(const Part& part, Version isa, bool for_linking) {
  std::string text =
      ".version " + to_string(isa) + "\n.target sm_" + to_string(part.arch) + "\n.address_size 64\n";
  if (for_linking) text += ".extern .func helper\n(\n)\n;\n";
  const std::string begin = "()\n{\n", store = " st.global.u32 [%rd1], 0;\n";
  const std::string end = std::string(for_linking ? " call helper;\n" : "") + " ret;\n}\n";
  text += ".visible .entry gemm" + begin + store + end;
  if (!part.lacks) text += ".visible .entry scan" + begin + (part.hollow ? "" : store) + end;
  return text;
}

Bytes build(const Recipe& recipe) {
  const bool by_default = recipe.packing == Packing::usual && recipe.toolkit >= Version{13, 0};
  FatbinBuilder builder;
  for (const Part& part : recipe.parts) {
    if (part.sass) {
      builder.cubin(to_string(part.arch), cubin(part, recipe.toolkit));
    } else {
      const Version isa = find_toolkit(recipe.toolkit)->ptx_isa;
      builder.ptx(to_string(part.arch), to_string(isa), ptx(part, isa, recipe.calls_another_file));
    }
    if (recipe.packing == Packing::size || (by_default && !part.sass)) builder.zstd();
  }
  return builder.bytes();
}

// Cubins and PTX as bin2c leaves them.
Bytes build_data(const Recipe& recipe) {
  Bytes all;
  for (const Part& part : recipe.parts) {
    const Version isa = find_toolkit(recipe.toolkit)->ptx_isa;
    const Bytes bytes =
        part.sass ? cubin(part, recipe.toolkit) : bytes_of_text(ptx(part, isa, recipe.calls_another_file));
    all.insert(all.end(), bytes.begin(), bytes.end());
    all.resize((all.size() + 64) / 64 * 64);  // PTX ends with a NUL byte
  }
  return all;
}

FileResult verify(const Case& of) {
  Bytes section;
  for (const Recipe& recipe : of.fatbins) {
    const Bytes bytes = of.as_data ? build_data(recipe) : build(recipe);
    section.insert(section.end(), bytes.begin(), bytes.end());
  }
  ElfBuilder builder;
  builder.shared().section(of.as_data ? ".data" : ".nv_fatbin", section);
  if (of.has_runtime)
    builder.section(".nvFatBinSegment", ByteWriter{}.u32(0x466243b1).u32(1).u64(0).u64(0).bytes())
        .section(".rodata", bytes_of_text("CUDA driver version is insufficient for CUDA runtime version"));
  const Bytes file = builder.bytes();
  const MemorySource source(file);
  VerifyRequest request;
  request.classes = classes_of({of.device});
  request.policy = of.policy;
  Waivers waivers;
  if (of.waived) waivers = *Waivers::parse("scan,*,on purpose", "w.csv");
  return verify_file(read_device_code(source, "f.so"), source, "f.so", request, waivers);
}

std::string text_of_case(const Case& of) {
  std::string text = of.as_data ? "as data " : "";
  for (const Recipe& recipe : of.fatbins) {
    text += "[CUDA " + to_string(recipe.toolkit) + (recipe.calls_another_file ? " rdc" : "") +
            (recipe.packing == Packing::size ? " size:" : ":");
    for (const Part& part : recipe.parts)
      text += (part.sass ? " sm_" : " compute_") + to_string(part.arch) + (part.lacks ? "-lacks" : "") +
              (part.hollow ? "-hollow" : "");
    text += "] ";
  }
  text += "on " + to_string(*of.device.capability);
  if (of.device.driver_cuda) text += "@" + to_string(*of.device.driver_cuda);
  const JudgePolicy& judge = of.policy.judge;
  return text + " " + judge.environment.forces_jit + " " + judge.environment.disables_jit +
         (judge.require_sass ? " sass" : "") + (judge.require_ptx ? " ptx" : "") +
         (judge.require_driver ? " driver" : "") + (of.waived ? " waived" : "") +
         (of.policy.scope == Scope::library ? " library" : "");
}

class Generator {
 public:
  Case make() {
    Case made;
    const Toolkit& toolkit = any_of(known_toolkits());
    made.fatbins.resize(1 + (roll(4) == 0 ? 1 : 0));
    for (Recipe& recipe : made.fatbins) fill(recipe, toolkit);
    made.as_data = made.fatbins.size() == 1 && roll(4) == 0;
    if (made.as_data) lay_bare(made.fatbins.front());
    made.has_runtime = roll(2) == 0 && !made.as_data;  // nothing is registered then
    made.device.origin = "generated";
    const Toolkit& of_its_time = roll(2) == 0 ? toolkit : any_of(known_toolkits());
    made.device.capability = capability_of(any_of(of_its_time.archs));
    if (roll(12) == 0) made.device.capability = ComputeCapability{13, 0};
    const std::size_t driver = roll(4);
    if (driver <= 1) made.device.driver_cuda = any_of(known_toolkits()).version;
    if (driver == 2) made.device.driver_cuda = toolkit.version;
    JudgePolicy& judge = made.policy.judge;
    if (roll(6) == 0) judge.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
    if (roll(6) == 0) judge.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
    judge.require_sass = roll(8) == 0;
    judge.require_ptx = !judge.require_sass && roll(8) == 0;
    judge.require_driver = roll(4) == 0;
    made.policy.hollow = roll(2) == 0 ? HollowPolicy::error : HollowPolicy::warn;
    if (roll(4) == 0) made.policy.scope = Scope::library;
    made.waived = roll(4) == 0;
    return made;
  }

 private:
  std::size_t roll(std::size_t sides) {
    return std::uniform_int_distribution<std::size_t>(0, sides - 1)(engine_);
  }
  template <class T>
  const T& any_of(const std::vector<T>& all) {
    return all[roll(all.size())];
  }

  void fill(Recipe& recipe, const Toolkit& toolkit) {
    recipe.toolkit = toolkit.version;
    const std::size_t images = 1 + roll(3);
    std::set<std::pair<Arch, bool>> taken;
    while (recipe.parts.size() < images) {
      Part part;
      part.arch = any_of(toolkit.archs);
      part.sass = roll(3) != 0;
      if (part.arch.suffix == Suffix::f || is_sass_only(part.arch) ||
          !taken.insert({part.arch, part.sass}).second)
        continue;
      part.lacks = !recipe.parts.empty() && roll(8) == 0;
      part.hollow = !recipe.parts.empty() && !part.lacks && roll(8) == 0;
      recipe.parts.push_back(part);
    }
    if (roll(6) == 0) {
      recipe.since = any_of(recipe.parts).arch.number;
      for (Part& part : recipe.parts) part.lacks = part.arch.number < recipe.since;
    }
    if (toolkit.version >= Version{12, 8} && roll(4) == 0) recipe.packing = Packing::size;
    const bool any_sass =
        std::any_of(recipe.parts.begin(), recipe.parts.end(), [](const Part& part) { return part.sass; });
    recipe.calls_another_file = !any_sass && roll(2) == 0;
  }

  // The program asks each image for what it needs, and it is not compressed.
  static void lay_bare(Recipe& recipe) {
    recipe.packing = Packing::usual;
    recipe.since = 0;
    for (Part& part : recipe.parts) part.lacks = part.hollow = false;
  }

  std::mt19937 engine_{kSeed};
};

// The fat binaries that a failure is of, by their order in the file.
std::vector<std::size_t> fatbins_of(const Case& of, const Failure& failure) {
  if (of.fatbins.size() == 1) return {0};
  const bool is_of_file = failure.unknown && failure.places.empty();
  if (failure.code == kInsufficientDriver || failure.code == kNoDevice || is_of_file) return {0, 1};
  if (failure.places.empty()) return {0};  // none has a place: each is for others
  if (failure.places.size() == 2) return {0, 1};
  return {failure.where == "f.so(.nv_fatbin+0x0)" ? std::size_t{0} : std::size_t{1}};
}

std::vector<Version> toolkits_of(const Remedy& way) {
  std::vector<Version> all;
  for (const Toolkit& toolkit : known_toolkits())
    if (way.toolkits && way.toolkits->first <= toolkit.version && toolkit.version <= way.toolkits->last)
      all.push_back(toolkit.version);
  return all;
}

// Builds with this toolkit what the list is left with. What it does not make would stop nvcc, so the fix
// names it; and so would an option that it does not know.
void rebuild_with(Recipe& recipe, Version toolkit, const Remedy& way) {
  const auto dropped = [&](const Part& part) {
    return std::find(way.drop.begin(), way.drop.end(), part.arch) != way.drop.end();
  };
  recipe.parts.erase(std::remove_if(recipe.parts.begin(), recipe.parts.end(), dropped), recipe.parts.end());
  for (const Part& part : recipe.parts) CHECK_MESSAGE(makes(toolkit, part.arch), to_string(part.arch));
  for (const Arch arch : way.drop) CHECK_FALSE(makes(toolkit, arch));
  recipe.toolkit = toolkit;
  CHECK((recipe.packing == Packing::usual || way.lz4 || toolkit >= Version{12, 8}));
}

// The file after each of the builds that this way leaves open.
std::vector<Case> after(const Case& before, const Failure& failure, const Remedy& way) {
  Case base = before;
  JitEnvironment& environment = base.policy.judge.environment;
  for (const std::string& variable : way.unset) {
    CHECK((variable == environment.forces_jit || variable == environment.disables_jit));
    if (variable == environment.forces_jit) environment.forces_jit.clear();
    if (variable == environment.disables_jit) environment.disables_jit.clear();
  }
  if (way.driver) {
    REQUIRE(base.device.driver_cuda);
    CHECK(*base.device.driver_cuda < *way.driver);
    const auto branch = driver_branch_of(*way.driver), last = last_driver_branch_for(*base.device.capability);
    CHECK((!last || (branch && *branch <= *last)));
    base.device.driver_cuda = way.driver;
  }
  std::vector<Case> all;
  if (way.other_library) {
    const Version toolkit = way.toolkits->last;
    const auto& archs = find_toolkit(toolkit)->archs;
    const auto sass = newest_sass_for(archs, *base.device.capability);
    const auto ptx = newest_ptx_for(archs, *base.device.capability);
    REQUIRE((sass || ptx));
    base.fatbins = {
        {toolkit, {{sass ? *sass : *ptx, sass.has_value(), false, false}}, Packing::usual, false}};
    return {base};
  }
  for (const Arch arch : way.holds)
    for (const Version toolkit : toolkits_of(way)) {
      if (!makes(toolkit, arch)) continue;
      Case other = base;
      other.fatbins = {{toolkit, {{arch, true, false, false}}, Packing::usual, false}};
      all.push_back(other);
    }
  if (!way.holds.empty()) return all;
  auto toolkits = toolkits_of(way);
  if (toolkits.empty()) toolkits.push_back({});
  const std::size_t failing_now = fatbins_of(before, failure).size();
  for (const Version toolkit : toolkits) {
    Case next = base;
    for (const std::size_t index : fatbins_of(before, failure)) {
      Recipe& recipe = next.fatbins[index];
      if (way.toolkits) rebuild_with(recipe, toolkit, way);
      if (way.lz4) recipe.packing = Packing::speed;
      if (way.link) recipe.calls_another_file = false;
      for (const Addition& add : way.add)
        for (const bool sass : {true, false}) {
          if (!(sass ? add.sass : add.ptx)) continue;
          const auto same = [&](const Part& part) { return part.arch == add.arch && part.sass == sass; };
          const bool is_there = std::any_of(recipe.parts.begin(), recipe.parts.end(), same);
          if (is_there && failure.code == kInsufficientDriver && failing_now > 1) continue;  // in one of them
          CHECK_MESSAGE(!is_there, "is there already");
          CHECK_MESSAGE(makes(recipe.toolkit, add.arch), "is refused by nvcc");
          CHECK_FALSE(is_sass_only(add.arch));
          recipe.parts.push_back({add.arch, sass, add.arch.number < recipe.since, false});
        }
    }
    // What changes for the whole file changes other failures too, which have fixes of their own.
    const auto failing = fatbins_of(before, failure);
    if (failing.size() == 1) next.fatbins = {next.fatbins[failing.front()]};
    all.push_back(next);
  }
  return all;
}

// What is about a kernel that does nothing is another error than what is about an image.
using ErrorKind = std::tuple<int, bool, FailureCause>;

ErrorKind kind_of(const Failure& failure) {
  return {failure.code, failure.unknown, failure.cause};
}

std::set<ErrorKind> errors_of(const FileResult& result) {
  std::set<ErrorKind> all;
  for (const Failure& failure : result.devices[0].failures) all.insert(kind_of(failure));
  return all;
}

// The image that a driver takes of these, whatever else then fails; nullptr where none is for the device.
const Part* taken_of(const Recipe& recipe, ComputeCapability device, bool forces_jit) {
  const Part *native = nullptr, *ptx = nullptr;
  for (const Part& part : recipe.parts) {
    if (part.sass && !forces_jit && sass_fits(part.arch, device) == Fit::yes &&
        (native == nullptr || native->arch.number < part.arch.number))
      native = &part;
    if (!part.sass && ptx_fits(part.arch, device) == Fit::yes &&
        (ptx == nullptr || ptx->arch.number <= part.arch.number))
      ptx = &part;
  }
  return native != nullptr ? native : ptx;
}

// What no driver, toolkit or list brings: the image that serves the device lacks the kernel, or none does,
// and the kernel stands in what is built for some archs alone.
bool may_lack_a_kernel(const Case& of) {
  const auto may_lack = [&](const Recipe& recipe, bool forces_jit) {
    const Part* taken = taken_of(recipe, *of.device.capability, forces_jit);
    return taken == nullptr ? recipe.since != 0 : taken->lacks;
  };
  return std::any_of(of.fatbins.begin(), of.fatbins.end(), [&](const Recipe& recipe) {
    return may_lack(recipe, !of.policy.judge.environment.forces_jit.empty());
  });
}

// With each kernel in each image.
Case whole(Case of) {
  for (Recipe& recipe : of.fatbins) {
    recipe.since = 0;
    for (Part& part : recipe.parts) part.lacks = false;
  }
  return of;
}

// No fix has to bring the kernel: it is waived, or lacking in what the device takes today.
bool is_excused(const Case& of) {
  if (of.waived) return true;
  const bool forces_jit = !of.policy.judge.environment.forces_jit.empty();
  return std::all_of(of.fatbins.begin(), of.fatbins.end(), [&](const Recipe& recipe) {
    const Part* taken = taken_of(recipe, *of.device.capability, forces_jit);
    return (taken != nullptr && taken->lacks) || std::none_of(recipe.parts.begin(), recipe.parts.end(),
                                                              [](const Part& part) { return part.lacks; });
  });
}

// So all other failures are mended the same way as where each image has it.
int check_same_as_whole(const Case& of, const DeviceResult& result) {
  int compared = 0;
  const FileResult of_whole = verify(whole(of));
  for (const Failure& other : of_whole.devices[0].failures) {
    if (other.cause != FailureCause::image && other.cause != FailureCause::start) continue;
    const auto same =
        std::find_if(result.failures.begin(), result.failures.end(), [&](const Failure& failure) {
          return kind_of(failure) == kind_of(other) && failure.reason == other.reason;
        });
    REQUIRE_MESSAGE(same != result.failures.end(), other.reason);
    CHECK(same->fix == other.fix);
    ++compared;
  }
  return compared;
}

void check_gone(const Case& before, const Failure& failure, const Case& next, std::size_t failures) {
  const FileResult result = verify(next);
  INFO("after: " << text_of_case(next));
  const FileResult result_before = verify(before);
  const auto old = errors_of(result_before), now = errors_of(result);
  // What is linked, for which nothing was known before, may need a driver that is asked for.
  const auto& left = result.devices[0].failures;
  const bool asks_for_driver =
      failure.unknown && !failure.mend.name_driver &&
      std::any_of(left.begin(), left.end(), [](const Failure& each) { return each.mend.name_driver; });
  // A driver that does not know the device fails with error 100, or before that with 35 by the runtime of
  // another toolkit; another driver mends both, where the device has one.
  const auto& failed = result_before.devices[0].failures;
  const bool knows = driver_knows_device(before.device) == Fit::yes;
  const bool behind = failure.code == kInsufficientDriver && !knows && failed.size() > 1;
  if (failures == 1 && !asks_for_driver && !behind) CHECK(now.count(kind_of(failure)) == 0);
  // What failed before, behind error 35, may fail by another number then; so may what is linked by nobody.
  const bool never_linked = std::any_of(before.fatbins.begin(), before.fatbins.end(),
                                        [](const Recipe& recipe) { return recipe.calls_another_file; });
  const bool more_fails = old.size() > 1 || never_linked || before.policy.scope == Scope::library;
  if (failure.code == kInsufficientDriver && more_fails) return;
  // PTX by itself that does not fit is 222 on a driver that is too old for it as well, and that is told of a
  // driver that knows the device.
  const bool any_refused =
      std::any_of(old.begin(), old.end(), [](const ErrorKind& error) { return std::get<int>(error) == 218; });
  // Likewise it is 218 once the driver is new enough; of data that is not told apart.
  const bool any_sooner = std::any_of(failed.begin(), failed.end(), [&](const Failure& each) {
    return each.sooner || (before.as_data && each.code == kUnsupportedPtxVersion);
  });
  const auto is_expected = [&](int code) {
    return code == 0 || (code == 500 && may_lack_a_kernel(before)) || (code == 222 && any_refused) ||
           (code == 218 && any_sooner) || (!knows && (code == kInsufficientDriver || code == kNoDevice));
  };
  for (const ErrorKind& error : now)
    if (!is_expected(std::get<int>(error)))
      CHECK_MESSAGE(old.count(error) == 1, "a new error " << std::get<int>(error));
}

}  // namespace

TEST_CASE("each fix mends: its error is gone, and no other has come in its place") {
  std::map<int, int> tried, without, of_data;
  int named = 0, hollow = 0, left_out = 0, excused = 0;
  Generator generator;
  for (int i = 0; i < kCases; ++i) {
    const Case generated = generator.make();
    const FileResult result = verify(generated);
    REQUIRE_MESSAGE(result.errors.empty(), text_of_case(generated) << ": " << result.errors.front().text());
    const auto& failures = result.devices[0].failures;
    const bool any_lacks = text_of_case(generated).find("-lacks") != std::string::npos;
    const bool is_alone = generated.fatbins.size() == 1 && generated.policy.scope != Scope::library;
    if (is_alone && any_lacks && is_excused(generated)) {
      INFO(text_of_case(generated));
      excused += check_same_as_whole(generated, result.devices[0]);
    }
    for (const Failure& failure : failures) {
      INFO(text_of_case(generated) << ": " << failure.code << ": " << failure.fix);
      std::size_t alike = 0;
      for (const Failure& each : failures) alike += each.code == failure.code ? 1 : 0;
      if (failure.mend.name_driver) {
        Case next = generated;
        next.device.driver_cuda = newest_known_toolkit().version;
        for (const Failure& told : verify(next).devices[0].failures) CHECK_FALSE(told.mend.name_driver);
        ++named;
        continue;
      }
      if (!failure.mend.lacking.empty()) {
        Case next = generated;
        for (Recipe& recipe : next.fatbins)
          for (Part& part : recipe.parts)
            if ((part.sass ? "sm_" : "compute_") + to_string(part.arch) == failure.mend.lacking)
              part.lacks = part.hollow = false;
        check_gone(generated, failure, next, alike);
        ++(failure.code == 0 ? hollow : tried[failure.code]);
        continue;
      }
      for (const Remedy& way : failure.mend.ways) {
        for (const Case& next : after(generated, failure, way)) check_gone(generated, failure, next, alike);
        CHECK(way.embedded == (generated.as_data && !way.add.empty()));
        ++tried[failure.code];
        if (generated.as_data) ++of_data[failure.code];
      }
      if (failure.unknown || !failure.mend.ways.empty()) continue;
      CHECK_MESSAGE((failure.mend.leave_out || !failure.mend.demand.empty()), "no fix at all");
      ++without[failure.code];
      ++left_out;
    }
  }
  for (const auto& [code, count] : tried)
    MESSAGE(code << ": " << count << " tried, " << without[code] << " without");
  MESSAGE(named << " drivers named, " << hollow << " hollow, " << left_out << " left out, " << excused
                << " as if no kernel lacked");
  for (const int code : {0, 35, 200, 209, 218, 222, 223, 500}) CHECK_MESSAGE(tried[code] > 100, code);
  for (const auto& [code, count] : of_data) MESSAGE(code << ": " << count << " tried of data");
  for (const int code : {0, 209, 218, 222, 223}) CHECK_MESSAGE(of_data[code] > 20, code);
  CHECK(named > 100);
  CHECK(excused > 200);
  CHECK(hollow > 10);
}

// What a fix says for PyTorch is in torch's own list, whatever is to be added.
TEST_CASE("torch is told names that it takes, which serve the same device") {
  for (const Toolkit& toolkit : known_toolkits())
    for (const Arch arch : toolkit.archs) {
      const auto nearest = nearest_in_torch(arch);
      CHECK((torch_name(arch, false).has_value() ? !nearest : true));
      if (!nearest) continue;
      CHECK(torch_name(*nearest, true).has_value());
      CHECK(sass_fits(*nearest, capability_of(arch)) == Fit::yes);
    }
}
