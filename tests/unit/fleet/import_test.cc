// What several sources, hostile ones and long ones become.
#include <doctest/doctest.h>

#include "base/text.h"
#include "base/text_source.h"
#include "device/fleet.h"
#include "fleet/gaps.h"
#include "fleet/sources.h"

using namespace archguard;
using namespace archguard::fleet;

namespace {

// The fleet, and its notes or the error, a line each.
std::string imported(const std::vector<std::string>& texts) {
  FleetBuilder builder(false);
  int number = 0;
  for (const std::string& text : texts) {
    const std::string file = "f" + std::to_string(++number);
    if (const auto read = import_text(text, file, "", builder); !read)
      return read.error().text() + "; " + read.error().fix;
  }
  return held_text(FleetText(builder.devices(), FleetColumns::told)) + join(builder.notes(), "\n");
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string node(const std::string& name, const std::string& labels, const std::string& capacity = "") {
  return R"({"kind": "Node", "metadata": {"name": ")" + name + R"(", "labels": {)" + labels +
         R"(}}, "status": {"capacity": {)" + capacity + "}}}";
}

}  // namespace

TEST_CASE("Lists of hosts in many lines name no more than one") {
  std::string text;
  for (int i = 0; i < 4; ++i) text += "a" + std::to_string(i) + "[1-300000] gpu:l4:1\n";
  const std::string said = imported({text});
  CHECK_MESSAGE(has(said, "f1:4: more than a million hosts are named"), said);
  CHECK(has(imported({"a[1-600000] (null)\n", "b[1-600000] (null)\n"}), "f2:1: more than a million hosts"));
}

TEST_CASE("A Gres that many hosts share is bounded as their names are") {
  const std::string type(20000, 'x');
  CHECK(has(imported({"a[1-9000] gpu:" + type + ":1\n"}), "f1:1: the names of hosts take more than 64 MiB"));
  std::string many = "gpu:a:1";
  for (int i = 0; i < 2000; ++i) many += ",gpu:t" + std::to_string(i) + ":1";
  CHECK(has(imported({"a[1-900] " + many + "\n"}), "f1:1: more than a million hosts"));
  std::string listed = "a1";
  for (int i = 2; i < 9000; ++i) listed += ",a" + std::to_string(i);
  CHECK(has(imported({listed + " gpu:" + type + ":1\n"}), "f1:1: the names of hosts take more than 64 MiB"));
}

TEST_CASE("A count that is no number is no GPU") {
  for (const char* gres : {"gpu:l4:2000000", "gpu:l4:8x", "gpu:l4:", "gpu:2000000"}) {
    CAPTURE(gres);
    const std::string what = "the count in '" + std::string(gres) + "' is no number up to 1000000";
    CHECK(has(imported({"n1 " + std::string(gres) + "\n"}), "f1:1: " + what));
    const std::string nodes = "NodeName=a\n  Gres=" + std::string(gres) + "\n\nNodeName=b\n  Gres=(null)\n";
    CHECK(has(imported({nodes}), "f1:2: " + what));
  }
  CHECK(has(imported({"n1 gpu:l4\n"}), "l4, 8.9, 1\n"));
  CHECK(has(imported({"n1 gpu\n", "NodeName=n2 Gres=gpu\n"}), "f1"));
}

TEST_CASE("GPUs without a UUID are others in each file") {
  const std::string one = "DetectedGPUs=CUDA0\nCUDACapability=8.9\nCUDADeviceName=\"NVIDIA L4\"\n";
  const std::string other = "DetectedGPUs=CUDA0\nCUDACapability=7.5\nCUDADeviceName=\"Tesla T4\"\n";
  CHECK(imported({one, other}) == "name, compute_cap, count\nNVIDIA L4, 8.9, 1\nTesla T4, 7.5, 1\n" +
                                      std::string("2 of 2 GPUs without a driver: errors 35 and 222 cannot be "
                                                  "judged; add the column driver_version or driver_cuda"));
  CHECK(has(imported({one, one}), "NVIDIA L4, 8.9, 2\n"));
  const std::string with_uuid = one + "CUDA0DeviceUuid=\"aaaa\"\n";
  CHECK(has(imported({with_uuid, with_uuid}), "NVIDIA L4, 8.9, 1\n"));
}

TEST_CASE("One note tells of all places, in letters that do nothing") {
  std::string scontrol;
  for (int i = 0; i < 1000; ++i) scontrol += "NodeName=gpu" + std::to_string(i) + " Gres=gpu:4\n";
  const std::string said = imported({scontrol});
  CHECK_MESSAGE(
      has(said, "f1: node gpu0 and 999 others: Slurm gives no type for these GPUs: name types in gres.conf"),
      said);
  CHECK_FALSE(has(said, "gpu1:"));
  const std::string bare = R"("nvidia.com/gpu": "2")";
  const std::string both = imported({"[" + node("a\\u001b[2J", "", bare) + "," + node("b", "", bare) + "]"});
  CHECK_MESSAGE(has(both, "f1: [0] (node a\\x1b[2J) and 1 other: no label describes the NVIDIA GPUs"), both);
  CHECK(both.find('\x1b') == std::string::npos);
}

namespace {

std::string slice(const std::string& name, int generation, const std::string& driver,
                  const std::string& uuids, int slices = 1) {
  std::string devices;
  for (const char uuid : uuids)
    devices +=
        std::string(devices.empty() ? "" : ",") +
        R"({"attributes": {"productName": {"string": "NVIDIA A100-PCIE-40GB"}, "uuid": {"string": "GPU-)" +
        uuid + R"("}, "cudaComputeCapability": {"version": "8.0.0"}, "driverVersion": {"version": ")" +
        driver + "\"}}}";
  return R"({"kind": "ResourceSlice", "metadata": {"name": ")" + name +
         R"("}, "spec": {"driver": "gpu.nvidia.com", "nodeName": "n", "pool": {"name": "n", "generation": )" +
         std::to_string(generation) + R"(, "resourceSliceCount": )" + std::to_string(slices) +
         R"(}, "devices": [)" + devices + "]}}";
}

}  // namespace

TEST_CASE("Of a pool's slices those of the highest generation count") {
  const std::string older = slice("a", 1, "580.95.5", "12"), newer = slice("b", 2, "550.54.15", "1");
  for (const std::string& text : {"[" + older + "," + newer + "]", "[" + newer + "," + older + "]"}) {
    const std::string said = imported({text});
    CHECK_MESSAGE(has(said, "NVIDIA A100-PCIE-40GB, 8.0, 550.54.15, 1\n"), said);
    CHECK_FALSE(has(said, "580.95"));
  }
  const std::string said = imported({"[" + slice("a", 3, "580.95.5", "1", 2) + "]"});
  CHECK_MESSAGE(has(said, "not all of its slices are here"), said);
  CHECK(has(said, "[N/A]"));
  CHECK_FALSE(
      has(imported({"[" + slice("a", 3, "580.95.5", "1", 2) + "," + slice("b", 3, "580.95.5", "2", 2) + "]"}),
          "[N/A]"));
}

TEST_CASE("A node whose labels count no GPU and describe one has one") {
  const std::string said = imported({node(
      "a", R"("nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-INVALID", "nvidia.com/gpu.count": "0",
      "nvidia.com/gpu.replicas": "0", "nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.compute.minor": "0")")});
  CHECK_MESSAGE(has(said, "NVIDIA-H100-80GB-HBM3, 9.0"), said);
  CHECK(has(said, "gpu.count is 0 beside labels of a GPU"));
}

TEST_CASE("One GPU with two drivers or capabilities is an error") {
  const std::string header = "name, compute_cap, driver_version, uuid\n",
                    first = "T4, 7.5, 580.95.05, GPU-1\n";
  const std::string driver = imported({header + first + "T4, 7.5, 470.57.02, GPU-1\n"});
  CHECK_MESSAGE(
      has(driver, "the same GPU was told before with the driver '580.95.05', and here with '470.57.02'"),
      driver);
  CHECK(has(imported({header + first, header + "T4, 8.0, 580.95.05, GPU-1\n"}),
            "with the compute capability '7.5'"));
  CHECK_FALSE(has(imported({header + first + "T4, 7.5, , GPU-1\n"}), "told before"));
}

TEST_CASE("The CUDA of cuda-compat is left out of a GeForce") {
  const auto of_container = [](const std::string& name) {
    return "<nvidia_smi_log><driver_version>535.183.01</driver_version><cuda_version>13.0</cuda_version>"
           "<gpu id=\"00000000:01:00.0\"><product_name>" +
           name + "</product_name><uuid>GPU-1</uuid></gpu></nvidia_smi_log>";
  };
  const auto told = [&](const std::string& name) { return imported({of_container(name)}); };
  const std::string fleet = told("NVIDIA GeForce RTX 3090");
  CHECK_MESSAGE(has(fleet,
                    "CUDA 13.0 is cuda-compat's, which 'NVIDIA GeForce RTX 3090' does not run (error 804 in "
                    "that container): left out, driver 535.183.01 counts"),
                fleet);
  CHECK_FALSE(has(fleet, ",13.0"));
  const std::string host =
      "name, compute_cap, driver_version, driver_cuda, uuid\nNVIDIA GeForce RTX 3090, 8.6, "
      "535.183.01, 12.2, GPU-1\n";
  CHECK_FALSE(has(imported({host, of_container("NVIDIA GeForce RTX 3090")}), "told before"));
  CHECK(has(told("NVIDIA A100-SXM4-40GB"), "13.0"));
}

TEST_CASE("A Gres that nothing consumes counts as another") {
  CHECK(has(imported({"NodeName=a Gres=gpu:nvidia_l4:no_consume:4\n"}), ", 4\n"));
}

TEST_CASE("A capacity that is no number is the kubelet's, not a label's") {
  const std::string said = imported({node("a", "", R"("nvidia.com/gpu": "two")")});
  CHECK_MESSAGE(has(said, "the capacity nvidia.com/gpu is 'two', expected a number"), said);
  CHECK(has(said, "device plugin"));
  CHECK_FALSE(has(said, "gpu-feature-discovery"));
}

TEST_CASE("A table without compute_cap has its own lines in messages") {
  const std::string table = "# from R470\n\nname, driver_version\n\"NVIDIA\nL4\", 470.82.01\nTesla T4, new\n";
  const std::string said = imported({table});
  CHECK_MESSAGE(has(said, "f1:6: driver_version is 'new'"), said);
  CHECK(has(imported({"gpu_name\nNVIDIA L4\nName\nTesla T4\n"}), "NVIDIA L4, 8.9, 1\nTesla T4, 7.5, 1\n"));
  CHECK(has(imported({"name, compute_capability\nX, 9.0\n"}), "rename it to compute_cap"));
  CHECK_FALSE(parse_fleet("name\nNVIDIA L4\n", "f").ok());
}

TEST_CASE("A label's value holds line ends and quotes") {
  const std::string metric = R"(DCGM_FI_DEV_GPU_UTIL{UUID="GPU-1",modelName="a\nb \"c\" \\n"} 0)";
  CHECK(has(imported({metric + "\n"}), R"("a\nb ""c"" \n", [N/A], 1)"));
}

TEST_CASE("MIG profiles of every spelling are instances") {
  for (const char* type : {"1g.5gb", "a100_1g.5gb", "1g.10gb+me"})
    CHECK_MESSAGE(has(imported({"n1 gpu:" + std::string(type) + ":7\n"}), ", 7, Enabled"), type);
  CHECK_FALSE(has(imported({"n1 gpu:big.ngb:7\n"}), "Enabled"));
}

TEST_CASE("YAML whose reading would take long is refused") {
  std::string tags;
  for (int i = 0; i < 101; ++i) tags += "%TAG !a" + std::to_string(i) + "! tag:x:\n";
  CHECK(has(imported({tags + "---\nkind: Node\n"}), "f1: has more than 100 %TAG"));
  CHECK(has(imported({"%TAG !a! tag:x:\n---\nkind: Node\n" +
                      std::string("metadata: {labels: {nvidia.com/gpu.product: ") + "NVIDIA-L4}}\n"}),
            "NVIDIA-L4, 8.9, 1\n"));
  CHECK(has(imported({"kind: Node\na: " + std::string(200, '[')}), "f1:2: is nested deeper than 100 levels"));
}

TEST_CASE("A product is looked for once a name") {
  ProductLookup products;
  const ProductMatch& first = products.find("NVIDIA L4");
  REQUIRE(first.product != nullptr);
  CHECK(&products.find("NVIDIA L4") == &first);
  CHECK(products.find("nothing").product == nullptr);
  CHECK(products.find("").product == nullptr);
}

TEST_CASE("Lines of one gap are counted together, and three described") {
  std::string text = "name, compute_cap, driver_version\n";
  for (int i = 0; i < 10; ++i) text += "Mystery, [N/A], \nNVIDIA L4, 8.9, \n";
  const auto fleet = parse_fleet(text, "f");
  REQUIRE(fleet.ok());
  const auto gaps = gaps_of(*fleet);
  REQUIRE(gaps.size() == 2);
  for (const FleetGap& gap : gaps) {
    CHECK(gap.lines == 10);
    CHECK(gap.devices.size() == 3);
  }
}
