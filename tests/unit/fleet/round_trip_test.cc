// What a cluster writes and import reads is the same fleet, but for what the format cannot hold.
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>

#include "base/text.h"
#include "base/text_source.h"
#include "device/fleet.h"
#include "fleet/sources.h"

using namespace archguard;
using namespace archguard::fleet;

namespace {

struct Gpu {
  std::string name, capability, driver, cuda, host;
  int count;
};

// What a format holds of it.
struct Holds {
  bool capability = true, driver = true, cuda = true;
};

std::vector<Gpu> some_fleet(std::mt19937& random) {
  const std::vector<Gpu> kinds = {{"NVIDIA L4", "8.9", "580.95.05", "13.0", "", 1},
                                  {"NVIDIA A100-SXM4-40GB", "8.0", "535.183.06", "12.2", "", 4},
                                  {"NVIDIA H100 80GB HBM3", "9.0", "550.107.02", "12.4", "", 8},
                                  {"Tesla T4", "7.5", "470.82.01", "11.4", "", 2}};
  std::vector<Gpu> fleet;
  const std::size_t hosts = 1 + random() % 20;
  for (std::size_t i = 0; i < hosts; ++i) {
    Gpu gpu = kinds[random() % kinds.size()];
    gpu.host = "node" + std::to_string(i);
    gpu.count = static_cast<int>(1 + random() % 8);
    fleet.push_back(gpu);
  }
  return fleet;
}

std::string kubernetes(const std::vector<Gpu>& fleet) {
  std::string items;
  for (const Gpu& gpu : fleet) {
    const auto dot = gpu.capability.find('.');
    std::string product = gpu.name;
    for (char& letter : product)
      if (letter == ' ') letter = '-';
    items += (items.empty() ? "" : ",") + std::string("{\"kind\":\"Node\",\"metadata\":{\"name\":\"") +
             gpu.host + "\",\"labels\":{\"nvidia.com/gpu.product\":\"" + product +
             "\",\"nvidia.com/gpu.compute.major\":\"" + gpu.capability.substr(0, dot) +
             "\",\"nvidia.com/gpu.compute.minor\":\"" + gpu.capability.substr(dot + 1) +
             "\",\"nvidia.com/gpu.count\":\"" + std::to_string(gpu.count) +
             "\",\"nvidia.com/cuda.driver-version.full\":\"" + gpu.driver +
             "\",\"nvidia.com/cuda.runtime-version.full\":\"" + gpu.cuda + "\"}}}";
  }
  return "{\"kind\":\"List\",\"items\":[" + items + "]}";
}

// As kubectl writes it: keys in order, numbers in quotes.
std::string yaml(const std::vector<Gpu>& fleet) {
  std::string text = "apiVersion: v1\nitems:\n";
  for (const Gpu& gpu : fleet) {
    const auto dot = gpu.capability.find('.');
    std::string product = gpu.name;
    for (char& letter : product)
      if (letter == ' ') letter = '-';
    const auto label = [&](const char* name, const std::string& value) {
      text += std::string("      nvidia.com/") + name + ": " + value + "\n";
    };
    text += "- apiVersion: v1\n  kind: Node\n  metadata:\n    annotations:\n      note: |\n        kind: Pod\n"
            "    labels:\n";
    label("cuda.driver-version.full", gpu.driver);
    label("cuda.runtime-version.full", "\"" + gpu.cuda + "\"");
    label("gpu.compute.major", "\"" + gpu.capability.substr(0, dot) + "\"");
    label("gpu.compute.minor", "\"" + gpu.capability.substr(dot + 1) + "\"");
    label("gpu.count", "\"" + std::to_string(gpu.count) + "\"");
    label("gpu.product", product);
    text += "    name: " + gpu.host + "\n  spec: {}\n";
  }
  return text + "kind: List\nmetadata:\n  resourceVersion: \"\"\n";
}

std::string attribute(const char* name, const char* type, const std::string& value) {
  return std::string("\"") + name + "\":{\"" + type + "\":\"" + value + "\"}";
}

std::string slices(const std::vector<Gpu>& fleet) {
  std::string items;
  int number = 0;
  for (const Gpu& gpu : fleet) {
    std::string driver = gpu.driver;  // as semantic versions have it
    if (const auto zero = driver.rfind(".0"); zero == driver.size() - 3) driver.erase(zero + 1, 1);
    std::string devices;
    for (int i = 0; i < gpu.count; ++i)
      devices += (i > 0 ? "," : "") + std::string("{\"name\":\"gpu-") + std::to_string(i) +
                 "\",\"attributes\":{" + attribute("type", "string", "gpu") + "," +
                 attribute("productName", "string", gpu.name) + "," +
                 attribute("cudaComputeCapability", "version", gpu.capability + ".0") + "," +
                 attribute("driverVersion", "version", driver) + "," +
                 attribute("cudaDriverVersion", "version", gpu.cuda + ".0") + "," +
                 attribute("uuid", "string", "GPU-" + std::to_string(number++)) + "}}";
    items += (items.empty() ? "" : ",") + std::string("{\"kind\":\"ResourceSlice\",\"spec\":{\"driver\":") +
             "\"gpu.nvidia.com\",\"nodeName\":\"" + gpu.host + "\",\"devices\":[" + devices + "]}}";
  }
  return "{\"items\":[" + items + "],\"kind\":\"List\"}";
}

std::string slurm(const std::vector<Gpu>& fleet) {
  std::string text;
  for (const Gpu& gpu : fleet) {
    std::string type = to_lower(gpu.name);
    for (char& letter : type)
      if (letter == ' ') letter = '_';
    text += "NodeName=" + gpu.host + " Arch=x86_64\n   Gres=gpu:" + type + ":" + std::to_string(gpu.count) +
            "(S:0)\n\n";
  }
  return text;
}

std::string htcondor(const std::vector<Gpu>& fleet) {
  std::string ids, text;
  int number = 0;
  for (const Gpu& gpu : fleet)
    for (int i = 0; i < gpu.count; ++i) {
      const std::string id = std::to_string(number++);
      ids += (ids.empty() ? "GPU-" : ", GPU-") + id;
      text += "GPU_" + id + "=[ DeviceName=\"" + gpu.name + "\"; Capability=" + gpu.capability +
              "; DriverVersion=" + gpu.cuda + "0; DeviceUuid=\"" + id + "\"; ]\n";
    }
  return "DetectedGPUs=\"" + ids + "\"\n" + text;
}

std::string dcgm(const std::vector<Gpu>& fleet) {
  std::string text;
  int number = 0;
  for (const Gpu& gpu : fleet)
    for (int i = 0; i < gpu.count; ++i, ++number)
      for (const char* metric : {"DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_TEMP"})
        text += metric + std::string("{gpu=\"") + std::to_string(i) + "\",UUID=\"GPU-" +
                std::to_string(number) + "\",modelName=\"" + gpu.name + "\",Hostname=\"" + gpu.host +
                "\",DCGM_FI_DRIVER_VERSION=\"" + gpu.driver + "\"} 1\n";
  return text;
}

std::string list(const std::vector<Gpu>& fleet) {
  std::string text;
  int number = 0;
  for (const Gpu& gpu : fleet)
    for (int i = 0; i < gpu.count; ++i, ++number)
      text +=
          "GPU " + std::to_string(number) + ": " + gpu.name + " (UUID: GPU-" + std::to_string(number) + ")\n";
  return text;
}

std::string xml(const std::vector<Gpu>& fleet) {  // of the first host, as it is the machine's
  std::string gpus;
  for (int i = 0; i < fleet[0].count; ++i)
    gpus += "<gpu id=\"" + std::to_string(i) + "\"><product_name>" + fleet[0].name +
            "</product_name><uuid>GPU-" + std::to_string(i) + "</uuid></gpu>\n";
  return "<?xml version=\"1.0\" ?>\n<nvidia_smi_log><driver_version>" + fleet[0].driver +
         "</driver_version><cuda_version>" + fleet[0].cuda + "</cuda_version>" + gpus + "</nvidia_smi_log>\n";
}

std::string csv(const std::vector<Gpu>& fleet) {
  std::string text = "name, compute_cap, driver_version, driver_cuda, count, host\n";
  for (const Gpu& gpu : fleet)
    text += gpu.name + ", " + gpu.capability + ", " + gpu.driver + ", " + gpu.cuda + ", " +
            std::to_string(gpu.count) + ", " + gpu.host + "\n";
  return text;
}

// Counts by what the format holds; names as they are compared: in small letters, parted by blanks.
std::map<std::string, int> expected(const std::vector<Gpu>& fleet, Holds holds) {
  std::map<std::string, int> counts;
  for (const Gpu& gpu : fleet)
    counts[to_lower(gpu.name) + "|" + gpu.capability + "|" + (holds.driver ? gpu.driver : "") + "|" +
           (holds.cuda ? gpu.cuda : "")] += gpu.count;
  return counts;
}

std::map<std::string, int> found(const std::string& text) {
  FleetBuilder builder(false);
  const auto read = import_text(text, "t", "", builder);
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().text()));
  // What import writes is what select and verify read.
  const auto devices = parse_fleet(held_text(FleetText(builder.devices(), FleetColumns::told)), "fleet.csv");
  REQUIRE(devices.ok());
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < devices->size(); ++i) {
    const Device device = (*devices)[i];
    std::string name = to_lower(device.name);
    for (char& letter : name)
      if (letter == '_' || letter == '-') letter = ' ';
    counts[name + "|" + to_string(*device.capability) + "|" + device.driver_version + "|" +
           (device.driver_cuda && !device.cuda_by_branch ? to_string(*device.driver_cuda) : "")] +=
        device.count;
  }
  return counts;
}

std::map<std::string, int> plain(std::map<std::string, int> counts) {
  std::map<std::string, int> same;
  for (auto& [key, count] : counts) {
    std::string text = key;
    for (char& letter : text)
      if (letter == '-') letter = ' ';
    same[text] += count;
  }
  return same;
}

}  // namespace

TEST_CASE("What a format tells comes back") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    const auto fleet = some_fleet(random);
    CHECK(found(csv(fleet)) == plain(expected(fleet, {})));
    CHECK(found(kubernetes(fleet)) == plain(expected(fleet, {})));
    CHECK(found(yaml(fleet)) == plain(expected(fleet, {})));
    CHECK(found(slices(fleet)) == plain(expected(fleet, {})));
    CHECK(found(htcondor(fleet)) == plain(expected(fleet, {true, false, true})));
    CHECK(found(dcgm(fleet)) == plain(expected(fleet, {true, true, false})));
    CHECK(found(slurm(fleet)) == plain(expected(fleet, {true, false, false})));
    CHECK(found(list(fleet)) == plain(expected(fleet, {true, false, false})));
    CHECK(found(xml(fleet)) == plain(expected({fleet[0]}, {})));
  }
}

TEST_CASE("A text that is cut anywhere is an error or a smaller fleet, and never more") {
  std::mt19937 random(2);
  const auto fleet = some_fleet(random);
  int all = 0;
  for (const Gpu& gpu : fleet) all += gpu.count;
  for (const std::string& text : {kubernetes(fleet), yaml(fleet), slices(fleet), slurm(fleet),
                                  htcondor(fleet), dcgm(fleet), list(fleet), xml(fleet), csv(fleet)}) {
    for (std::size_t size = 0; size < text.size(); size += 1 + random() % 7) {
      FleetBuilder builder(true);
      (void)import_text(std::string_view(text).substr(0, size), "t", "", builder).ok();
      CHECK(builder.count() <= static_cast<std::uint64_t>(all));
    }
  }
}
