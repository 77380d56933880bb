// Feeds one target what is known: its seeds, each cut at every byte and with every byte flipped, and what a
// fuzzer once found. Ends with 0, or as the broken promise ends the process.
//   fuzz_replay TARGET            runs them
//   fuzz_replay TARGET --write FOLDER   writes the seeds, one file each, for libFuzzer to begin with
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "seeds.h"
#include "targets.h"

namespace fs = std::filesystem;
using namespace archguard;

namespace {

const std::map<std::string, void (*)(ByteView)> kTargets{{"archive", fuzz::archive},
                                                         {"archive_stream", fuzz::archive_stream},
                                                         {"arch_list", fuzz::arch_list},
                                                         {"fatbin", fuzz::fatbin},
                                                         {"cubin", fuzz::cubin},
                                                         {"dynamic", fuzz::dynamic},
                                                         {"elf", fuzz::elf},
                                                         {"entry", fuzz::entry},
                                                         {"excluded", fuzz::excluded},
                                                         {"finder", fuzz::finder},
                                                         {"fleet", fuzz::fleet},
                                                         {"fleet_import", fuzz::fleet_import},
                                                         {"host_file", fuzz::host_file},
                                                         {"kept", fuzz::kept},
                                                         {"loader_cache", fuzz::loader_cache},
                                                         {"lz4", fuzz::lz4},
                                                         {"pe", fuzz::pe},
                                                         {"promise_file", fuzz::promise_file},
                                                         {"ptx", fuzz::ptx},
                                                         {"saved_image", fuzz::saved_image},
                                                         {"verify", fuzz::verify},
                                                         {"waivers", fuzz::waivers},
                                                         {"zip", fuzz::zip},
                                                         {"zstd", fuzz::zstd}};

// A copy without spare capacity, so that a read behind the end is seen.
void run(void (*target)(ByteView), const Bytes& bytes, std::size_t size) {
  const Bytes exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  target(exact);
}

std::size_t replay(void (*target)(ByteView), Bytes bytes) {
  std::size_t runs = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size, ++runs) run(target, bytes, size);
  for (std::uint8_t& byte : bytes) {
    const std::uint8_t whole = byte;
    for (const unsigned mask : {0x01U, 0x80U, 0xffU}) {
      byte = static_cast<std::uint8_t>(whole ^ mask);
      run(target, bytes, bytes.size());
      ++runs;
    }
    byte = whole;
  }
  return runs;
}

bool write(const std::vector<Bytes>& seeds, const fs::path& folder) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(folder / ("seed-" + std::to_string(i)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seeds[i].data()), static_cast<std::streamsize>(seeds[i].size()));
    if (!file.flush()) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const auto target = kTargets.find(name);
  const auto seeds = fuzz::seeds_of(name);
  if (target == kTargets.end() || seeds.empty()) {
    std::fprintf(stderr, "fuzz_replay: no target '%s'\n", name.c_str());
    return 2;
  }
  if (argc == 4 && std::string(argv[2]) == "--write") return write(seeds, argv[3]) ? 0 : 1;

  std::size_t runs = 0, found = 0;
  for (const Bytes& seed : seeds) runs += replay(target->second, seed);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(ARCHGUARD_FOUND) / name, error)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    run(target->second, Bytes(content.begin(), content.end()), content.size());
    ++found;
  }
  std::printf("%zu seeds, %zu runs with cuts and flips; %zu inputs once found\n", seeds.size(), runs, found);
  return 0;
}
