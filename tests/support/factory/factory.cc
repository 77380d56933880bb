#include "support/factory/factory.h"

#include <memory>

#include "base/text.h"
#include "support/factory/shared_library.h"

namespace archguard::factory {
namespace {

Status check(int result, const char* call, const char* (*error_name)(int)) {
  if (result == 0) return Done{};
  const char* name = error_name(result);
  return Error{"", std::string(call) + " says " + (name != nullptr ? name : std::to_string(result)), ""};
}

// NVRTC spells a target as the kind of output it makes.
std::string target_option(const Part& part) {
  return std::string("-arch=") + (part.kind == Kind::sass ? "sm_" : "compute_") + part.arch;
}

// The two calls by which these interfaces hand out bytes: the size, then the bytes.
template <class GetSize, class Get>
Result<Bytes> fetch(void* program, const GetSize& get_size, const Get& get, const char* call,
                    const char* (*error_name)(int)) {
  std::size_t size = 0;
  ARCHGUARD_CHECK(check(get_size(program, &size), call, error_name));
  Bytes bytes(size);
  ARCHGUARD_CHECK(check(get(program, reinterpret_cast<char*>(bytes.data())), call, error_name));
  return bytes;
}

}  // namespace

Result<Factory> Factory::open(const std::string& cache, const std::string& toolkit) {
  ARCHGUARD_TRY(rtc, SharedLibrary::open({toolkit + "/lib64/libnvrtc.so.13",
                                          cache + "/nvrtc-13.0/nvidia/cu13/lib/libnvrtc.so.13"},
                                         "run tests/support/fetch nvrtc-13.0"));
  // NVRTC opens this one by its bare name, which finds it where it is loaded already. Where it is elsewhere,
  // or of another release, NVRTC says so itself.
  const std::string folder = rtc.path().substr(0, rtc.path().rfind('/') + 1);
  (void)SharedLibrary::open({folder + "libnvrtc-builtins.so.13.0"}, {}).ok();
  Nvrtc nvrtc{};
  ARCHGUARD_CHECK(rtc.bind("nvrtcCreateProgram", nvrtc.create));
  ARCHGUARD_CHECK(rtc.bind("nvrtcDestroyProgram", nvrtc.destroy));
  ARCHGUARD_CHECK(rtc.bind("nvrtcCompileProgram", nvrtc.compile));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetProgramLogSize", nvrtc.log_size));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetProgramLog", nvrtc.log));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetCUBINSize", nvrtc.cubin_size));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetCUBIN", nvrtc.cubin));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetPTXSize", nvrtc.ptx_size));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetPTX", nvrtc.ptx));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetLTOIRSize", nvrtc.ltoir_size));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetLTOIR", nvrtc.ltoir));
  ARCHGUARD_CHECK(rtc.bind("nvrtcGetErrorString", nvrtc.error));

  ARCHGUARD_TRY(packer, SharedLibrary::open({toolkit + "/lib64/libnvfatbin.so.13",
                                             cache + "/nvfatbin-13.0/nvidia/cu13/lib/libnvfatbin.so.13"},
                                            "run tests/support/fetch nvfatbin-13.0"));
  NvFatbin nvfatbin{};
  ARCHGUARD_CHECK(packer.bind("nvFatbinCreate", nvfatbin.create));
  ARCHGUARD_CHECK(packer.bind("nvFatbinDestroy", nvfatbin.destroy));
  ARCHGUARD_CHECK(packer.bind("nvFatbinAddPTX", nvfatbin.add_ptx));
  ARCHGUARD_CHECK(packer.bind("nvFatbinAddCubin", nvfatbin.add_cubin));
  ARCHGUARD_CHECK(packer.bind("nvFatbinAddLTOIR", nvfatbin.add_ltoir));
  ARCHGUARD_CHECK(packer.bind("nvFatbinSize", nvfatbin.size));
  ARCHGUARD_CHECK(packer.bind("nvFatbinGet", nvfatbin.get));
  ARCHGUARD_CHECK(packer.bind("nvFatbinGetErrorString", nvfatbin.error));
  return Factory(nvrtc, nvfatbin);
}

Result<Image> Factory::compile(const std::string& source, const Part& part,
                               const std::vector<std::string>& options) const {
  void* raw = nullptr;
  ARCHGUARD_CHECK(
      check(nvrtc_.create(&raw, source.c_str(), "fixture.cu", 0, nullptr, nullptr), "NVRTC", nvrtc_.error));
  const auto destroy = [this](void* program) { nvrtc_.destroy(&program); };
  const std::unique_ptr<void, decltype(destroy)> program(raw, destroy);

  std::vector<std::string> all{target_option(part)};
  if (part.kind == Kind::ltoir) all.insert(all.end(), {"-dlto", "-rdc=true"});
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char*> texts;
  for (const std::string& option : all) texts.push_back(option.c_str());

  if (const int result = nvrtc_.compile(raw, static_cast<int>(texts.size()), texts.data()); result != 0) {
    std::string what = "NVRTC " + join(all, " ") + " says " + nvrtc_.error(result);
    if (auto log = fetch(raw, nvrtc_.log_size, nvrtc_.log, "NVRTC's log", nvrtc_.error))
      what += ": " + std::string(ByteView(*log).text());
    return Error{"fixture.cu", what, ""};
  }
  auto bytes = part.kind == Kind::sass  ? fetch(raw, nvrtc_.cubin_size, nvrtc_.cubin, "cubin", nvrtc_.error)
               : part.kind == Kind::ptx ? fetch(raw, nvrtc_.ptx_size, nvrtc_.ptx, "PTX", nvrtc_.error)
                                        : fetch(raw, nvrtc_.ltoir_size, nvrtc_.ltoir, "LTO-IR", nvrtc_.error);
  if (!bytes) return std::move(bytes).error();
  return Image{part, std::move(*bytes)};
}

Status Factory::add(void* handle, const Image& image) const {
  const char* arch = image.part.arch.c_str();
  const std::string call = std::string("nvFatbinAdd") +
                           (image.part.kind == Kind::sass  ? "Cubin"
                            : image.part.kind == Kind::ptx ? "PTX"
                                                           : "LTOIR") +
                           " for " + image.part.arch;
  int result = 0;
  switch (image.part.kind) {
    case Kind::sass:
      result = nvfatbin_.add_cubin(handle, image.bytes.data(), image.bytes.size(), arch, "fixture");
      break;
    case Kind::ptx:
      result = nvfatbin_.add_ptx(handle, reinterpret_cast<const char*>(image.bytes.data()),
                                 image.bytes.size(), arch, "fixture", "");
      break;
    case Kind::ltoir:
      result = nvfatbin_.add_ltoir(handle, image.bytes.data(), image.bytes.size(), arch, "fixture", "");
      break;
  }
  return check(result, call.c_str(), nvfatbin_.error);
}

Result<Bytes> Factory::pack(const std::vector<Image>& images, const Packing& packing) const {
  std::vector<std::string> options{"-64", "-compress-mode=" + packing.mode};
  if (packing.all) options.push_back("-compress-all");
  options.insert(options.end(), packing.options.begin(), packing.options.end());
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());

  void* raw = nullptr;
  ARCHGUARD_CHECK(
      check(nvfatbin_.create(&raw, texts.data(), texts.size()), "nvFatbinCreate", nvfatbin_.error));
  const auto destroy = [this](void* handle) { nvfatbin_.destroy(&handle); };
  const std::unique_ptr<void, decltype(destroy)> handle(raw, destroy);

  for (const Image& image : images) ARCHGUARD_CHECK(add(raw, image));
  return fetch(raw, nvfatbin_.size, nvfatbin_.get, "nvFatbinGet", nvfatbin_.error);
}

Result<Bytes> Factory::fatbin(const std::string& source, const std::vector<Part>& parts,
                              const Packing& packing) const {
  std::vector<Image> images;
  for (const Part& part : parts) {
    ARCHGUARD_TRY(image, compile(source, part));
    images.push_back(std::move(image));
  }
  return pack(images, packing);
}

}  // namespace archguard::factory
