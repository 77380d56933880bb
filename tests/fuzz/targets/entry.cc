#include "device_code.h"

namespace archguard::fuzz {

// The entries of a fat binary: its header is put before them, so that every run reaches them.
void entry(ByteView bytes) {
  const std::size_t size = bytes.size / 8 * 8;
  Bytes whole = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  for (unsigned i = 0; i < 8; ++i) whole.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
  whole.insert(whole.end(), bytes.data, bytes.data + size);
  const DeviceCode code = read_all(whole);
  if (!code.errors.empty()) return;
  promise(code.objects.size() == 1 && code.objects[0].fatbins.size() == 1);
  const Fatbin& fatbin = code.objects[0].fatbins[0];
  promise(fatbin.size == whole.size());
  std::uint64_t at = fatbin.offset + 16;
  for (const FatbinEntry& each : fatbin.entries) {
    promise(each.offset == at);
    at = each.payload_offset +
         (each.compression == Compression::none ? each.stored_size : Cursor(whole).u64(each.offset + 8));
  }
  promise(at == whole.size());
}

}  // namespace archguard::fuzz
