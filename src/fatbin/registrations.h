#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// A registration that the object's fat binaries do not answer.
struct LostRegistration {
  std::uint64_t offset = 0;  // within the object: where the fat binary should be
};

// One that points to where the file has nothing.
struct StrayRegistration {
  std::uint64_t offset = 0;  // within the object: of the registration's pointer
  std::uint64_t address = 0;
};

// The section of registrations, whose name the linkers of PE images cut.
bool is_registration_section(std::string_view name);

struct RegistrationProblems {
  std::vector<LostRegistration> lost;        // resolved, and no fat binary that can be read is there
  std::optional<StrayRegistration> stray;    // the first
  std::optional<std::uint64_t> unrelocated;  // the first pointer that the loader does not relocate
  std::uint64_t unresolved = 0;              // of these the file does not tell the place …
  std::uint64_t unclaimed = 0;               // … and so many fat binaries are left for them
  std::optional<std::uint64_t> damaged;      // within the object: where a registration stood
  std::optional<Error> unread;               // why not all data could be searched for registrations
  bool overlap = false;  // sections of registrations share bytes, and not all of them were read
};

// Reads what the object's host code registers, and the ids of separate compilation, into `out`, whose
// fat binaries have been read. Layout and what it was seen on: docs/reference/fatbin.md#registrations.
RegistrationProblems read_registrations(const ByteSource& source, const HostObject& host, DeviceObject& out);

// The first relocatable fat binary of a linked file, whose registrations were read, that no device link there
// joined: its object's host code registers it, and nothing takes it up.
struct Unlinked {
  std::size_t fatbin = 0;
  std::string id;  // of the object; empty where the file has no device link at all
};
std::optional<Unlinked> not_device_linked(const DeviceObject& object);

// Joins the ids of all objects: DeviceCode::links.
void find_device_links(DeviceCode& code);

}  // namespace archguard::fatbin
