#include "device/fleet.h"

#include <doctest/doctest.h>
#include <string>

#include "device/exclusion.h"

using namespace archguard;

namespace {

std::vector<Device> devices_of(const std::string& text) {
  auto devices = parse_fleet(text, "fleet.csv");
  INFO((devices ? "" : devices.error().text()));
  REQUIRE(devices);
  std::vector<Device> all;
  for (std::size_t i = 0; i < devices->size(); ++i) all.push_back((*devices)[i]);
  return all;
}

std::string written(const DeviceList& devices) {
  return held_text(FleetText(devices));
}

// "where: what | fix"
std::string error_of(const std::string& text) {
  const auto devices = parse_fleet(text, "fleet.csv");
  return devices ? "no error" : devices.error().text() + " | " + devices.error().fix;
}

std::string described(const std::vector<Device>& devices) {
  std::string text;
  for (const auto& device : devices) text += (text.empty() ? "" : "; ") + describe(device);
  return text;
}

}  // namespace

TEST_CASE("what nvidia-smi prints is a fleet file") {
  const auto devices = devices_of(
      "name, compute_cap, driver_version, uuid\n"
      "NVIDIA A100-SXM4-80GB, 8.0, 535.104.05, GPU-1\n"
      "NVIDIA H100 80GB HBM3, 9.0, 535.104.05, GPU-2\n");
  CHECK(described(devices) ==
        "NVIDIA A100-SXM4-80GB (8.0, fleet.csv:2); NVIDIA H100 80GB HBM3 (9.0, fleet.csv:3)");
  CHECK(devices[0].driver_version == "535.104.05");
  CHECK(devices[0].uuid == "GPU-1");
  CHECK(to_string(devices[0].driver_cuda.value_or(Version{})) == "12.2");
  CHECK(devices[0].source.at("compute_capability") == "fleet");
}

TEST_CASE("a GeForce with the CUDA of cuda-compat is an error, another GPU or a driver near to it is not") {
  const auto told = [](const std::string& name, const std::string& driver) {
    return error_of("name, compute_cap, driver_version, driver_cuda\n" + name + ", " + driver + "\n");
  };
  CHECK(told("NVIDIA GeForce RTX 2080 Ti, 7.5", "450.102.04, 11.2") ==
        "fleet.csv:2: driver_cuda is 11.2, and driver 450.102.04 comes with CUDA 11.0: more is there with "
        "cuda-compat alone, which 'NVIDIA GeForce RTX 2080 Ti' does not run (error 804 in that container) | "
        "write 11.0, and take cuda-compat out of the container; or write the driver's version as it is now");
  for (const char* driver : {"450.102.04, 11.1", "430.26, 10.2", "580.95.05, 13.0", "620.10, 14.0"})
    CHECK(told("NVIDIA GeForce RTX 2080 Ti, 7.5", driver) == "no error");
  CHECK(told("NVIDIA TITAN RTX, 7.5", "450.102.04, 11.2") != "no error");
  for (const char* name : {"Tesla T4, 7.5", "titan-rack T4, 7.5"})
    CHECK(told(name, "450.102.04, 11.2") == "no error");
}

TEST_CASE("columns come in any order and letter case, with or without blanks, unknown ones stay") {
  const auto devices = devices_of("Rack,COMPUTE_CAP ,  name\nr7,7.5,T4\n");
  CHECK(described(devices) == "T4 (7.5, fleet.csv:2)");
  CHECK(devices[0].extra == std::map<std::string, std::string>{{"Rack", "r7"}});
}

TEST_CASE("a misspelt column is an error with its fix, unless the header has the right one too") {
  const auto fix_of = [](const std::string& column) { return error_of("compute_cap, " + column + "\n"); };
  CHECK(error_of("# ours\nname, compute_cap, Driver_Versoin\nT4, 7.5, 580.95.05\n") ==
        "fleet.csv:2: the header has no column driver_version, but 'Driver_Versoin' | rename it to "
        "driver_version");
  const std::pair<const char*, const char*> misspelt[] = {{"driver version", "driver_version"},
                                                          {"driverversion", "driver_version"},
                                                          {"driver-cuda", "driver_cuda"},
                                                          {"driver", "driver_version"},
                                                          {"cuda", "driver_cuda"},
                                                          {"CUDA_Version", "driver_cuda"},
                                                          {"CUDA Version", "driver_cuda"},
                                                          {"cudaversion", "driver_cuda"},
                                                          {"cuda_driver_version", "driver_cuda"},
                                                          {"driver_cuda_version", "driver_cuda"},
                                                          {"nvidia driver", "driver_version"},
                                                          {"driver_ver", "driver_version"},
                                                          {"Display Driver", "driver_version"},
                                                          {"pci.busid", "pci.bus_id"},
                                                          {"mig.mode.curent", "mig.mode.current"},
                                                          {"visibel", "visible"},
                                                          {"exclude", "excluded"},
                                                          {"exluded", "excluded"},
                                                          {"counts", "count"},
                                                          {"nmae", "name"},
                                                          {"hosts", "host"},
                                                          {"uid", "uuid"}};
  for (const auto& [written, meant] : misspelt)
    CHECK(fix_of(written) == "fleet.csv:1: the header has no column " + std::string(meant) + ", but '" +
                                 written + "' | rename it to " + meant);
  CHECK(error_of("compute_cap, driver_version, driver_versoin\n") == "no error");
  CHECK(error_of("compute_cap, driver_cuda, driver, cuda_version\n") == "no error");
  CHECK(error_of("compute_cap\n7.5\ncompute_cap, driver_cudaa\n") ==
        "fleet.csv:3: the header has no column driver_cuda, but 'driver_cudaa' | rename it to driver_cuda");
}

TEST_CASE(
    "a driver that stands in another column alone is an error in the line where the known one is empty") {
  const auto said = [](const std::string& column, const std::string& line) {
    return error_of("compute_cap, driver_version, " + column + "\n8.0, 535.1, 12.2\n" + line + "\n");
  };
  const auto error = [](const std::string& column, const std::string& known) {
    return "fleet.csv:3: the driver stands in the column '" + column +
           "' alone, which is not read | write it in a column " + known;
  };
  CHECK(said("cuda_version", "9.0,,12.2") == error("cuda_version", "driver_cuda"));
  CHECK(said("CUDA Version", "9.0, [N/A], 12.2") == error("CUDA Version", "driver_cuda"));
  CHECK(said("driver", "9.0,,580.95.05") == error("driver", "driver_version"));
  CHECK(said("cuda_version", "9.0,,") == "no error");
  CHECK(said("cuda_version", "9.0,, [N/A]") == "no error");
  CHECK(said("cuda_version", "9.0, 580.95.05, 12.2") == "no error");
  CHECK(said("team", "9.0,, 12.2") == "no error");
}

TEST_CASE("columns of others are kept: what nvidia-smi writes, and words near ours") {
  // nvidia-smi --help-query-gpu, without the fields that differ from one of these in their last part alone.
  for (const char* column : {"timestamp",
                             "driver_version",
                             "count",
                             "vgpu_driver_capability.heterogenous_multivGPU",
                             "vgpu_device_capability.fractional_multiVgpu",
                             "name",
                             "gpu_name",
                             "serial",
                             "gpu_serial",
                             "uuid",
                             "gpu_uuid",
                             "pci.bus_id",
                             "gpu_bus_id",
                             "pci.domain",
                             "pci.bus",
                             "pci.device",
                             "pci.baseClass",
                             "pci.subClass",
                             "pci.device_id",
                             "pci.sub_device_id",
                             "pcie.link.gen.current",
                             "pcie.link.gen.gpucurrent",
                             "pcie.link.gen.max",
                             "pcie.link.width.current",
                             "index",
                             "module_id",
                             "addressing_mode",
                             "display_mode",
                             "display_attached",
                             "display_active",
                             "persistence_mode",
                             "accounting.mode",
                             "accounting.buffer_size",
                             "driver_model.current",
                             "driver_model.pending",
                             "vbios_version",
                             "inforom.img",
                             "inforom.image",
                             "inforom.oem",
                             "inforom.ecc",
                             "inforom.pwr",
                             "inforom.power",
                             "inforom.checksum_validation",
                             "reset_status.reset_required",
                             "reset_status.drain_and_reset_recommended",
                             "gom.current",
                             "gpu_operation_mode.current",
                             "gom.pending",
                             "fan.speed [%]",
                             "pstate",
                             "clocks_event_reasons.supported",
                             "clocks_throttle_reasons.active",
                             "memory.total [MiB]",
                             "memory.reserved [MiB]",
                             "memory.used [MiB]",
                             "memory.free [MiB]",
                             "compute_mode",
                             "compute_cap",
                             "utilization.gpu [%]",
                             "encoder.stats.sessionCount",
                             "ecc.mode.current",
                             "ecc.mode.pending",
                             "ecc.errors.corrected.volatile.total",
                             "retired_pages.pending",
                             "remapped_rows.pending",
                             "temperature.gpu",
                             "temperature.memory",
                             "power.management",
                             "power.draw [W]",
                             "power.limit [W]",
                             "enforced.power.limit [W]",
                             "clocks.current.graphics [MHz]",
                             "clocks.gr",
                             "clocks.sm [MHz]",
                             "clocks.mem",
                             "clocks.video",
                             "mig.mode.current",
                             "mig.mode.pending",
                             "gsp.mode.current",
                             "gsp.mode.default",
                             "c2c.mode",
                             "protected_memory.total",
                             "fabric.state",
                             "fabric.status",
                             "platform.chassis_serial_number",
                             "platform.slot_number",
                             "platform.host_id",
                             "platform.module_id",
                             "dramEncryption.mode.current",
                             "hostname",
                             "node",
                             "Rack",
                             "cost",
                             "note",
                             "mode",
                             "model",
                             "guid",
                             "site",
                             "zone",
                             "date",
                             "amount",
                             "country",
                             "owner",
                             "cuda_cores",
                             "toolkit",
                             "version",
                             "vendor"}) {
    INFO(column);
    CHECK((std::string(column) == "compute_cap" ||
           error_of("compute_cap, " + std::string(column) + "\n") == "no error"));
  }
}

TEST_CASE("byte order mark, CR LF, comments, empty lines and a missing last line end do no harm") {
  CHECK(described(devices_of(
            "\xef\xbb\xbf# the cluster\r\nname, compute_cap\r\n\r\n  # old\r\nT4, 7.5\r\n\r\nL4, 8.9")) ==
        "T4 (7.5, fleet.csv:5); L4 (8.9, fleet.csv:7)");
  CHECK(described(devices_of("driver_cuda,compute_cap\n13.0,8.0\n"
                             "\xef\xbb\xbf"
                             "driver_cuda,compute_cap\n12.2,8.9\n")) ==
        "8.0 (fleet.csv:2); 8.9 (fleet.csv:4)");
  CHECK(devices_of("driver_cuda,compute_cap\n\xef\xbb\xbf"
                   "12.2,8.9\n")
            .front()
            .driver_cuda == Version{12, 2});
  CHECK(devices_of("").empty());
  CHECK(devices_of("# nothing\n").empty());
  CHECK(devices_of("compute_cap").empty());
}

TEST_CASE("quoted fields hold commas, quotes and line ends") {
  const auto devices = devices_of("name, compute_cap\n\"a, \"\"b\"\"\nc\" , \"7.5\"\nd, 8.0\n");
  CHECK(devices[0].name == "a, \"b\"\nc");
  CHECK(described(devices) == "a, \"b\"\\nc (7.5, fleet.csv:2); d (8.0, fleet.csv:4)");
}

TEST_CASE("concatenated files are merged, each with its own columns") {
  const auto devices = devices_of(
      "name, compute_cap\nT4, 7.5\n"
      "name, compute_cap\nT4, 7.5\n"
      "compute_cap, driver_cuda, name\n8.9, 12.4, L4\n");
  CHECK(described(devices) == "T4 (7.5, fleet.csv:2); T4 (7.5, fleet.csv:4); L4 (8.9, fleet.csv:6)");
  CHECK(to_string(devices[2].driver_cuda.value_or(Version{})) == "12.4");
}

TEST_CASE("what nvidia-smi does not know is unknown, not wrong") {
  const auto devices = devices_of(
      "name, compute_cap, driver_version, uuid\n"
      "GeForce 210, [N/A], [Not Supported], [Unknown Error]\n"
      "Tesla, N/A, N/A, \n");
  CHECK(described(devices) ==
        "GeForce 210 (compute capability unknown, fleet.csv:2); Tesla (compute capability unknown, "
        "fleet.csv:3)");
  CHECK(devices[0].driver_version.empty());
  CHECK_FALSE(devices[0].driver_cuda);
  CHECK(devices[0].uuid.empty());
}

TEST_CASE("driver_cuda wins over driver_version") {
  const auto devices =
      devices_of("compute_cap, driver_version, driver_cuda\n8.0, 535.104.05, 12.9\n8.0, 535.104.05,\n");
  CHECK(to_string(devices[0].driver_cuda.value_or(Version{})) == "12.9");
  CHECK(to_string(devices[1].driver_cuda.value_or(Version{})) == "12.2");
}

TEST_CASE("the driver version of a Jetson tells no CUDA") {
  const auto devices = devices_of(
      "name, driver_version, compute_cap\n"
      "Orin (nvgpu), 540.4.0, 8.7\n"  // with CUDA 12.6; a desktop's branch 540 would have 12.2
      "Thor, 580.00, 11.0\n"
      "Thor under CUDA 12, 580.00, 10.1\n"
      "said to be one, 580.00, 8.8\n"
      "NVIDIA GB10, 580.95.05, 12.1\n");  // DGX Spark has the drivers of a server
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK_FALSE(devices[i].driver_cuda);
    CHECK_FALSE(devices[i].cuda_by_branch);
    CHECK(devices[i].source.count("driver_cuda") == 0);
  }
  CHECK(devices[0].driver_version == "540.4.0");
  CHECK(to_string(devices[4].driver_cuda.value_or(Version{})) == "13.0");
  CHECK(devices[4].cuda_by_branch);
  const auto stated = devices_of("compute_cap, driver_version, driver_cuda\n8.7, 540.4.0, 12.6\n");
  CHECK(to_string(stated[0].driver_cuda.value_or(Version{})) == "12.6");
  CHECK_FALSE(stated[0].cuda_by_branch);
  CHECK(error_of("driver_cuda, compute_cap\n540.4.0, 8.7\n") ==
        "fleet.csv:2: driver_cuda is '540.4.0', expected X.Y such as 12.4 | write the CUDA of its JetPack, "
        "which the driver's version does not tell: X.Y");
}

TEST_CASE("what a branch lets expect is not written as if it had been stated") {
  const auto devices = devices_of("compute_cap, driver_version\n8.0, 535.104.05\n");
  const std::string text = written(devices);
  CHECK(text.find("12.2") == std::string::npos);
  CHECK(devices_of(text)[0].cuda_by_branch);
}

TEST_CASE("count is ours without an identity, nvidia-smi's number of GPUs with one") {
  CHECK(devices_of("compute_cap, count\n8.0, 8\n")[0].count == 8);
  CHECK(devices_of("compute_cap, count, uuid\n8.0, 8, GPU-1\n")[0].count == 1);
  CHECK(devices_of("compute_cap, count, pci.bus_id\n8.0, 8, 00000000:3B:00.0\n")[0].count == 1);
}

TEST_CASE("MIG, host and visibility are read") {
  const auto devices =
      devices_of("compute_cap, mig.mode.current, host, visible\n8.0, Enabled, n1, false\n8.0, [N/A],,\n");
  CHECK(devices[0].mig);
  CHECK(devices[0].host == "n1");
  CHECK_FALSE(devices[0].visible);
  CHECK_FALSE(devices[1].mig);
  CHECK_FALSE(devices[1].host);
  CHECK(devices[1].visible);
}

TEST_CASE("lines may end with CR alone, and rows of a spreadsheet may be empty") {
  const DeviceList devices = parse_fleet("name,compute_cap\rT4,7.5\r,\rA100,8.0\r\n,\n", "fleet.csv").value();
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].name == "T4");
  CHECK(devices[1].name == "A100");
}

TEST_CASE("a bad line is named with its number, and how to mend it") {
  CHECK(error_of("NVIDIA A100, 8.0\n") ==
        "fleet.csv:1: expected a header line that names the column compute_cap, found 'NVIDIA A100' | "
        "begin with a header line such as: name, compute_cap, driver_version; this writes one: nvidia-smi "
        "--query-gpu=name,compute_cap,driver_version --format=csv");
  CHECK(error_of("name, cc\nT4, 7.5\n") ==
        "fleet.csv:1: the header has no column compute_cap, but 'cc' | rename it to compute_cap");
  CHECK(error_of("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n")
            .find("fleet.csv:1: nvidia-smi failed where this was written: 'NVIDIA-SMI has failed") == 0);
  CHECK(error_of("name, compute_cap\nNo devices were found\n")
            .find("fleet.csv:2: nvidia-smi failed where this") == 0);
  CHECK(error_of("name, compute_cap\nA100, \"8,0\"\n") ==
        "fleet.csv:2: compute_cap is '8,0', expected X.Y such as 8.6, or [N/A] | write 8.0");
  CHECK(error_of("name, compute_cap\nA100, 8.0\xc2\xa0\n").find("| write 8.0") != std::string::npos);
  CHECK(error_of("name, compute_capability\nT4, 7.5\n") ==
        "fleet.csv:1: the header has no column compute_cap, but 'compute_capability' | rename it to "
        "compute_cap");
  CHECK(error_of("name, driver_version\n") ==
        "fleet.csv:1: the header has no column compute_cap | "
        "add the column compute_cap, or look the names up: archguard fleet import fleet.csv > devices.csv");
  CHECK(error_of("driver_version\n") ==
        "fleet.csv:1: the header has no column compute_cap | "
        "begin with a header line such as: name, compute_cap, driver_version");
  CHECK(error_of("name, compute_cap\nT4, 7.5\nname, uuid\n") ==
        "fleet.csv:3: the header has no column compute_cap | "
        "begin with a header line such as: name, compute_cap, driver_version");
  CHECK(error_of("Field \"compute_cap\" is not a valid field to query.\n") ==
        "fleet.csv:1: the driver that wrote this is too old to tell compute_cap | "
        "write the file by hand: name, compute_cap, driver_version");
  CHECK(error_of("name, compute_cap, name\n") ==
        "fleet.csv:1: the header names the column 'name' twice | remove one of them");
  CHECK(error_of("name, , compute_cap\n") ==
        "fleet.csv:1: the header has a column without a name | remove the stray comma");
  CHECK(error_of("name, compute_cap\nT4\n") ==
        "fleet.csv:2: the line has 1 field, the header in line 1 names 2 | ");
  CHECK(error_of("# x\nname, compute_cap\nT4, 7.5, 3\n") ==
        "fleet.csv:3: the line has 3 fields, the header in line 2 names 2 | "
        "put a field that holds a comma in double quotes");
  CHECK(error_of("name, compute_cap\nT4, 75\n") ==
        "fleet.csv:2: compute_cap is '75', expected X.Y such as 8.6, or [N/A] | write 7.5");
  CHECK(error_of("name, compute_cap\nT4, sm_80\n") ==
        "fleet.csv:2: compute_cap is 'sm_80', expected X.Y such as 8.6, or [N/A] | write 8.0");
  CHECK(error_of("name, compute_cap\nT4, Turing\n") ==
        "fleet.csv:2: compute_cap is 'Turing', expected X.Y such as 8.6, or [N/A] | ");
  CHECK(error_of("name, compute_cap\nT4,\n") ==
        "fleet.csv:2: compute_cap is empty, expected X.Y such as 8.6, or [N/A] | write it, or [N/A]");
  CHECK(error_of("compute_cap, driver_version\n7.5, R535\n") ==
        "fleet.csv:2: driver_version is 'R535', expected a driver's version such as 580.95.05 | ");
  const std::pair<const char*, const char*> no_versions[] = {
      {"12.2", "write it into the column driver_cuda, if it is the CUDA that the driver offers"},
      {"36.4.3", ""},
      {"31.0.15.3623", "write 536.23"},
      {"53623", "write 536.23"},
      {"12040", "that is a CUDA version: write driver_cuda 12.4"},
      {"99", ""}};
  for (const auto& [version, fix] : no_versions)
    CHECK(error_of("compute_cap, driver_version\n7.5, " + std::string(version) + "\n") ==
          "fleet.csv:2: driver_version is '" + std::string(version) +
              "', expected a driver's version such as 580.95.05 | " + fix);
  CHECK(error_of("compute_cap, driver_cuda\n7.5, 12\n") ==
        "fleet.csv:2: driver_cuda is '12', expected X.Y such as 12.4 | write 12.0");
  CHECK(error_of("compute_cap, driver_cuda\n7.5, 12040\n") ==
        "fleet.csv:2: driver_cuda is '12040', expected X.Y such as 12.4 | write 12.4");
  for (const char* version : {"580.95.05", "580.95", "580"})
    CHECK(error_of("compute_cap, driver_cuda\n7.5, " + std::string(version) + "\n") ==
          "fleet.csv:2: driver_cuda is '" + std::string(version) +
              "', expected X.Y such as 12.4 | write the CUDA that it offers: 13.0");
  for (const char* separator : {";", "; ", "\t", " | "})
    CHECK(error_of("name" + std::string(separator) + "Compute_Cap" + separator + "driver_version\n") ==
          "fleet.csv:1: the columns of the header are not separated by commas | separate with commas, here "
          "and in each line");
  CHECK(error_of("name, compute_cap\nT4; 7.5\n") ==
        "fleet.csv:2: the line has 1 field, the header in line 1 names 2 | separate with commas");
  CHECK(error_of("compute_cap, count\n7.5, 0\n") ==
        "fleet.csv:2: count is '0', expected a number from 1 to 1000000 | leave the line out, or give its "
        "column excluded the reason");
  CHECK(error_of("compute_cap, visible\n7.5, maybe\n") ==
        "fleet.csv:2: visible is 'maybe', expected true or false | ");
  CHECK(error_of("name, compute_cap\n\"T4, 7.5\nL4, 8.9\n") ==
        "fleet.csv:2: a quoted field is not closed | add the missing double quote");
  CHECK(error_of("name, compute_cap\n\"T4\" x, 7.5\n") ==
        "fleet.csv:2: text follows the closing quote of a field | double the quotes inside a quoted field");
  CHECK(error_of(std::string("name, compute_cap\nT\0004, 7.5\n", 26)) ==
        "fleet.csv:2: the line has a NUL byte | save the file as UTF-8 text");
  CHECK(error_of(std::string("\xff\xfen\0a\0", 6)) ==
        "fleet.csv:1: the file is UTF-16 text, expected UTF-8 | save it as UTF-8 (PowerShell: Out-File "
        "-Encoding utf8)");
  CHECK(error_of("compute_cap\n" + std::string(1000, ',') + "\n") ==
        "fleet.csv:2: the line has more than 1000 fields | ");
}

TEST_CASE("a message shows the beginning of a long value") {
  CHECK(error_of("compute_cap\n" + std::string(59, '8') + "é" + std::string(100000, '8')) ==
        "fleet.csv:2: compute_cap is '" + std::string(59, '8') + "…', expected X.Y such as 8.6, or [N/A] | ");
}

TEST_CASE("what is written is read back to the same devices") {
  Device plain;
  plain.capability = ComputeCapability{8, 6};
  Device full;
  full.name = "a, \"b\" #\n c ";
  full.capability = ComputeCapability{12, 1};
  full.driver_version = "580.95.05";
  full.driver_cuda = Version{13, 0};
  full.uuid = "GPU-1";
  full.pci_bus_id = "00000000:3B:00.0";
  full.host = "#n1";
  full.mig = true;
  full.visible = false;
  full.extra = {{"memory.total [MiB]", "81920 MiB"}, {"Rack", " 7"}};
  Device unknown;
  unknown.name = "# Tesla";
  unknown.count = 4;
  const std::string text = written({plain, full, unknown});
  CHECK(text ==
        "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host, mig.mode.current, "
        "visible, Rack, "
        "memory.total [MiB]\n"
        ", 8.6, , , , , 1, , Disabled, true, , \n"
        "\"a, \"\"b\"\" #\n c \", 12.1, 580.95.05, 13.0, GPU-1, 00000000:3B:00.0, 1, \"#n1\", Enabled, "
        "false, \" 7\", 81920 MiB\n"
        "\"# Tesla\", [N/A], , , , , 4, , Disabled, true, , \n");
  const auto back = devices_of(text);
  REQUIRE(back.size() == 3);
  CHECK(written(back) == text);
  CHECK(back[1].name == full.name);
  CHECK(back[1].extra == full.extra);
  CHECK(back[1].visible == false);
  CHECK(back[1].mig);
  CHECK(back[2].count == 4);
  CHECK_FALSE(back[2].capability);
  CHECK(written({}) == "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host\n");
}

TEST_CASE("a fleet of 100,000 lines is read whole") {
  std::string text = "name, compute_cap, driver_version, uuid\n";
  for (int i = 0; i < 100000; ++i)
    text += "NVIDIA H100 80GB HBM3, 9.0, 580.95.05, GPU-" + std::to_string(i) + "\n";
  const auto devices = devices_of(text);
  REQUIRE(devices.size() == 100000);
  CHECK(devices.back().uuid == "GPU-99999");
}

TEST_CASE("lines that differ in their texts alone are one kind, and each is found again") {
  DeviceList devices;
  const std::string long_text(300, 'x');
  for (int i = 0; i < 5000; ++i) {
    Device device;
    device.capability = ComputeCapability{i % 2 == 0 ? 8 : 9, 0};
    device.name = long_text + std::to_string(i);
    device.driver_version = "580." + std::to_string(i);
    if (i % 3 == 0) device.host = i % 2 == 0 ? "" : "n" + std::to_string(i);
    if (i % 5 == 0) device.extra["rack"] = std::to_string(i);
    device.count = i + 1;
    device.origin = "fleet.csv";
    devices.push_back(device, static_cast<std::size_t>(i) + 2);
  }
  CHECK(devices.kinds().size() == 2);
  CHECK(devices.kind(7).capability == ComputeCapability{9, 0});
  CHECK(devices.kind(7).name.empty());
  CHECK(devices.count(7) == 8);
  for (const int i : {0, 1, 6, 15, 3000, 4999}) {
    const Device device = devices[static_cast<std::size_t>(i)];
    CHECK(device.capability == ComputeCapability{i % 2 == 0 ? 8 : 9, 0});
    CHECK(device.name == long_text + std::to_string(i));
    CHECK(device.driver_version == "580." + std::to_string(i));
    CHECK(device.host.has_value() == (i % 3 == 0));
    CHECK(device.extra.size() == (i % 5 == 0 ? 1 : 0));
    CHECK(device.origin == "fleet.csv:" + std::to_string(i + 2));
  }
  std::vector<std::size_t> odd;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices.count(i) % 2 != 0) odd.push_back(i);
  devices.remove(odd);
  CHECK(devices.size() == 2500);
  CHECK(devices[2499].name == long_text + "4999");
  CHECK(devices.any_kind([](const Device& kind) { return kind.capability->major == 9; }));
  CHECK_FALSE(devices.any_kind([](const Device& kind) { return kind.capability->major == 8; }));
}

TEST_CASE("a fleet file that cannot be read says so") {
  DeviceList none;
  const auto missing = read_fleet("/nowhere/fleet.csv", none);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().where == "--fleet /nowhere/fleet.csv");
  CHECK(read_fleet("/tmp", none, {}).error().text() == "/tmp: is a folder, not a file");
  CHECK(read_fleet("/dev/zero", none).error().text() == "--fleet /dev/zero: is larger than 64 MiB");
}

TEST_CASE("a fleet without a device is told with what to write") {
  DeviceList none;
  const auto added = read_fleet("/dev/null", none);
  REQUIRE(added);
  CHECK(*added == 0);
  const Error error = no_device_in_fleet("-");
  CHECK(error.text() == "standard input: names no device");
  CHECK(error.fix ==
        "add a line for each device, such as: NVIDIA A100, 8.0 (below the header: name, compute_cap)");
}

TEST_CASE("a device of the command line") {
  const auto plain = parse_device_option("8.6");
  REQUIRE(plain);
  CHECK(describe(*plain) == "8.6 (--device 8.6)");
  CHECK_FALSE(plain->driver_cuda);
  const auto with_driver = parse_device_option("13.0@12.4");
  REQUIRE(with_driver);
  CHECK(describe(*with_driver) == "13.0 (--device 13.0@12.4)");
  CHECK(to_string(with_driver->driver_cuda.value_or(Version{})) == "12.4");

  const auto text_of = [](const char* text) {
    const auto device = parse_device_option(text);
    return device ? "no error" : device.error().text();
  };
  CHECK(text_of("86") == "--device 86: '86' is no compute capability, expected X.Y such as 8.6");
  CHECK(text_of("") == "--device : '' is no compute capability, expected X.Y such as 8.6");
  CHECK(text_of("8.6@12") ==
        "--device 8.6@12: '12' is no CUDA version of a driver, expected X.Y such as 12.4");
  CHECK(text_of("8.6@") == "--device 8.6@: '' is no CUDA version of a driver, expected X.Y such as 12.4");
  CHECK(text_of("8.6@580.95") ==
        "--device 8.6@580.95: '580.95' is no CUDA version of a driver, expected X.Y such as 12.4");
}

TEST_CASE("a device in another spelling: how to write it") {
  const auto fix_of = [](const std::string& text) {
    const auto device = parse_device_option(text);
    return device ? "no error" : device.error().fix;
  };
  for (const char* text : {"sm_86", "SM86", "compute_86", "86", "8,6", " 8.6", "8.6 ", "8.6,"})
    CHECK(fix_of(text) == "write 8.6");
  for (const char* text : {"9.0a", "90a", "sm_90a", "9", "sm_9"}) CHECK(fix_of(text) == "write 9.0");
  for (const char* text : {"10", "100", "100f"}) CHECK(fix_of(text) == "write 10.0");
  CHECK(fix_of("8.6@580.95.05") == "write the CUDA that it offers: 8.6@13.0");
  CHECK(fix_of("8.7@540.4.0") ==
        "write the CUDA of its JetPack, which the driver's version does not tell: 8.7@X.Y");
  CHECK(fix_of("8.6,9.0") == "give --device twice: --device 8.6 --device 9.0");
  CHECK(fix_of("sm_86;9.0@12.4; 80") == "give --device 3 times: --device 8.6 --device 9.0@12.4 --device 8.0");
  CHECK(fix_of("8.6@12.4 9.0@12.4") == "give --device twice: --device 8.6@12.4 --device 9.0@12.4");
  for (const char* text : {"8.6@580.95.05", "8.6@580.95", "8.6@580"})
    CHECK(fix_of(text) == "write the CUDA that it offers: 8.6@13.0");
  CHECK(fix_of("sm_86@580.95.05") == "write 8.6@13.0");
  CHECK(fix_of("86@12.4") == "write 8.6@12.4");
  CHECK(fix_of("8.6@12") == "write 8.6@12.0");
  CHECK(fix_of("8.6@") == "write 8.6, or 8.6@12.4");
  CHECK(fix_of("8.6@12,4") == "write 8.6@12.4");
  CHECK(fix_of("8.6@12.20") == "write 8.6@12.2");  // of 12020
  CHECK(fix_of("8.6@12.4.1") == "write 8.6@12.4");
  for (const char* text : {"", ",", "@", "8.6@0", "8.6@new", "8.6@100", "ampere", "8.60", "8.6,ampere", "0"})
    CHECK(fix_of(text).empty());
  CHECK(fix_of("8.6" + std::string(100, ' ')).empty());
}

TEST_CASE("a line whose column excluded says why is left out, and each line stands for itself") {
  const auto devices = devices_of(
      "name, compute_cap, count, Excluded\n"
      "GT 710, 3.5, 1, display card\n"
      "A100, 8.0, 40,\n"
      "A100, 8.0, 2, \"in repair, \"\"for good\"\"\"\n"
      "K20, [N/A], 1, old\n"
      "compute_cap\n"
      "7.5\n");
  REQUIRE(devices.size() == 5);
  CHECK(devices[0].excluded == "display card");
  CHECK(devices[0].source.at("excluded") == "fleet");
  CHECK(devices[1].excluded.empty());
  CHECK(is_wanted(devices[1]));
  CHECK(devices[2].excluded == "in repair, \"for good\"");
  CHECK(devices[2].count == 2);
  CHECK_FALSE(is_wanted(devices[3]));
  CHECK(is_wanted(devices[4]));
  CHECK(how_to_exclude(devices[1]) ==
        "write why into the column excluded of fleet.csv:3 (add that column to the header where it is "
        "missing)");
  CHECK(how_to_exclude(*parse_device_option("8.0")).empty());

  const std::string text = written(devices);
  CHECK(text.find("name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host, excluded\n"
                  "GT 710, 3.5, , , , , 1, , display card\n"
                  "A100, 8.0, , , , , 40, , \n"
                  "A100, 8.0, , , , , 2, , \"in repair, \"\"for good\"\"\"\n") == 0);
  const auto again = devices_of(text);
  REQUIRE(again.size() == devices.size());
  for (std::size_t i = 0; i < again.size(); ++i) CHECK(again[i].excluded == devices[i].excluded);
  CHECK(written(devices_of("compute_cap, excluded\n8.0,\n")).find("excluded") == std::string::npos);
}

TEST_CASE("a mark or a word for yes or no is no reason to leave a device out") {
  const auto of = [](const std::string& text) {
    return error_of("compute_cap, excluded\n3.5, " + text + "\n");
  };
  const std::string expected = ", expected the reason why the device is left out, or nothing | ";
  for (const char* yes : {"yes", "True", "1", "x", "X", "[x]", "on", "y", "excluded", "+", "ignored", "yes!"})
    CHECK(of(yes) == "fleet.csv:2: excluded is '" + std::string(yes) + "'" + expected +
                         "write why, such as: display card");
  for (const char* no : {"no", "false", "0", "-", "--", "N/A", "[N/A]", "[Not Supported]", "none", "?", "off",
                         "[Unknown Error]", "\" \"", "\u00a0", "\u200b\u3000"})
    CHECK_MESSAGE(
        of(no).find(expected + "leave the field empty if the device must be covered") != std::string::npos,
        of(no));
  for (const char* reason :
       {"display card", "broken", "no driver yet", "x-ray room", "1 of 2 burnt", "\xe5\x9d\x8f"})
    CHECK_MESSAGE(of(reason) == "no error", reason);
  CHECK(error_of("compute_cap, included\n3.5, no\n") == "no error");  // a column of others
  CHECK(error_of("compute_cap, excluded\n35, display card\n").find("fleet.csv:2: compute_cap is '35'") == 0);
}
