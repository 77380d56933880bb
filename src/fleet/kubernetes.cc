// Nodes with the labels of GPU Feature Discovery, and ResourceSlices of NVIDIA's driver for dynamic resource
// allocation: what `kubectl get … -o json` or -o yaml prints, a list or single objects. Names of labels:
// NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery/README.md. Names of attributes:
// kubernetes-sigs/dra-driver-nvidia-gpu, reference of resourceslice attributes.
#include <algorithm>
#include <map>
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "base/version.h"
#include "fleet/document.h"
#include "fleet/sources.h"
#include "fleet/texts.h"

namespace archguard::fleet {
namespace {

constexpr const char kLabel[] = "nvidia.com/";
constexpr const char kGpus[] = "nvidia.com/gpu";  // the resource, and those of MIG's strategy "mixed"
constexpr const char kMigs[] = "nvidia.com/mig-";
constexpr const char kNode[] = "Node", kSlice[] = "ResourceSlice";
constexpr const char kDriver[] = "gpu.nvidia.com";
constexpr std::uint64_t kMostOfNode = 1'000'000;

// What is read of an object.
struct Item {
  std::string kind, name, node_name, driver, pool, generation, slices, gpus;
  bool migs = false;
  Texts labels;
  std::vector<Texts> devices;  // attributes by name
};

// The slices of a pool: those of the highest generation alone are true, and only where all of them are there
// (Kubernetes, resource.k8s.io ResourcePool).
struct Pool {
  std::uint64_t generation = 0, expected = 0, slices = 0;
  std::vector<ReportedGpu> gpus;
};

class KubernetesReader final : public DocumentHandler {
 public:
  // `only`: the kind that is read, or empty for both.
  // `cut_is_valid`: the document may have lost its end without an error.
  KubernetesReader(const std::string& file, FleetBuilder& fleet, std::string only, bool cut_is_valid)
      : file_(file), fleet_(fleet), only_(std::move(only)), cut_is_valid_(cut_is_valid) {}

  void begin_object() override { begin(false); }
  void begin_list() override { begin(true); }
  void key(std::string& text) override { frames_.back().key.swap(text); }
  void value(std::string& text) override {
    if (!frames_.empty() && (frames_.size() > 1 || !frames_[0].is_list)) take(text);
    count_element();
  }
  Status end() override {
    const std::size_t base = item_base();
    const bool ends_item = frames_.size() == base + 1 && !frames_.back().is_list;
    Status status = ends_item ? finish(base) : Done{};
    frames_.pop_back();
    count_element();
    return status;
  }

  // What was only told by all slices together.
  Status add_pools() {
    for (auto& [name, pool] : pools_) ARCHGUARD_CHECK(add_pool(name, std::move(pool)));
    return Done{};
  }

  // Where nothing was of a kind that is known.
  Status check_something_read() const {
    if (read_ > 0) return Done{};
    const std::string fix = "kubectl get nodes -o json, or: kubectl get resourceslices -o json";
    if (other_.empty()) return Error{file_, "lists nothing", fix};
    return Error{
        file_,
        (only_.empty() ? "holds no Node and no ResourceSlice, but " : "holds no " + only_ + ", but ") +
            excerpt(other_, 60),
        fix};
  }

 private:
  struct Frame {
    bool is_list;
    std::string key;
    std::size_t index = 0;
  };

  void begin(bool is_list) {
    frames_.push_back({is_list, {}, 0});
    if (frames_.size() == 1) {
      has_items_ = is_list;
      has_kind_ = false;
    }
    if (is_list && frames_.size() == 2 && frames_[0].key == "items") has_items_ = true;
    if (!is_list && frames_.size() == item_base() + 1) item_ = {};
  }

  void count_element() {
    if (!frames_.empty() && frames_.back().is_list) ++frames_.back().index;
  }

  // The frame of the object that is a node or slice: in a list, in the `items` of one, or the document.
  std::size_t item_base() const {
    if (frames_[0].is_list) return 1;
    return frames_.size() > 1 && frames_[1].is_list && frames_[0].key == "items" ? 2 : 0;
  }

  // Keys below the object, and whether there are so many.
  bool is_at(std::size_t base, std::initializer_list<const char*> keys) const {
    if (frames_.size() < base + keys.size()) return false;
    std::size_t i = base;
    for (const char* key : keys) {
      if (*key != '*' && (frames_[i].is_list || frames_[i].key != key)) return false;
      ++i;
    }
    return true;
  }

  void take(std::string& text) {
    const std::size_t base = item_base();
    if (frames_.size() <= base) return;
    const std::size_t depth = frames_.size() - base;
    const std::string& key = frames_.back().key;
    if (frames_.size() == 1 && key == "kind") has_kind_ = true;
    if (depth == 1 && key == "kind") item_.kind.swap(text);
    if (is_at(base, {"metadata"})) {
      if (depth == 2 && key == "name") item_.name.swap(text);
      if (depth == 3 && is_at(base, {"metadata", "labels"}) && starts_with(key, kLabel))
        item_.labels[key].swap(text);
    } else if (depth == 3 && is_at(base, {"status", "capacity", kGpus})) {
      item_.gpus.swap(text);
    } else if (depth == 3 && is_at(base, {"status", "capacity"}) && starts_with(key, kMigs)) {
      item_.migs |= text != "0";
    } else if (is_at(base, {"spec"})) {
      take_of_slice(base, depth, key, text);
    }
  }

  void take_of_slice(std::size_t base, std::size_t depth, const std::string& key, std::string& text) {
    if (depth == 2 && key == "nodeName") item_.node_name.swap(text);
    if (depth == 2 && key == "driver") item_.driver.swap(text);
    if (depth == 3 && is_at(base, {"spec", "pool", "name"})) item_.pool.swap(text);
    if (depth == 3 && is_at(base, {"spec", "pool", "generation"})) item_.generation.swap(text);
    if (depth == 3 && is_at(base, {"spec", "pool", "resourceSliceCount"})) item_.slices.swap(text);
    if (depth < 4 || !is_at(base, {"spec", "devices", "*"}) || !frames_[base + 2].is_list) return;
    const std::size_t index = frames_[base + 2].index;
    if (index >= item_.devices.size()) item_.devices.resize(index + 1);
    Texts& device = item_.devices[index];
    // devices[i].attributes.NAME.TYPE, and devices[i].basic.attributes.NAME.TYPE of older versions
    for (const std::size_t at : {base + 3, base + 4}) {
      if (frames_.size() != at + 3 || frames_[at].key != "attributes") continue;
      if (at == base + 4 && frames_[base + 3].key != "basic") continue;
      std::string name = frames_[at + 1].key;
      const std::string prefix = std::string(kDriver) + "/";
      if (starts_with(name, prefix)) name.erase(0, prefix.size());
      device[name].swap(text);
    }
  }

  std::string place(std::size_t base) const {
    std::string place;
    if (base > 0) place = (base == 2 ? "items[" : "[") + std::to_string(frames_[base - 1].index) + "]";
    const std::string name =
        item_.name.empty() ? "" : (item_.kind == kSlice ? "slice " : "node ") + item_.name;
    return place.empty() ? name : name.empty() ? place : place + " (" + name + ")";
  }

  Error error(std::size_t base, const std::string& what, std::string fix) const {
    return {file_ + ": " + printable(place(base)), what, std::move(fix)};
  }

  Status finish(std::size_t base) {
    if (base == 0 && has_items_) {
      if (!cut_is_valid_ || has_kind_) return Done{};
      return Error{file_, "the list has no kind, which stands at its end: the YAML is cut short",
                   "write the file again, to its end"};
    }
    const bool wanted = only_.empty() || item_.kind == only_;
    if (wanted && (item_.kind == kNode || item_.kind == kSlice)) {
      ++read_;
      fleet_.begin(file_, item_.kind == kNode ? "kubernetes" : "dra");  // one host in both would count twice
      return item_.kind == kNode ? add_node(base) : add_slice(base);
    }
    if (other_.empty()) other_ = item_.kind.empty() ? "objects without a kind" : item_.kind;
    return Done{};
  }

  // A number that a label holds, or nothing where there is none.
  Result<std::uint64_t> number(std::size_t base, const std::string& name, const std::string& text,
                               std::uint64_t without, const std::string& fix) const {
    if (text.empty()) return without;
    if (const auto number = parse_number(text, kMostOfNode)) return *number;
    return error(base, name + " is '" + excerpt(text, 40) + "', expected a number", fix);
  }

  Result<std::uint64_t> number_of_label(std::size_t base, const std::string& name) const {
    return number(base, kLabel + name, label(name), 1, "restart gpu-feature-discovery on that node");
  }

  std::string label(const std::string& name) const { return text_of(item_.labels, kLabel + name); }

  // "9" and "0" become "9.0". One without the other is an error.
  Result<std::string> joined(std::size_t base, const std::string& prefix, const std::string& first,
                             const std::string& second, const std::string& third = "") const {
    const std::string a = label(prefix + first), b = label(prefix + second);
    if (a.empty() && b.empty()) return std::string();
    if (a.empty() || b.empty())
      return error(base,
                   "has the label " + (kLabel + prefix) + (a.empty() ? second : first) + " without ." +
                       (a.empty() ? first : second),
                   "restart gpu-feature-discovery on that node, or leave the node out: kubectl get nodes -l "
                   "nvidia.com/gpu.compute.minor -o json");
    const std::string c = third.empty() ? "" : label(prefix + third);
    return a + "." + b + (c.empty() ? "" : "." + c);
  }

  Status add_node(std::size_t base) {
    ReportedGpu gpu;
    gpu.host = item_.name;
    gpu.place = place(base);
    gpu.name = label("gpu.product");
    gpu.once = "labels";
    ARCHGUARD_TRY(offered,
                  number(base, std::string("the capacity ") + kGpus, item_.gpus, 0,
                         "restart NVIDIA's device plugin on that node, which tells it to the kubelet"));
    ARCHGUARD_TRY(capability, joined(base, "gpu.compute.", "major", "minor"));
    gpu.capability = capability;
    if (gpu.name.empty() && capability.empty()) {
      if (offered == 0 && !item_.migs && label("gpu.present") != "true") {
        fleet_.pass_over_host();
        return Done{};
      }
      gpu.count = std::max<std::uint64_t>(offered, 1);
      gpu.mig = item_.migs;
      fleet_.note(gpu, "no label describes the NVIDIA GPUs: gpu-feature-discovery does not run there");
      return fleet_.add(std::move(gpu));
    }
    ARCHGUARD_CHECK(take_driver(base, gpu));
    ARCHGUARD_TRY(count, number_of_label(base, "gpu.count"));
    ARCHGUARD_TRY(replicas, number_of_label(base, "gpu.replicas"));
    take_suffixes(gpu);
    gpu.count = std::max<std::uint64_t>(count, 1);
    if (count == 0)  // so it is with MIG-INVALID, where instances differ or none is made
      fleet_.note(gpu,
                  "gpu.count is 0 beside labels of a GPU, so it is listed as one: whether there are more is "
                  "not told");
    const std::uint64_t described = gpu.count * std::max<std::uint64_t>(replicas, 1);
    const ReportedGpu first = gpu;
    ARCHGUARD_CHECK(fleet_.add(std::move(gpu)));
    if (offered <= described || first.mig) return Done{};
    // Labels describe one model a node (NVIDIA/gpu-operator#334).
    fleet_.note(first,
                "offers more GPUs than its labels describe, which name one model per node: list the "
                "others by hand");
    ReportedGpu other;
    other.host = first.host;
    other.once = "others";
    other.place = first.place;
    other.driver_version = first.driver_version;
    other.driver_cuda = first.driver_cuda;
    other.count = (offered - described) / std::max<std::uint64_t>(replicas, 1);
    if (other.count == 0) other.count = 1;
    return fleet_.add(std::move(other));
  }

  Status take_driver(std::size_t base, ReportedGpu& gpu) {
    gpu.driver_version = label("cuda.driver-version.full");
    gpu.driver_cuda = label("cuda.runtime-version.full");
    if (gpu.driver_version.empty()) {
      ARCHGUARD_TRY(newer, joined(base, "cuda.driver-version.", "major", "minor", "revision"));
      ARCHGUARD_TRY(older, joined(base, "cuda.driver.", "major", "minor", "rev"));
      gpu.driver_version = newer.empty() ? older : newer;
    }
    if (gpu.driver_cuda.empty()) {
      ARCHGUARD_TRY(newer, joined(base, "cuda.runtime-version.", "major", "minor"));
      ARCHGUARD_TRY(older, joined(base, "cuda.runtime.", "major", "minor"));
      gpu.driver_cuda = newer.empty() ? older : newer;
    }
    return Done{};
  }

  // "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED": what time slicing and MIG add.
  static void take_suffixes(ReportedGpu& gpu) {
    constexpr std::string_view kShared = "-SHARED", kMig = "-MIG-";
    if (ends_with(gpu.name, kShared)) gpu.name.resize(gpu.name.size() - kShared.size());
    if (const auto mig = gpu.name.find(kMig); mig != std::string::npos) {
      gpu.name.resize(mig);
      gpu.mig = true;
    }
  }

  // Semantic versions drop the zeros that NVIDIA writes: 580.95.5 is 580.95.05.
  static std::string with_zeros(std::string version) {
    const auto last = version.rfind('.');
    const bool three = std::count(version.begin(), version.end(), '.') == 2;
    if (three && version.size() == last + 2 && version.back() != '0') version.insert(last + 1, "0");
    return version;
  }

  Status add_slice(std::size_t base) {
    if (item_.driver != kDriver) return Done{};
    const std::string fix = "write the file again: kubectl get resourceslices -o json";
    ARCHGUARD_TRY(generation, number(base, "spec.pool.generation", item_.generation, 0, fix));
    ARCHGUARD_TRY(expected, number(base, "spec.pool.resourceSliceCount", item_.slices, 1, fix));
    Pool& pool = pools_[item_.pool.empty() ? item_.name : item_.pool];
    if (generation < pool.generation) return Done{};
    if (generation > pool.generation) pool = {};
    pool.generation = generation;
    pool.expected = std::max(pool.expected, expected);
    ++pool.slices;
    for (std::size_t i = 0; i < item_.devices.size(); ++i) {
      const Texts& device = item_.devices[i];
      const std::string type = text_of(device, "type");
      ReportedGpu gpu;
      gpu.host = item_.node_name.empty() ? item_.pool : item_.node_name;
      gpu.place = place(base) + ": devices[" + std::to_string(i) + "]";
      if (type == "vfio") {
        fleet_.note(gpu, "passed through to virtual machines, whose driver is not told here: not listed");
        continue;
      }
      gpu.mig = type == "mig";
      gpu.name = text_of(device, "productName");
      gpu.capability = major_minor(text_of(device, "cudaComputeCapability"));
      gpu.driver_version = with_zeros(text_of(device, "driverVersion"));
      gpu.driver_cuda = major_minor(text_of(device, "cudaDriverVersion"));
      gpu.identity = text_of(device, gpu.mig ? "parentUUID" : "uuid");
      if (gpu.name.empty() && gpu.capability.empty())
        return error(base,
                     "devices[" + std::to_string(i) + "] has neither productName nor cudaComputeCapability",
                     fix);
      pool.gpus.push_back(std::move(gpu));
    }
    return Done{};
  }

  Status add_pool(const std::string& name, Pool pool) {
    for (ReportedGpu& gpu : pool.gpus) ARCHGUARD_CHECK(fleet_.add(std::move(gpu)));
    if (pool.slices >= pool.expected) return Done{};
    ReportedGpu untold;
    untold.place = "pool " + name;
    untold.host = name;
    untold.once = "untold";
    fleet_.note(untold, "not all of its slices are here: its other GPUs are listed as one that is not known");
    return fleet_.add(std::move(untold));
  }

  const std::string& file_;
  FleetBuilder& fleet_;
  std::string only_;
  std::vector<Frame> frames_;
  Item item_;
  bool cut_is_valid_;
  bool has_items_ = false, has_kind_ = false;  // of the document
  std::size_t read_ = 0;
  std::map<std::string, Pool> pools_;
  std::string other_;  // the first kind that is none of ours
};

bool begins_json(std::string_view text) {
  const std::string_view start = trim(text.substr(0, 256));
  return !start.empty() && (start[0] == '{' || start[0] == '[');
}

}  // namespace

bool is_kubernetes(std::string_view text) {
  if (begins_json(text)) return true;
  for (const char* line : {"apiVersion:", "items:", "kind:"})
    if (has_line_start(text, line)) return true;
  return false;
}

namespace {

Status read_objects(std::string_view text, const std::string& file, FleetBuilder& fleet, const char* only) {
  const bool json = begins_json(text);
  KubernetesReader reader(file, fleet, only, !json);
  ARCHGUARD_CHECK((json ? read_json : read_yaml)(text, file, reader));
  ARCHGUARD_CHECK(reader.check_something_read());
  ARCHGUARD_CHECK(reader.add_pools());
  fleet.note_drivers_of_hosts();
  return Done{};
}

}  // namespace

Status read_kubernetes(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  return read_objects(text, file, fleet, "");
}

Status read_dra(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  return read_objects(text, file, fleet, kSlice);
}

}  // namespace archguard::fleet
