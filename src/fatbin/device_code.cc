#include "base/text.h"
#include "container/host_file.h"
#include "fatbin/fatbin.h"
#include "fatbin/object_reader.h"

namespace archguard {

DeviceCode read_device_code(const ByteSource& source, const std::string& path) {
  DeviceCode code;
  HostFile file = visit_host_file(source, path, [&](const HostObject& host) {
    DeviceObject object;
    object.path = path;
    object.member = host.member;
    object.file_offset = host.offset;
    object.file_size = host.size;
    object.linked = host.linked;
    const PartSource part(source, host.offset, host.size);
    fatbin::read_object(part, host, object, code);
    code.objects.push_back(std::move(object));
  });
  for (Error& error : file.errors) code.errors.push_back(std::move(error));
  code.archive = file.archive;
  code.recognized = file.recognized;
  return code;
}

PartSource bytes_of(const DeviceObject& object, const ByteSource& file) {
  return PartSource(file, object.file_offset, object.file_size);
}

std::string where(const DeviceObject& object, const Container& container) {
  std::string name = object_name(object.path, object.member);
  if (container.section.empty() && container.offset == 0) return name;  // the file is the container
  return place_name(name, container.section, container.offset - container.section_offset);
}

std::string place_name(const std::string& object, const std::string& section, std::uint64_t offset) {
  return object + "(" + section + "+" + hex(offset) + ")";
}

}  // namespace archguard
