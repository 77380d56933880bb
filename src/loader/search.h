#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/elf_dynamic.h"
#include "loader/ld_cache.h"
#include "loader/needed.h"

namespace archguard {

// A file that the loader has loaded.
struct LoadedFile {
  std::string path;
  ElfDynamic dynamic;
  std::string origin;                // what $ORIGIN stands for in it
  std::optional<std::size_t> asker;  // that it was loaded for; nothing for the first
  std::optional<Error> error = {};   // where it cannot be read as the loader reads it
};

// Where one needed library is: the search order of ld.so(8), and then that of the linker.
class LoaderSearch {
 public:
  // `first` is the program, or the library that is looked at as if it were one.
  LoaderSearch(const LoaderFolders& folders, const LoadedFile& first);

  struct Answer {
    std::optional<LoadedFile> file;
    std::vector<LoadedFile> variants;  // that the loader takes instead, each where the processor has more
    bool by_linker = false;            // the loader would not find it
    std::vector<std::string> searched;
  };
  // More places were to be looked into than any program needs; nothing is found from then on.
  bool exhausted() const { return lookups_ >= kLookupsMost; }

  // Looks for what `loaded[asker]` needs.
  Answer find(const std::string& name, const std::vector<LoadedFile>& loaded, std::size_t asker);

  // What stands here now decided an answer, though it is not the file that was found.
  void keep_tried(const std::string& path);
  // All of these; `whole` is false where they are more than are kept.
  std::vector<std::string> tried(bool& whole) const;

 private:
  static constexpr std::size_t kLookupsMost = 100'000;

  void note(const std::string& place, Answer& answer);
  std::optional<LoadedFile> take_file(const std::string& path);
  bool try_file(const std::string& path, Answer& answer);
  void add_variant(const std::string& path, Answer& answer);
  void add_variants(const std::string& folder, const std::string& name, Answer& answer);
  bool try_folder(const std::string& folder, const std::string& name, Answer& answer);
  bool try_folders(const std::vector<std::string>& folders, const std::string& name, Answer& answer);
  bool try_run_path(const std::string& list, const LoadedFile& file, const std::string& name, Answer& answer);
  bool try_cache(const std::string& name, bool no_default_folders, Answer& answer);
  template <typename Visit>
  bool any_folder(const std::string& list, const char* separators, const std::string& origin,
                  Visit visit) const;
  std::string expand(std::string_view text, const std::string& origin) const;

  bool is64_;
  unsigned machine_;
  std::string lib_, platform_;  // what $LIB and $PLATFORM stand for
  std::array<const char*, 3> variants_ = {};
  std::vector<std::string> library_path_, defaults_, rpath_link_;
  std::string sysroot_, cache_path_;
  Bytes cache_bytes_;
  std::optional<LoaderCache> cache_;  // of these bytes
  std::size_t lookups_ = 0, noted_ = 0;
  std::set<std::string> tried_;
  std::size_t tried_bytes_ = 0;
};

}  // namespace archguard
