// Over generated libraries: what `requirements` prints for a system admits a device with a driver exactly
// where verify says that they are covered. Each expression is evaluated here, by the rules of its system.
#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "promise/promise.h"
#include "requirements/statement.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::requirements;
using namespace archguard::test;

namespace {

constexpr unsigned kSeed = 20261123;
constexpr int kCases = 120;

struct Machine {
  ComputeCapability device;
  Version driver;
};

// "12.4" and "12.4.0" alike.
std::pair<int, int> parts_of(std::string_view text) {
  const auto parts = split(text, '.');
  REQUIRE(parts.size() >= 2);
  return {std::stoi(std::string(parts[0])), std::stoi(std::string(parts[1]))};
}

template <class Value>
bool holds(Value left, std::string_view comparator, Value right) {
  if (comparator == ">=") return !(left < right);
  if (comparator == "<=") return !(right < left);
  REQUIRE((comparator == "=" || comparator == "=="));
  return !(left < right) && !(right < left);
}

// What stands between two marks.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto at = text.find(begin);
  REQUIRE(at != std::string::npos);
  const auto from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

std::vector<std::string> pieces(std::string text, const std::string& separator) {
  std::vector<std::string> found;
  for (auto at = text.find(separator); at != std::string::npos; at = text.find(separator)) {
    found.push_back(text.substr(0, at));
    text.erase(0, at + separator.size());
  }
  found.push_back(text);
  return found;
}

// A comma is "and", a blank "or"; every variable must hold.
bool oci_admits(const Statement& statement, const Machine& machine) {
  return std::all_of(statement.lines.begin(), statement.lines.end(), [&](const std::string& line) {
    const auto terms = pieces(between(line, "=\"", "\""), " ");
    return std::any_of(terms.begin(), terms.end(), [&](const std::string& term) {
      const auto factors = pieces(term, ",");
      return std::all_of(factors.begin(), factors.end(), [&](const std::string& factor) {
        const auto end = factor.find_first_of("<>=");
        const auto value = factor.find_first_not_of("<>=", end);
        const std::string name = factor.substr(0, end);
        REQUIRE((name == "arch" || name == "cuda"));
        const std::pair<int, int> left = name == "arch"
                                             ? std::pair(machine.device.major, machine.device.minor)
                                             : std::pair(machine.driver.major, machine.driver.minor);
        return holds(left, factor.substr(end, value - end), parts_of(factor.substr(value)));
      });
    });
  });
}

// Terms are alternatives, the expressions of one must all hold.
bool kubernetes_admits(const Statement& statement, const Machine& machine) {
  const std::map<std::string, int> labels = {{"nvidia.com/gpu.compute.major", machine.device.major},
                                             {"nvidia.com/gpu.compute.minor", machine.device.minor},
                                             {"nvidia.com/cuda.runtime-version.major", machine.driver.major},
                                             {"nvidia.com/cuda.runtime-version.minor", machine.driver.minor}};
  std::vector<bool> terms;
  for (const std::string& line : statement.lines) {
    if (line.find("- matchExpressions:") != std::string::npos) terms.push_back(true);
    if (line.find("{key: ") == std::string::npos) continue;
    const int label = labels.at(between(line, "{key: ", ","));
    std::vector<int> values;
    for (const std::string& each : pieces(between(line, "values: [", "]"), ", "))
      values.push_back(std::stoi(each.substr(1)));
    const std::string how = between(line, "operator: ", ",");
    if (how == "In" ? std::count(values.begin(), values.end(), label) == 0 : label <= values.at(0))
      terms.back() = false;
  }
  return std::count(terms.begin(), terms.end(), true) != 0;
}

bool dra_admits(const Statement& statement, const Machine& machine) {
  return std::any_of(statement.lines.begin(), statement.lines.end(), [&](const std::string& line) {
    const auto conditions = pieces(between(line, "(", " 0)"), " && ");
    return std::all_of(conditions.begin(), conditions.end(), [&](const std::string& condition) {
      const std::string attribute = between(condition, "\"].", ".compareTo");
      REQUIRE((attribute == "cudaComputeCapability" || attribute == "cudaDriverVersion"));
      const std::pair<int, int> left = attribute == "cudaDriverVersion"
                                           ? std::pair(machine.driver.major, machine.driver.minor)
                                           : std::pair(machine.device.major, machine.device.minor);
      return holds(left, between(condition + " ", "\")) ", " "),
                   parts_of(between(condition, "semver(\"", "\")")));
    });
  });
}

bool condor_admits(const Statement& statement, const Machine& machine) {
  REQUIRE(statement.lines.size() == 2);
  const auto terms = pieces(between(statement.lines[1], "require_gpus = ", "\n"), " || ");
  return std::any_of(terms.begin(), terms.end(), [&](const std::string& term) {
    const auto conditions = pieces(between(term, "(", ")"), " && ");
    return std::all_of(conditions.begin(), conditions.end(), [&](const std::string& condition) {
      const auto words = pieces(condition, " ");
      if (words[0] == "MaxSupportedVersion")
        return holds(machine.driver.major * 1000 + machine.driver.minor * 10, words[1], std::stoi(words[2]));
      REQUIRE(words[0] == "Capability");
      return holds(std::stod(to_string(machine.device)), words[1], std::stod(words[2]));
    });
  });
}

bool conda_admits(const Statement& statement, const Machine& machine) {
  return std::all_of(statement.lines.begin(), statement.lines.end(), [&](const std::string& line) {
    const auto words = pieces(line, " >=");
    return holds(words[0] == "__cuda" ? std::pair(machine.driver.major, machine.driver.minor)
                                      : std::pair(machine.device.major, machine.device.minor),
                 ">=", parts_of(words[1]));
  });
}

class Generator {
 public:
  std::size_t roll(std::size_t sides) {
    return std::uniform_int_distribution<std::size_t>(0, sides - 1)(engine_);
  }

  Bytes library() {
    Bytes section;
    for (std::size_t fatbins = 1 + roll(2); fatbins != 0; --fatbins) {
      FatbinBuilder builder;
      for (std::size_t images = 1 + roll(4); images != 0; --images) add_image(builder);
      const Bytes bytes = builder.bytes();
      section.insert(section.end(), bytes.begin(), bytes.end());
    }
    return ElfBuilder{}.shared().section(".nv_fatbin", section).bytes();
  }

 private:
  void add_image(FatbinBuilder& builder) {
    const char* const archs[] = {"60", "70", "75", "80", "86", "87", "90", "90a", "100", "100f", "120"};
    const std::string arch = archs[roll(11)];
    if (roll(2) == 0) {
      const char* const isas[] = {"7.8", "8.0", "8.4", "8.8", "9.0"};
      const std::string isa = arch.size() > 2 ? "8.8" : isas[roll(5)];
      builder.ptx(arch, isa,
                  ".version " + isa + "\n.target sm_" + arch +
                      "\n.address_size 64\n.visible .entry a()\n{\n st.global.u32 [%rd1], 0;\n ret;\n}\n");
      return;
    }
    CubinBuilder cubin;
    cubin.sm(std::stoi(arch));
    if (arch.back() == 'a') cubin.marked_a();
    cubin.kernel("a", sass::join({sass::store(), sass::exit()}));
    builder.cubin(arch, cubin.bytes());
  }

  std::mt19937 engine_{kSeed};
};

struct Judged {
  Verification verification;
  std::vector<Machine> machines;  // of the table
  std::vector<bool> covered;
};

Judged judge(const Bytes& bytes) {
  Judged judged;
  Verification& all = judged.verification;
  all.devices = machines_to_ask({});
  all.classes = classes_of(all.devices);
  VerifyRequest request;
  request.classes = all.classes;
  Waivers waivers;
  const MemorySource source(bytes);
  all.files.push_back(verify_file(read_device_code(source, "lib.so"), source, "lib.so", request, waivers));
  REQUIRE(all.files[0].errors.empty());
  for (std::size_t i = 0; i < all.classes.size(); ++i) {
    const Device& device = all.classes[i].device;
    if (!device.driver_cuda) continue;
    judged.machines.push_back({*device.capability, *device.driver_cuda});
    judged.covered.push_back(all.files[0].devices[i].coverage == Coverage::covered);
  }
  return judged;
}

using Admits = bool (*)(const Statement&, const Machine&);

}  // namespace

TEST_CASE("an expression admits a machine where verify says that it is covered, and no other") {
  const std::map<std::string_view, Admits> evaluators = {{"oci", oci_admits},
                                                         {"kubernetes", kubernetes_admits},
                                                         {"dra", dra_admits},
                                                         {"htcondor", condor_admits}};
  Generator generator;
  int said = 0, admitted = 0;
  for (int i = 0; i < kCases; ++i) {
    CAPTURE(i);
    const Judged judged = judge(generator.library());
    const Needs needs = needs_of(judged.verification, false);
    for (const Statement& statement : all_statements(needs, {})) {
      const auto evaluator = evaluators.find(statement.system);
      if (evaluator == evaluators.end()) continue;
      for (std::size_t machine = 0; machine < judged.machines.size(); ++machine) {
        CAPTURE(statement.system);
        CAPTURE(to_string(judged.machines[machine].device));
        CAPTURE(to_string(judged.machines[machine].driver));
        CAPTURE(join(statement.lines, "\n"));
        const bool admits = statement.none.empty() && evaluator->second(statement, judged.machines[machine]);
        admitted += admits;
        REQUIRE(admits == judged.covered[machine]);
      }
      said += statement.none.empty();
    }
  }
  CHECK(said > kCases);
  CHECK(admitted > kCases);
}

TEST_CASE("conda's bound admits what verify calls covered alone, and nothing without PTX") {
  Generator generator;
  int said = 0;
  for (int i = 0; i < kCases; ++i) {
    CAPTURE(i);
    const Judged judged = judge(generator.library());
    for (const bool on_x86 : {false, true}) {
      const Needs needs = needs_of(judged.verification, on_x86);
      const Statement statement = conda_statement(needs);
      if (!statement.none.empty()) continue;
      ++said;
      CHECK(is_served(needs.newer));
      for (std::size_t machine = 0; machine < judged.machines.size(); ++machine) {
        if (!is_met(needs, judged.machines[machine].device)) continue;
        CAPTURE(to_string(judged.machines[machine].device));
        CAPTURE(to_string(judged.machines[machine].driver));
        CAPTURE(join(statement.lines, "\n"));
        if (conda_admits(statement, judged.machines[machine])) REQUIRE(judged.covered[machine]);
      }
    }
  }
  CHECK(said > kCases / 4);
}

TEST_CASE("what is printed for conda and for images holds when it is given back as a promise") {
  Generator generator;
  int kept = 0;
  for (int i = 0; i < kCases; ++i) {
    CAPTURE(i);
    const Bytes bytes = generator.library();
    const Needs needs = needs_of(judge(bytes).verification, i % 2 == 0);
    for (const Statement& statement : {oci_statement(needs), conda_statement(needs)}) {
      if (!statement.none.empty()) continue;
      const std::string text = join(statement.lines, "\n");
      CAPTURE(text);
      promise::Promise promised;
      REQUIRE(promise::read_promise(text, promised));
      REQUIRE(promise::tells_devices(promised));
      const bool tegra = statement.system == "oci" || !needs.on_x86;
      VerifyRequest request;
      request.classes = classes_of(promise::promised_devices(promised, tegra));
      REQUIRE(!request.classes.empty());
      Waivers waivers;
      const MemorySource source(bytes);
      const FileResult result =
          verify_file(read_device_code(source, "lib.so"), source, "lib.so", request, waivers);
      for (std::size_t device = 0; device < request.classes.size(); ++device) {
        CAPTURE(describe(request.classes[device].device));
        REQUIRE(result.devices[device].coverage == Coverage::covered);
      }
      ++kept;
    }
  }
  CHECK(kept > kCases);
}
