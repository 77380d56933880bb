#pragma once

#include <string>

namespace archguard {

enum class PackageManager { pip, dpkg, conda };

// What a file belongs to, as its own manager names it.
struct Package {
  std::string name;
  std::string version;  // empty where the database does not tell it
  PackageManager manager = PackageManager::pip;
};

bool operator==(const Package& a, const Package& b);

std::string name_of(PackageManager manager);    // pip dpkg conda
std::string to_string(const Package& package);  // "torch 2.7.1 (pip)"

}  // namespace archguard
