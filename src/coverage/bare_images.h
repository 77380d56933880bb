#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "compat/told_archs.h"
#include "coverage/fatbin_code.h"
#include "coverage/gcc_modules.h"

namespace archguard {

// Does this bare image (Fatbin::bare) ask for something? A relocatable cubin, which no driver loads by
// itself, and PTX for OptiX do not.
bool asks_as_embedded(const FatbinCode& code);

// The images that one file holds as data, without regard to devices. Filled while its fat binaries are read;
// what is kept of an image is its kind, its place and the names of its kernels.
//
// Images that share a kernel are taken for one module, of which the program loads the one that fits. Images
// that share none, directly or by way of others, are distinct modules: each is loaded for kernels of its own.
class BareImages {
 public:
  struct Item {
    std::size_t kind = 0;  // index into kinds()
    std::string place;     // for messages
    std::string kernel;    // one of its kernels, mangled; empty where none is known
  };
  struct Kernel {
    std::vector<std::size_t> items;  // that hold it
    std::size_t module = 0;
    // Architectures that its name tells, where all images that hold it are of those: so libraries name what
    // they launch there alone.
    std::vector<ToldArchs> told;
    bool suffixed = false;          // images with an a or f suffix alone hold it
    bool perhaps_suffixed = false;  // likewise, but for cubins that do not tell their suffix
  };

  // `place` names it in messages. What asks for nothing is passed over. True where that is told by finish()
  // alone: `compiles_code`, the file compiles all that works, and loads a kernel that does nothing to ask the
  // driver something; but another image may hold more of the same kernel.
  bool add(const std::string& place, const FatbinCode& code, bool compiles_code);
  // Once all is read.
  void finish();

  const std::vector<Item>& items() const { return items_; }
  // Fat binaries of one image, each kind of image once: with the same two kernels, as without_names() says.
  const std::vector<FatbinCode>& kinds() const { return kinds_.all; }
  // Likewise of cubins that hold functions alone, which ask for nothing: tools put them into the kernels of
  // others (sanitizerPatchInstructions takes them by name).
  const std::vector<FatbinCode>& kinds_of_functions() const { return functions_.all; }
  // By mangled name.
  const std::map<std::string, Kernel>& kernels() const { return kernels_; }
  const std::map<std::size_t, std::vector<std::size_t>>& modules() const { return modules_; }
  // The items of a module, in order.
  const std::vector<std::size_t>& items_of(std::size_t module) const { return modules_.at(module); }

 private:
  void add_items(const std::string& place, const FatbinCode& code);
  void add_idle();
  std::size_t root_of(std::size_t item);

  struct Kinds {
    std::vector<FatbinCode> all;
    std::map<std::string, std::size_t> by_text;

    std::size_t of(const Image& image, const FatbinCode& code);
  };
  struct Idle {
    std::string place;
    FatbinCode code;
  };
  std::vector<Idle> idle_;
  GccModules gcc_;
  std::vector<Item> items_;
  Kinds kinds_, functions_;
  std::map<std::string, Kernel> kernels_;
  std::vector<std::size_t> above_;  // by item: another of its module, nearer to the root
  std::map<std::size_t, std::vector<std::size_t>> modules_;
};

}  // namespace archguard
