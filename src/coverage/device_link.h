#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coverage/expected_images.h"
#include "coverage/judge_fatbin.h"
#include "coverage/library_census.h"
#include "coverage/link_shared.h"
#include "coverage/verify.h"

// Separate compilation: what the driver loads is what the device linker made of relocatable fat binaries, one
// of each object. Where no SASS of it fits the device, the driver links the objects again from their PTX.
// Fat binaries come one after the other and are gone then, so what is kept of them is small.
namespace archguard {

// Where a fat binary stands in the file's links.
struct LinkRole {
  std::optional<std::size_t> linked;                       // it is what this link made
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // link, and which part of it
  std::string name;  // of a part, for messages: "object '_a' (t.so(…))"
};

// What a file's links say without regard to devices. Filled while its fat binaries are read.
class DeviceLinks {
 public:
  // `code` outlives it.
  explicit DeviceLinks(const DeviceCode& code);

  const LinkRole* role(std::size_t object, std::size_t fatbin) const;
  std::size_t size() const { return links_.size(); }

  // A fat binary with a role, which was read.
  void note(const LinkRole& role, const DeviceObject& object, const FatbinCode& code);

  // Is it libcudadevrt's, which every link holds and most have no use for?
  static bool is_runtime(const FatbinCode& code);

  // Once all is read. Kernels and variables that the host uses are in the link's objects.
  bool asks(std::size_t link) const { return links_[link].kernels + links_[link].variables != 0; }
  std::uint64_t kernels(std::size_t link) const { return links_[link].kernels; }
  std::uint64_t variables(std::size_t link) const { return links_[link].variables; }
  const std::string& kernel(std::size_t link) const { return links_[link].kernel; }
  const std::string& variable(std::size_t link) const { return links_[link].variable; }
  // A kernel of an object in an image without a suffix, or in one that fits the device; null where there is
  // none.
  struct Meant {
    FatbinEntry image;
    std::string kernel;
  };
  const Meant* meant_for(std::size_t link, ComputeCapability device) const;
  bool wants_runtime(std::size_t link) const { return links_[link].wants_runtime; }
  // LTO-IR is not read: what an object has in it alone shows in what was linked of it.
  bool holds_ltoir(std::size_t link) const { return links_[link].holds_ltoir; }
  // Does libcudadevrt define it, as it is among the link's objects, or as it may come to them?
  bool may_be_of_runtime(std::size_t link, const std::string& name) const;
  // Does an image of one of its objects define this, whether it is taken or not? False where not all names
  // are known.
  bool defines(std::size_t link, const std::string& name) const;
  bool knows_all_names(std::size_t link) const { return links_[link].names_whole && links_[link].all_read; }
  // Was it linked for some architecture although several objects define this there? So they belong to links
  // that the file does not tell apart.
  bool was_linked_twice(std::size_t link, const std::string& name) const {
    return links_[link].twice.count(name) != 0;
  }
  // That its objects are built for.
  std::vector<Arch> archs_of_objects(std::size_t link) const;
  const std::vector<std::string>& absent_ids(std::size_t link) const { return links_[link].absent; }

  // Takes away what the image for this arch lacks and needs not have: what is libcudadevrt's, and kernels
  // that host code does not name and that nvlink left out though an object holds them for the arch. Another
  // arch may hold these because its device code launches them. Returns how many kernels and variables it
  // took.
  struct Needless {
    std::uint64_t kernels = 0, variables = 0;
  };
  Needless take_needless(std::size_t link, Arch linked, KernelGaps& gaps) const;
  // Does host code of the link's objects surely name it? False where the lists do not tell, or have a pattern
  // that may stand for others: `_ZN3lib5table*` for each instance of a template.
  bool is_named(std::size_t link, const std::string& name) const {
    const HostReferences* lists = links_[link].lists;
    return lists != nullptr && lists->lists(name);
  }
  // Takes the variables away that no host code of the link's objects is known to name, once all is read: nvcc
  // lists what the code that it compiles names, so it is in doubt whether a program misses them.
  std::vector<std::string> take_unnamed(std::size_t link, KernelGaps& gaps) const;
  // Of kernels that are idle in what was linked, those for which an object holds real code are hollow.
  void tell_hollow(std::size_t link, KernelGaps& gaps) const;

  enum class Unread : unsigned char { no, object, ltoir, unused, image };  // `ltoir`: of some object
  // Kernels and variables of an object that the link for this arch left out, with a warning at most: the
  // object holds no image for it, or is one that nvlink did not read, or its `image` lacks what its PTX, or
  // one for an arch that is not linked, has.
  struct LeftOut {
    FatbinPlace place;
    std::string where, found;
    KernelGaps names;
    std::vector<std::string> unnamed;  // variables
    Unread unread = Unread::no;
  };
  std::vector<LeftOut> left_out(std::size_t link, Arch linked) const;

  // The first object, in words, that holds no plain PTX; nothing where each does.
  std::optional<std::string> without_plain_ptx(std::size_t link) const;
  // Holds a fat binary that the link made against what was asked for: SASS is asked of itself, PTX of each of
  // the link's objects, where alone it can be.
  Expectation expect(std::size_t link, const Fatbin& linked,
                     const std::vector<ExpectedImage>& expected) const;

 private:
  struct Link {
    bool wants_runtime = false;
    const HostReferences* lists = nullptr;           // of the objects; nothing where they do not tell
    const HostReferences* obeyed_lists = nullptr;    // the same, where nvlink went by them alone
    std::set<std::pair<Arch, std::string>> unnamed;  // kernels that an object holds, and `lists` do not name
    std::set<std::string> of_runtime, runtime_defines;  // libcudadevrt's kernels and variables, and all names
    std::set<std::string> defined;                      // by any image of an object
    std::set<std::string> real;                         // kernels, by any, that do something
    std::set<std::pair<Arch, std::string>> once;        // defined for an arch that it was linked for,
    std::set<std::string> twice;                        // and in several objects
    bool names_whole = true, all_read = true;
    std::vector<Meant> meant;  // one of each kind and arch
    bool holds_ltoir = false;  // so that the linker left unnamed variables out, too
    std::uint64_t kernels = 0, variables = 0;
    std::string kernel, variable;           // one of them
    std::vector<bool> is_runtime;           // by part
    std::vector<std::string> absent;        // ids of objects that are not there
    std::vector<Arch> archs;                // that the linked fat binaries have SASS for
    bool any_lacks = false;                 // an object has no image for one of them
    std::vector<std::string> linked_names;  // of kernels and variables, where any_lacks
    struct Lack {
      std::size_t part = 0;
      LeftOut left_out;
      std::map<Arch, KernelGaps> of_ptx;  // of the archs that nvlink made of the object's PTX
    };
    std::vector<Lack> lacks;
    // Where `obeyed_lists` tell: what host code may name, and the first object that has it for an arch of the
    // link.
    struct Offer {
      std::size_t part = 0;
      bool kernel = false;  // else a variable
      bool alone = true;    // no other object has it
    };
    std::map<std::pair<Arch, std::string>, Offer> offered;
    std::map<std::size_t, LeftOut> offering;  // by part, without names
    std::optional<LeftOut> first_linked;      // the first that the link made, likewise
  };
  const Fatbin& fatbin(FatbinRef ref) const { return code_.objects[ref.object].fatbins[ref.fatbin]; }
  void note_part(std::size_t link, std::size_t part, const DeviceObject& object, const FatbinCode& code);
  void note_linked(std::size_t link, const DeviceObject& object, const FatbinCode& code);
  void note_meant(std::size_t link, const FatbinCode& code);
  void note_offered(std::size_t link, std::size_t part, const DeviceObject& object, const FatbinCode& code);
  std::vector<LeftOut> unread(std::size_t link, Arch linked) const;
  std::optional<LeftOut> unread_ltoir(std::size_t link, Arch linked) const;

  const DeviceCode& code_;
  std::vector<Link> links_;
  std::map<std::pair<std::size_t, std::size_t>, LinkRole> roles_;
  std::set<std::string> names_of_all_links_;  // kernels and variables, by all links
  mutable std::map<std::pair<std::size_t, Arch>, std::vector<LeftOut>> unread_;  // as far as it was asked for
};

// How a driver answers to a device link without any code for the device, behind a reason.
std::string what_was_recorded();

// What one class of devices makes of the file's links.
class LinkJudge {
 public:
  // `links`, `device` and `policy` outlive it. `counts`: fill Outcome::got.
  LinkJudge(const DeviceLinks& links, const Device& device, const JudgePolicy& policy, bool counts = false)
      : links_(links),
        device_(device),
        policy_(policy),
        counts_(counts),
        objects_(links.size()),
        runtimes_(links.size()),
        toolkits_(links.size()) {}

  // Where a message points.
  struct Subject {
    FatbinPlace place;
    std::string where, found;
  };
  struct Gap {
    Subject subject;
    std::string image;
    KernelGaps names;
    std::size_t link = 0;
    std::vector<std::string> unnamed;  // variables
    Arch arch = {};                    // of the image
    DeviceLinks::Needless needless = {};
    bool only_of_ltoir = false;  // what was linked of LTO-IR has it, and no image to link again has
  };
  // A fat binary that a device link made, and what comes of it.
  struct Outcome {
    std::size_t link = 0;
    Subject subject;
    std::uint64_t kernels = 0, variables = 0;
    std::uint64_t unlaunchable = 0;  // of these, which nothing registers
    std::string kernel, variable;    // one of them
    KernelSum got;                   // where it is linked when it is loaded
    Judgement judgement;
    bool counted = false;              // judged by itself; its objects only add to that
    std::optional<Arch> taken;         // SASS of this arch is taken, with kernels or without
    std::optional<std::string> lacks;  // the object without the plain PTX that is required
    std::vector<DeviceLinks::LeftOut> left_out;
    std::vector<Gap> gaps;  // kernels that an object has, but not in the image that is linked
    std::vector<std::string> kernels_of_ltoir, variables_of_ltoir;  // all, where the link has LTO-IR
    std::string change;  // what mends it where building for the device does not: nvlink refuses that, too
  };

  // A relocatable fat binary of a link. `name` is its object in words.
  void add_part(std::size_t link, const std::string& name, const DeviceObject& object,
                const FatbinCode& code);
  // What a link made. Returns its verdict where that does not depend on its objects.
  std::optional<Judgement> add_linked(std::size_t link, const DeviceObject& object, const FatbinCode& code);
  // Of an image that the link made, which is taken: what it lacks shows when all of the file was read.
  void add_gaps(std::size_t link, Subject subject, const FatbinEntry& image, KernelGaps gaps);
  // Once all of the file was read.
  std::vector<Outcome> finish();
  std::vector<Gap> lacking();

 private:
  // Of the objects of a link, or of the device runtime that it may do without.
  struct Answer {
    std::optional<Judgement> bad;  // of the first object that keeps the driver from linking
    std::string name, found;       // of that object
    std::size_t more = 0;          // objects like it
    std::size_t fitting = 0;
    // With `counts`, the kernels of all images, and whether those of the images that are taken do something:
    // each once, however many objects hold it.
    std::set<std::string> held;
    std::map<std::string, bool> taken;
    std::optional<Version> needs_driver;
    std::vector<Gap> gaps;
    std::set<std::string> defined;              // by the images that are taken
    std::map<std::string, std::string> wanted;  // by them, and the object
    std::set<std::string> surely, perhaps;      // of these, as LinkNames has it
    std::multimap<std::string, std::string> through;
    std::size_t through_bytes = 0;
    std::map<std::string, std::uint64_t> constants;  // of them, and their bytes
    std::map<std::string, std::string> once;         // by them, and the object
    std::string twice;                 // one of those that another object defines, too, in words
    std::vector<LinkedShared> shared;  // of them
    std::set<std::string> names;       // kernels and variables of them, where the link has LTO-IR, and
    std::string image;                 // the first of them
    bool exact = true;                 // all of them are for the very device
  };
  void note_toolkit(std::size_t link, const FatbinCode& code);
  std::optional<Arch> sass_taken(const FatbinCode& code, const Judgement& judgement) const;
  Judgement relink(std::size_t link) const;
  struct Unresolved {
    std::string object, name;
    bool elsewhere = false;  // defined by an image that is not taken; else by none
    bool surely = true;      // else the linker may leave out what wants it
    bool runtime = false;    // it is libcudadevrt's
  };
  std::optional<Unresolved> unresolved(std::size_t link) const;
  void add_constants(Answer& answer, const ImageKernels& code) const;
  void add_once(std::size_t link, Answer& answer, const std::string& object, const ImageKernels& code) const;
  void refuse_unresolved(std::size_t link, const std::string& again, Judgement& judgement) const;
  void refuse_definitions(std::size_t link, const std::string& again, Judgement& judgement) const;
  void refuse_shared(std::size_t link, const std::string& again, Judgement& judgement) const;
  std::uint64_t constants(std::size_t link) const;
  std::string change_for(std::size_t link) const;
  std::optional<Gap> gap_of_ltoir(const Outcome& outcome) const;
  void decide(Outcome& outcome) const;
  KernelSum got(const Outcome& outcome) const;

  const DeviceLinks& links_;
  const Device& device_;
  const JudgePolicy& policy_;
  const bool counts_;
  std::vector<Answer> objects_, runtimes_;  // by link
  std::vector<Version> toolkits_;           // by link, the newest that made one of its images; 0.0 if untold
  std::vector<Outcome> linked_;
  std::vector<Gap> gaps_;  // of images that links made
};

inline constexpr Version kFirstToLinkRuntime{13, 2};

// nvJitLink 13.2 to 13.5 link the libcudadevrt of CUDA 13.0 for sm_87 and sm_88, which it has no code for,
// and 13.0 and 13.1 refuse to; so do nvlink 13.5 and 13.0. Without a driver that is told it may be a newer
// one.
bool may_link_runtime_of_others(const Device& device);

// Of libcudadevrt by itself (DeviceLinks::is_runtime), without code for the device: nobody can build it anew.
Fix fix_of_runtime(ComputeCapability device);

LinkJudge::Subject subject_of(const DeviceObject& object, const FatbinCode& code);

// The image that nvlink takes for this arch: SASS before PTX, the nearest; null where that is not known.
const Image* image_linked_for(const FatbinCode& code, Arch linked);

}  // namespace archguard
