#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "device/device_list.h"
#include "fleet/hostlist.h"
#include "products/products.h"

namespace archguard::fleet {

// What a source tells of a GPU, or of `count` equal ones of a host, as texts: empty means that it does not.
struct ReportedGpu {
  std::string name;            // as the source spells it
  std::string capability;      // 9.0
  std::string driver_version;  // 580.95.05
  std::string driver_cuda;     // 13.0
  std::string identity;        // a UUID: a GPU that is told twice counts once
  std::string once;            // the same for what has none: these counts of a host
  std::string host;
  bool mig = false;
  std::string excluded;  // as the column of a fleet file
  std::uint64_t count = 1;
  std::string place;  // in the source, for messages: "line 4", "items[3] (node gpu-1)"
};

// Collects what sources tell and joins equal GPUs to one line of a fleet. Of GPUs it holds one of each kind,
// of hosts and identities all: what is told twice counts once.
class FleetBuilder {
 public:
  explicit FleetBuilder(bool with_hosts) : with_hosts_(with_hosts) {}

  // Begins another source. `file` names it in messages, `format` is its kind.
  void begin(const std::string& file, const std::string& format);
  Status add(ReportedGpu gpu);
  // A host without a GPU, which is counted and not listed.
  void pass_over_host() { ++hosts_without_; }
  // For people, each once. Of a GPU, it says the first place and how many others there are.
  void note(const std::string& text);
  void note(const ReportedGpu& gpu, const std::string& text);

  // The source tells drivers of hosts, and programs run in containers.
  void note_drivers_of_hosts() { drivers_of_hosts_ = true; }

  // What lists of hosts may still name, in all sources together.
  HostBudget& host_budget() { return host_budget_; }

  // What was told, one line a kind of GPU, the newest architecture first.
  DeviceList devices() const;
  // What to know of it: what no source tells, and what was understood how.
  std::vector<std::string> notes() const;
  std::uint64_t count() const { return count_; }

 private:
  using Kind = std::tuple<std::string, std::string, std::string, std::string, std::string, bool, std::string>;
  struct Told {
    std::string file, format;
    bool with_identity;
  };
  struct First {  // that was told of a GPU
    std::string capability, driver_version, driver_cuda, name;
  };
  struct Noted {
    std::string text, first;  // place
    std::uint64_t places = 0;
  };

  std::string where(const ReportedGpu& gpu) const;
  Error error(const ReportedGpu& gpu, const std::string& what, std::string fix) const;
  Status take_capability(ReportedGpu& gpu);
  Status check_driver(ReportedGpu& gpu);
  void leave_out_compat(ReportedGpu& gpu);
  Status check_told_once(const ReportedGpu& gpu);
  Result<bool> is_told_again(const std::string& identity, const ReportedGpu& gpu);

  bool with_hosts_;
  bool drivers_of_hosts_ = false;
  std::string file_, format_;
  std::map<Kind, std::uint64_t> kinds_;
  std::map<std::string, First> identities_;
  std::map<std::string, Told> hosts_;  // who told of it first
  HostBudget host_budget_;
  std::vector<Noted> notes_;
  std::map<std::string, std::size_t> noted_;  // texts: their numbers in notes_
  ProductLookup products_;
  std::map<std::string, std::string> by_name_;        // names whose capability is that of NVIDIA's list
  std::map<std::string, std::string> unknown_names_;  // and those that it does not tell: why
  std::uint64_t count_ = 0, hosts_without_ = 0, without_driver_ = 0;
};

}  // namespace archguard::fleet
