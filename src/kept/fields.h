#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "coverage/verify.h"
#include "installed/package.h"
#include "kept/identity.h"

// The fields of all that is written to a record, in their order. Each struct is taken apart by a structured
// binding, which names every field: where one comes to the struct, it has to come here, too, or this does not
// compile. An archive (FieldWriter, FieldReader) is called with the fields.
#define ARCHGUARD_FIELDS(Type, ...)      \
  template <class A>                     \
  void fields(A& archive, Type& value) { \
    auto& [__VA_ARGS__] = value;         \
    archive(__VA_ARGS__);                \
  }

namespace archguard::kept {

// A new enumerator has to be named here, or the compiler warns.
constexpr bool is_known(Suffix value) {
  switch (value) {
    case Suffix::none:
    case Suffix::a:
    case Suffix::f:
      return true;
  }
  return false;
}
constexpr bool is_known(Coverage value) {
  switch (value) {
    case Coverage::covered:
    case Coverage::not_covered:
    case Coverage::unknown:
      return true;
  }
  return false;
}
constexpr bool is_known(FailureCause value) {
  switch (value) {
    case FailureCause::image:
    case FailureCause::hollow:
    case FailureCause::partly:
    case FailureCause::start:
      return true;
  }
  return false;
}
constexpr bool is_known(PackageManager value) {
  switch (value) {
    case PackageManager::pip:
    case PackageManager::dpkg:
    case PackageManager::conda:
      return true;
  }
  return false;
}
constexpr bool is_known(EntryKind value) {
  switch (value) {
    case EntryKind::ptx:
    case EntryKind::sass:
    case EntryKind::ltoir:
    case EntryKind::reloc_ptx:
    case EntryKind::other:
      return true;
  }
  return false;
}

ARCHGUARD_FIELDS(Version, major, minor)
ARCHGUARD_FIELDS(ComputeCapability, major, minor)
ARCHGUARD_FIELDS(Arch, number, suffix)
ARCHGUARD_FIELDS(ToolkitRange, first, last)
ARCHGUARD_FIELDS(Error, where, what, fix)
ARCHGUARD_FIELDS(FileIdentity, real_path, device, inode, size, modified, changed, taken)
ARCHGUARD_FIELDS(ExpectedImage, arch, sass)
ARCHGUARD_FIELDS(Addition, arch, sass, ptx, by_lto, lacks_lto)
ARCHGUARD_FIELDS(Remedy, unset, driver, toolkits, drop, add, apart, embedded, offload, lz4, link,
                 other_library, holds)
ARCHGUARD_FIELDS(Fix, ways, leave_out, demand, name_driver, change, lacking)
ARCHGUARD_FIELDS(FatbinPlace, offset, section, member)
ARCHGUARD_FIELDS(Failure, code, unknown, reason, places, found, where, kernel, variable, cause, fix, numbered,
                 mend, add, sooner)
ARCHGUARD_FIELDS(FatbinCounts, total, specific, sass, jit, uncovered, unknown, linked_at_load)
ARCHGUARD_FIELDS(KernelCounts, total, covered, missing, hollow, unlaunchable)
ARCHGUARD_FIELDS(VariableCounts, total, missing, unregistered, unnamed, unnamed_in)
ARCHGUARD_FIELDS(Partly, kernels, best, best_device, fatbins, core_fatbins, clear, compiles_at_run_time,
                 needs_driver)
ARCHGUARD_FIELDS(EmbeddedResult, total, fitting, unknown, code, reason, where, found, fix, mend, kernel,
                 needs_driver, without, in_doubt, elsewhere, elsewhere_in, taken_by_runtime, ltoir, may_run,
                 for_others, is_error, comes_later)
ARCHGUARD_FIELDS(OtherOrder, containers, where, text)
ARCHGUARD_FIELDS(ForOthers, fatbins, where, found, kernel, mend)
ARCHGUARD_FIELDS(DeviceResult, coverage, containers, kernels, variables, partly, embedded, failures,
                 needs_driver, toolkit_ahead, runtime_elsewhere, runtime_fix, other_order, for_others,
                 hollow_fix, fix)
ARCHGUARD_FIELDS(ExpectFailure, place, where, absent, found, toolkit)
ARCHGUARD_FIELDS(ExpectResult, fatbins, specific, failures)
ARCHGUARD_FIELDS(Package, name, version, manager)
ARCHGUARD_FIELDS(FixTarget, name, compiles_cuda, linked, word, spelled)
ARCHGUARD_FIELDS(ArchSize, images, stored, uncompressed)
ARCHGUARD_FIELDS(CodeSizes::OfArch, kind, arch, size)
ARCHGUARD_FIELDS(CodeSizes::OfKernel, name, size)
ARCHGUARD_FIELDS(CodeSizes, archs, largest, kernels)
ARCHGUARD_FIELDS(FileResult, path, member, has_fatbins, has_code, opened, named, needed_by, by_linker,
                 library, objects, devices, expect, errors, warnings, runtime_code, optix, needs, found_under,
                 any_of, alternative, libraries, target, sizes, package)

// ---- of a question; written alone ----

ARCHGUARD_FIELDS(JitEnvironment, forces_jit, disables_jit)
ARCHGUARD_FIELDS(JudgePolicy, require_sass, require_ptx, require_driver, environment, newer_sass,
                 stated_driver)
ARCHGUARD_FIELDS(VerifyPolicy, scope, hollow, driver, partly, embedded, judge, target)
// What a rule or a text of a FileResult reads of a device. The others name it in reports, and tell devices
// apart: two fleets with the same GPUs and drivers ask the same.
template <class A>
void fields(A& archive, Device& value) {
  auto& [name, capability, driver_version, driver_cuda, cuda_by_branch, cuda_at_least, uuid, pci_bus_id,
         visible, mig, excluded, count, host, source, extra, origin] = value;
  bool found = is_found(value);
  archive(capability, driver_cuda, cuda_by_branch, cuda_at_least, found);
}
template <class A>
void fields(A& archive, DeviceClass& value) {
  auto& [device, members, may_have_compat] = value;
  archive(device, may_have_compat);
}
ARCHGUARD_FIELDS(VerifyRequest, classes, expected, policy)

#undef ARCHGUARD_FIELDS

// ---- the archives ----

// Numbers are seven bits a byte, the lowest first, and the high bit tells that more follow; texts, lists and
// what may be absent begin with their number.
class FieldWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(out_); }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      number(value.size());
      out_ += value;
    } else if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? '\1' : '\0';
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      number(static_cast<std::uint64_t>(value));
    } else {
      put_parts(value);
    }
  }
  template <class T>
  void put_parts(std::vector<T>& values) {
    number(values.size());
    for (T& value : values) put(value);
  }
  template <class T>
  void put_parts(std::optional<T>& value) {
    number(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class T>
  void put_parts(T& value) {
    fields(*this, value);
  }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_ += static_cast<char>((value & 0x7f) | 0x80);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

// Reads what FieldWriter wrote. What it is given may hold anything: ok() is false then.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  template <class T>
  void get(T& value) {
    if (!ok_) return;
    if constexpr (std::is_same_v<T, std::string>) {
      value = std::string(bytes(number()));
    } else if constexpr (std::is_same_v<T, bool>) {
      const std::string_view byte = bytes(1);
      ok_ = ok_ && (byte[0] == '\0' || byte[0] == '\1');
      value = ok_ && byte[0] == '\1';
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      const std::uint64_t read = number();
      value = static_cast<T>(read);
      ok_ = ok_ && static_cast<std::uint64_t>(value) == read;
      if constexpr (std::is_enum_v<T>) ok_ = ok_ && is_known(value);
    } else {
      get_parts(value);
    }
  }
  template <class T>
  void get_parts(std::vector<T>& values) {
    const std::uint64_t count = number();
    ok_ = ok_ && count <= bytes_.size();  // each takes a byte at least
    for (std::uint64_t i = 0; ok_ && i < count; ++i) get(values.emplace_back());
  }
  template <class T>
  void get_parts(std::optional<T>& value) {
    const std::uint64_t count = number();
    ok_ = ok_ && count <= 1;
    if (ok_ && count == 1) get(value.emplace());
  }
  template <class T>
  void get_parts(T& value) {
    fields(*this, value);
  }
  std::string_view bytes(std::uint64_t count) {
    ok_ = ok_ && count <= bytes_.size();
    if (!ok_) return {};
    const std::string_view read = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(static_cast<std::size_t>(count));
    return read;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::string_view read = bytes(1);
      if (!ok_) return 0;
      const std::uint64_t byte = static_cast<unsigned char>(read[0]);
      value |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      ok_ = (byte != 0 || shift == 0) && (shift < 63 || byte == 1);  // as it is written, and no other way
      return value;
    }
    ok_ = false;
    return 0;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace archguard::kept
