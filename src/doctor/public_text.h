#pragma once

#include <set>
#include <string>
#include <vector>

#include "doctor/doctor_report.h"

namespace archguard::doctor {

// Names of a person or a machine, which a public report leaves out.
struct PrivateNames {
  std::string home;  // without a slash at its end; empty: none
  std::vector<std::string> users, hosts;
  bool told = false;  // they may stand: `--full`
};
// A user or a host that is called like a package of the report, a folder of every system or a word of ours
// is none: without it the report would be none.
PrivateNames private_names(const Diagnosis& diagnosis, const ReportWords& words);

// The home folder is "~", the folder of another's home "/home/USER", and in paths and in names that are no
// plain words a user's name is USER and a host's HOST, where it is a whole word: "/x/alice-env", "alice.so",
// but not "/x/malice".
std::string public_text(std::string text, const PrivateNames& names);

}  // namespace archguard::doctor
