#pragma once

#include <map>
#include <optional>
#include <set>
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
  // Of what this device link made, whose gaps its lists tell: only what the image holds is judged here.
  void take_linked(std::size_t link, const DeviceObject& object, const FatbinCode& code, std::size_t taken);
  // Of what this device link made, where the driver links the objects again: host code registers the same.
  void take_relinked(std::size_t link, const DeviceObject& object, const FatbinCode& code);
  // An object that this device link joined, of a linked file: it may hold more than nvlink took.
  void take_part(std::size_t link, const DeviceObject& object, const FatbinCode& code);

  // What host code uses and does not register, by the last image that lacks it, which is the reason.
  struct Unregistered {
    LinkJudge::Subject subject;
    std::map<std::string, std::vector<std::string>> variables;  // a use of one fails with error 13
    std::map<std::string, std::vector<std::string>> kernels;    // of templates: a launch fails with error 98
    std::uint64_t never_launched = 0;                           // kernels that are missing
  };
  // Of what an image of a device link, or an object that the driver links again, lacks after all, once all
  // was taken: takes these away, and into `unnamed` the variables that no host code can use.
  Unregistered take_unregistered(std::size_t link, KernelGaps& gaps, std::vector<std::string>& unnamed);

  struct Finding {
    LinkJudge::Subject subject;
    std::string image;
    std::vector<std::string> kernels;  // missing ones that host code may launch
    std::uint64_t never_launched = 0;  // missing ones that it cannot
    std::vector<std::string> missing;  // variables that host code may use
    std::vector<std::string> unnamed;  // that no host code uses, registered or not
    Unregistered names;                // in the image, or missing in it
    std::uint64_t in_image = 0;        // of these, kernels
    std::uint64_t in_parts = 0;        // kernels that objects of a link hold, and what it made does not
    std::optional<std::size_t> relinked = {};  // the link whose objects the driver links again
  };
  // Of all that were taken.
  std::vector<Finding> tell();

 private:
  struct Taken {
    const DeviceObject* object;
    LinkJudge::Subject subject;
    std::string image;
    std::vector<std::string> kernels, missing;  // of this image's gaps, ascending
    // What not all images have, and the last one that lacks it: variables, and kernels of templates.
    std::map<std::string, std::string> variables, templates;
    std::vector<std::string> others;  // kernels and variables that this image has
    std::optional<std::size_t> link;
    std::set<std::string> managed =
        {};  // of the missing ones, or of a link: the runtime itself looks for them
    bool relinked = false;
    std::set<std::string> told_names = {};  // by take_unregistered
    std::set<std::string> held = {};        // templates, of what a link made
    std::set<std::string> of_parts =
        {};  // of `templates`: the link's objects hold it, and what it made does not
  };
  struct OfParts {
    const DeviceObject* object = nullptr;
    std::map<std::string, std::string> variables, templates;  // as Taken's
  };
  void look_for(Taken of, const FatbinCode& code);
  void look_for_variable(const Taken& of, const std::string& name);
  void join_parts();
  void tell_missing(Taken& of, bool told, const std::set<std::string>& unlaunchable, Finding& finding);
  bool is_told(const Taken& of);
  bool registers(const Taken& of, const std::string& variable);
  bool is_unlaunchable(const Taken& of, bool told, const std::string& kernel);
  bool is_never_launched(const Taken& of, bool told, const std::string& kernel);
  void note_witness(const DeviceObject& object, const FatbinCode& code);
  bool has_witness(const DeviceObject& object);

  HostNames& host_names_;
  const DeviceLinks& links_;
  std::vector<Taken> taken_;
  std::map<std::size_t, OfParts> parts_;                               // by their link
  std::map<const DeviceObject*, std::vector<std::string>> witnesses_;  // some kernels of its fat binaries
};

}  // namespace archguard
