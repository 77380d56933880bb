#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

// Folders that Python imports from, as they stand on disk.
namespace archguard::doctor {

bool is_a_folder(const std::string& path);
std::string real_of(const std::string& path);  // without links; as it is where they lead nowhere

// The names in a folder that begin so, with it, sorted. `unread`: takes a folder that is there and cannot be
// listed.
std::vector<std::string> subfolders(const std::string& folder, std::string_view beginning,
                                    std::vector<Error>* unread = nullptr);

// "…/lib/python3.11" → "3.11"; "3" of Debian's folder for every Python 3.
std::string version_of_home(const std::string& home);
// "3.11" of a link to python3.11.
std::string python_of_program(const std::string& program);

// Does the Python of the environment look into folders for this version?
bool is_searched_by(const PythonEnvironment& environment, const std::string& version);
bool has_site(const PythonEnvironment& environment, const std::string& site);

// Adds the folders of packages below a prefix: of the Python that is wanted, or of any.
void add_sites(PythonEnvironment& environment, const std::string& prefix, std::vector<Error>& unread);

// Is it a folder that installers write into, and not one of somebody's source?
bool is_site(const std::string& folder);

}  // namespace archguard::doctor
