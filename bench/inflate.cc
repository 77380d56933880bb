// What reading the images of a file costs at least: each one that holds kernels is read and inflated, with the
// same libraries as archguard has and on as many cores, and no byte of it is looked at. bench/inspect holds
// `archguard inspect --kernels` against it.
#include <atomic>
#include <cstdio>
#include <thread>

#include "base/parallel.h"
#include "fatbin/fatbin.h"

using namespace archguard;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: inflate LIBRARY\n");
    return 2;
  }
  const auto file = FileSource::open(argv[1]);
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().text().c_str());
    return 2;
  }
  const DeviceCode code = read_device_code(*file, argv[1]);
  struct Work {
    const DeviceObject* object;
    const Entry* entry;
  };
  std::vector<Work> all;
  for (const DeviceObject& object : code.objects)
    for (const Container& container : object.containers)
      for (const Entry& entry : container.entries)
        if (entry.kind != EntryKind::ltoir && entry.kind != EntryKind::other)
          all.push_back({&object, &entry});

  std::atomic<std::size_t> next{0}, failed{0};
  std::atomic<std::uint64_t> bytes{0};
  const auto inflate_all = [&] {
    Inflater inflater;
    for (std::size_t i = next++; i < all.size(); i = next++) {
      const auto image = inflater.inflate(*all[i].entry, bytes_of(*all[i].object, *file));
      if (image)
        bytes += image->size;
      else
        ++failed;
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads_to_use(); ++i) others.emplace_back(inflate_all);
  inflate_all();
  for (std::thread& other : others) other.join();
  std::printf("%zu images, %llu bytes, %zu failed\n", all.size(), static_cast<unsigned long long>(bytes),
              failed.load());
  return failed == 0 ? 0 : 2;
}
