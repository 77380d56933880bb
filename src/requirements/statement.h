#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/device_list.h"
#include "requirements/needs.h"

namespace archguard::requirements {

// What files need, in the words of one system.
struct Statement {
  std::string_view system;         // the name that --for takes
  std::string title;               // "OCI image: its environment"
  std::vector<std::string> lines;  // to paste; none where nothing true can be said
  std::string none;                // then why
  std::string fix;                 // and what to do about it, or empty
  std::vector<std::string> notes;  // what the lines do not say
};

// Names of the site's own for GPUs, and what each may be: of a fleet file with the column feature (of nodes)
// or gres (the Type of a GPU).
struct SlurmName {
  std::string name;
  bool is_gres = false;
  std::vector<std::size_t> devices;  // indices into the further devices of the needs
  bool tells_drivers = true;         // of each
};
Result<std::vector<SlurmName>> slurm_names_of(const DeviceList& map, const std::string& file);

Statement oci_statement(const Needs& needs);
Statement kubernetes_statement(const Needs& needs);
Statement dra_statement(const Needs& needs);
Statement slurm_statement(const Needs& needs, const std::vector<SlurmName>& names);
Statement htcondor_statement(const Needs& needs);
Statement conda_statement(const Needs& needs);

// Each system, in the order in which they are told.
std::vector<Statement> all_statements(const Needs& needs, const std::vector<SlurmName>& names);
const std::vector<std::string>& systems();

// "8.0, 8.6": those that are covered, with drivers; and those of the same generations that are not, with the
// cause.
std::string requirements_text(const Needs& needs, const std::vector<Statement>& statements,
                              const std::string& name);
std::string requirements_json(const Needs& needs, const std::vector<Statement>& statements,
                              const std::vector<std::string>& paths);

// ---- for the systems ----

// What no statement can be made of: no device is covered.
bool nothing_served(const Needs& needs, Statement& statement);

}  // namespace archguard::requirements
