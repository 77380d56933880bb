#include "nvjitlink.h"

#include <memory>

namespace archguard {
namespace {

constexpr int kInputPtx = 2;  // NVJITLINK_INPUT_PTX

}  // namespace

Result<NvJitLink> NvJitLink::open(const std::string& path, Version release) {
  ARCHGUARD_TRY(library, factory::SharedLibrary::open({path}, ""));
  // The header maps every function to a name that carries the release; 12.0 exports no other.
  const std::string suffix = "_" + std::to_string(release.major) + "_" + std::to_string(release.minor);
  const auto bind = [&](const std::string& name, auto*& function) {
    return library.bind(("__nvJitLink" + name + suffix).c_str(), function);
  };
  Functions functions{};
  ARCHGUARD_CHECK(bind("Create", functions.create));
  ARCHGUARD_CHECK(bind("Destroy", functions.destroy));
  ARCHGUARD_CHECK(bind("AddData", functions.add));
  ARCHGUARD_CHECK(bind("Complete", functions.complete));
  ARCHGUARD_CHECK(bind("GetErrorLogSize", functions.log_size));
  ARCHGUARD_CHECK(bind("GetErrorLog", functions.log));
  return NvJitLink(functions);
}

Status NvJitLink::link(const std::string& ptx, Arch gpu) const {
  const std::string arch = "-arch=sm_" + to_string(gpu);
  const char* options[] = {arch.c_str()};
  void* raw = nullptr;
  if (const int result = functions_.create(&raw, 1, options); result != 0)
    return Error{"", "nvJitLinkCreate says " + std::to_string(result), ""};
  const auto destroy = [this](void* handle) { functions_.destroy(&handle); };
  const std::unique_ptr<void, decltype(destroy)> handle(raw, destroy);

  int result = functions_.add(raw, kInputPtx, ptx.c_str(), ptx.size() + 1, "fixture");
  if (result == 0) result = functions_.complete(raw);
  if (result == 0) return Done{};
  std::size_t size = 0;
  std::string log;
  if (functions_.log_size(raw, &size) == 0 && size > 0) {
    log.resize(size);
    if (functions_.log(raw, log.data()) != 0) log.clear();
  }
  return Error{"", "nvJitLink says " + std::to_string(result) + " " + log.c_str(), ""};
}

}  // namespace archguard
