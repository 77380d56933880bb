#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coverage/device_link.h"
#include "coverage/judge_fatbin.h"
#include "fatbin/host_names.h"

// Kernels and variables that host code registers name by name (fatbin/host_names.h), where the images of a
// fat binary do not all hold the same ones.
namespace archguard {

class RegisteredNames {
 public:
  // Both outlive it.
  RegisteredNames(HostNames& host_names, const DeviceLinks& links) : host_names_(host_names), links_(links) {}

  // Takes the missing kernels and variables of a fat binary away whose image `taken` the device takes:
  // whether host code uses them is told once all is read. The object outlives this.
  void take(const DeviceObject& object, const FatbinCode& code, std::size_t taken, const std::string& image,
            KernelGaps& gaps);
  // Of what this device link made, whose gaps its lists tell: only what the image holds is looked at.
  void take_linked(std::size_t link, const DeviceObject& object, const FatbinCode& code, std::size_t taken);

  struct Finding {
    LinkJudge::Subject subject;
    std::string image;
    std::vector<std::string> kernels;  // missing ones that host code may launch
    std::uint64_t never_launched = 0;  // missing ones that it cannot
    std::vector<std::string> missing;  // variables that host code may use
    std::vector<std::string> unnamed;  // that no host code uses
    // Variables that the image holds and host code uses, with error 13, by the last image that lacks them.
    std::map<std::string, std::vector<std::string>> unregistered;
    // Kernels of templates, likewise, in the image or missing in it: a launch fails with error 98.
    std::map<std::string, std::vector<std::string>> unlaunchable;
    std::uint64_t in_image = 0;  // of these
  };
  // Of all that were taken.
  std::vector<Finding> tell();

 private:
  struct Taken {
    const DeviceObject* object;
    LinkJudge::Subject subject;
    std::string image;
    std::vector<std::string> kernels, missing;
    // What not all images have, and the last one that lacks it: variables of this one, and kernels of
    // templates (of a device link, those of this one).
    std::map<std::string, std::string> held, templates;
    std::vector<std::string> others;  // kernels and variables that this image has
    std::optional<std::size_t> link;
  };
  void look_for(Taken of, const FatbinCode& code, const KernelGaps& gaps);
  void note_witness(const DeviceObject& object, const FatbinCode& code);
  bool has_witness(const DeviceObject& object);

  HostNames& host_names_;
  const DeviceLinks& links_;
  std::vector<Taken> taken_;
  std::map<const DeviceObject*, std::vector<std::string>> witnesses_;  // some kernels of its fat binaries
};

}  // namespace archguard
