// What makes a question another one.
#include "kept/question.h"

#include <doctest/doctest.h>
#include <functional>
#include <set>

#include "filled.h"

using namespace archguard;
using namespace archguard::test;

namespace {

VerifyRequest request_for(std::vector<Device> devices) {
  VerifyRequest request;
  request.classes = classes_of(devices);
  return request;
}

Device device(const std::string& capability) {
  Device device;
  device.capability = parse_capability(capability);
  device.driver_cuda = Version{12, 4};
  return device;
}

}  // namespace

TEST_CASE("each thing that an answer depends on makes another question") {
  using Change = std::function<void(VerifyRequest&)>;
  const std::vector<Change> changes = {
      [](VerifyRequest&) {},
      [](auto& request) { request.classes.pop_back(); },
      [](auto& request) { std::swap(request.classes[0], request.classes[1]); },
      [](auto& request) { request.classes[0].device.capability->minor = 9; },
      [](auto& request) { request.classes[0].device.driver_cuda.reset(); },
      [](auto& request) {
        request.classes[0].device.driver_cuda = Version{13, 0};
      },
      [](auto& request) { request.classes[0].device.cuda_at_least = true; },
      [](auto& request) { request.classes[0].device.cuda_by_branch = true; },
      [](auto& request) { request.classes[0].may_have_compat = true; },
      [](auto& request) {
        request.expected = {{*parse_arch("80"), true}};
      },
      [](auto& request) {
        request.expected = {{*parse_arch("80"), false}};
      },
      [](auto& request) {
        request.expected = {{*parse_arch("90a"), true}};
      },
      [](auto& request) { request.policy.scope = Scope::library; },
      [](auto& request) { request.policy.hollow = HollowPolicy::error; },
      [](auto& request) { request.policy.hollow = HollowPolicy::off; },
      [](auto& request) { request.policy.driver = DriverPolicy::warn; },
      [](auto& request) { request.policy.partly = PartlyPolicy::warn; },
      [](auto& request) { request.policy.embedded = EmbeddedPolicy::error; },
      [](auto& request) { request.policy.judge.require_sass = true; },
      [](auto& request) { request.policy.judge.require_ptx = true; },
      [](auto& request) { request.policy.judge.require_driver = true; },
      [](auto& request) { request.policy.judge.environment.forces_jit = "CUDA_FORCE_PTX_JIT"; },
      [](auto& request) { request.policy.judge.environment.forces_jit = "CUDA_FORCE_JIT"; },
      [](auto& request) { request.policy.judge.environment.disables_jit = "CUDA_FORCE_JIT"; },
      [](auto& request) { request.policy.target.name = "app"; },
      [](auto& request) { request.policy.target.compiles_cuda = false; },
      [](auto& request) { request.policy.target.linked = {"part"}; },
  };
  std::set<std::string> questions;
  for (const Change& change : changes) {
    VerifyRequest request = request_for({device("8.0"), device("9.0")});
    change(request);
    questions.insert(question_of(request, "1.0"));
  }
  questions.insert(question_of(request_for({device("8.0"), device("9.0")}), "1.1"));
  CHECK(questions.size() == changes.size() + 1);
}

TEST_CASE("fleets with the same GPUs and drivers ask the same, whatever they call them") {
  Device other = device("8.0");
  other.name = "NVIDIA A100";
  other.driver_version = "550.54";
  other.uuid = "GPU-1";
  other.count = 8;
  other.host = "node1";
  other.origin = "fleet.csv:4";
  CHECK(question_of(request_for({device("8.0")}), "1.0") == question_of(request_for({other, other}), "1.0"));
}

TEST_CASE("a question names the build of the program beside its version") {
  CHECK(question_of({}, "1.0").size() > question_of({}, "").size());
  kept::FieldWriter writer;
  std::string version = "1.0";
  VerifyRequest request;
  writer(version, request);
  CHECK(question_of({}, "1.0").size() > writer.take().size() + 8);
}
