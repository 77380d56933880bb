#include "nvjitlink.h"

#include <memory>

namespace archguard {
namespace {

constexpr int kInputPtx = 2;     // NVJITLINK_INPUT_PTX
constexpr int kInputFatbin = 4;  // NVJITLINK_INPUT_FATBIN

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
  ARCHGUARD_CHECK(bind("GetLinkedCubinSize", functions.cubin_size));
  ARCHGUARD_CHECK(bind("GetLinkedCubin", functions.cubin));
  return NvJitLink(functions);
}

Status NvJitLink::link(const std::string& ptx, Arch gpu) const {
  ARCHGUARD_CHECK(link(kInputPtx, ptx.c_str(), ptx.size() + 1, gpu));
  return Done{};
}

Result<Bytes> NvJitLink::link_fatbin(const Bytes& fatbin, Arch gpu) const {
  return link(kInputFatbin, fatbin.data(), fatbin.size(), gpu);
}

Result<Bytes> NvJitLink::link(int kind, const void* data, std::size_t size, Arch gpu) const {
  const std::string arch = "-arch=sm_" + to_string(gpu);
  const char* options[] = {arch.c_str()};
  void* raw = nullptr;
  if (const int result = functions_.create(&raw, 1, options); result != 0)
    return Error{"", "nvJitLinkCreate says " + std::to_string(result), ""};
  const auto destroy = [this](void* handle) { functions_.destroy(&handle); };
  const std::unique_ptr<void, decltype(destroy)> handle(raw, destroy);

  int result = functions_.add(raw, kind, data, size, "fixture");
  if (result == 0) result = functions_.complete(raw);
  std::size_t room = 0;
  if (result == 0) result = functions_.cubin_size(raw, &room);
  if (result == 0) {
    Bytes cubin(room);
    if (result = functions_.cubin(raw, cubin.data()); result == 0) return cubin;
  }
  std::string log;
  if (functions_.log_size(raw, &room) == 0 && room > 0) {
    log.resize(room);
    if (functions_.log(raw, log.data()) != 0) log.clear();
  }
  return Error{"", "nvJitLink says " + std::to_string(result) + " " + log.c_str(), ""};
}

}  // namespace archguard
