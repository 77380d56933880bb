#include "installed/conda.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace archguard::installed {
namespace {

// One package's record: {"name": "cudnn", "version": "9.1", "files": ["lib/libcudnn.so.9", ...], ...}. Only
// these three are kept, and of the files those that are asked about. No depth of it is recursion.
class CondaRecord final : public nlohmann::json_sax<nlohmann::json> {
 public:
  CondaRecord(const std::string& prefix, const Claims& claims) : prefix_(prefix), claims_(claims) {}

  std::string name, version, fault;
  std::vector<std::string> files;  // below the prefix, with it
  bool leads_out = false;          // a file above the prefix is named

  bool string(std::string& text) override {
    if (depth_ == 1 && key_ == "name") name = text;
    if (depth_ == 1 && key_ == "version") version = text;
    if (depth_ == 2 && in_files_) add(text);
    return true;
  }
  bool key(std::string& text) override {
    if (depth_ == 1) key_ = text;
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 1) in_files_ = key_ == "files";
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    if (depth_ == 1) in_files_ = false;
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fault = "is no JSON from byte " + std::to_string(position) + " on";
    return false;
  }

 private:
  void add(const std::string& file) {
    const std::string plain = plain_path(file);
    leads_out = leads_out || plain.empty() || starts_with(file, "/");
    if (plain.empty() || starts_with(file, "/")) return;
    std::string path = prefix_ + "/" + plain;
    if (claims_.asks(path)) files.push_back(std::move(path));
  }

  const std::string& prefix_;
  const Claims& claims_;
  std::string key_;
  std::size_t depth_ = 0;
  bool in_files_ = false;
};

void read_conda_record(const std::string& record, const std::string& prefix, DatabaseFiles& files,
                       Claims& claims) {
  const auto text = files.read(record);
  if (!text) return claims.add_error(text.error());
  CondaRecord read(prefix, claims);
  nlohmann::json::sax_parse(*text, &read);
  if (read.fault.empty() && read.name.empty()) read.fault = "names no package";
  if (!read.fault.empty()) return claims.add_error(Error{record, read.fault, {}});
  if (read.leads_out) claims.add_error(Error{record, "names a file outside of its environment", {}});
  for (const std::string& file : read.files)
    claims.claim(file, {read.name, read.version, PackageManager::conda}, record);
}

}  // namespace

void claim_by_conda(const RootedPaths& paths, DatabaseFiles& files, Claims& claims) {
  for (const std::string& prefix : folders_above(claims.unclaimed())) {
    const std::string folder = paths.on_disk(prefix + "/conda-meta");
    for (const std::string& name : names_ending(folder, ".json"))
      read_conda_record(folder + "/" + name, prefix, files, claims);
  }
}

}  // namespace archguard::installed
