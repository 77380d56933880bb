#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace archguard {

// The right to make a record, given back when this goes, and when the process ends.
class KeptTurn {
 public:
  KeptTurn() = default;  // nobody else is asked
  KeptTurn(KeptTurn&& other) noexcept;
  KeptTurn& operator=(KeptTurn&& other) noexcept;
  ~KeptTurn();

 private:
  friend class KeptFolder;
  KeptTurn(int descriptor, std::uint64_t key) : descriptor_(descriptor), key_(key) {}
  int descriptor_ = -1;
  std::uint64_t key_ = 0;
};

// Records of bytes in a folder, for this user alone, by their keys. Whatever is wrong with the folder, there
// is no record in it: one of another user, or that others may write to, is neither read nor written.
class KeptFolder {
 public:
  struct Limits {
    std::size_t record_most = std::size_t{4} << 20;  // bytes; a larger one is not written
    std::size_t records_most = 1000;                 // the oldest go
    std::uint64_t bytes_most = std::uint64_t{64} << 20;
  };
  explicit KeptFolder(std::string path) : path_(std::move(path)) {}
  KeptFolder(std::string path, Limits limits) : path_(std::move(path)), limits_(limits) {}

  // Nothing where there is none, and for what is no whole record of this format.
  std::optional<std::string> read(std::uint64_t key) const;
  // Makes the folder too. In silence: what cannot be written is not kept.
  void write(std::uint64_t key, const std::string& content) const;

  // Waits up to `patience` for another process that has the turn; nothing where it still has it. Where files
  // cannot be locked everybody has it. Makes the folder too.
  std::optional<KeptTurn> turn(std::uint64_t key, std::chrono::milliseconds patience) const;

 private:
  void remove_oldest(int folder, const std::string& spared) const;

  std::string path_;
  Limits limits_;
};

// 64 bits of what two texts are told apart by (FNV-1a); not against who looks for two alike.
std::uint64_t hash_of(std::string_view text);

}  // namespace archguard
