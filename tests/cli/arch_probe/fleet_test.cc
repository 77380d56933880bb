#include <doctest/doctest.h>

#include "played_machine.h"

TEST_CASE("the CSV of a machine is a fleet file that shows the same devices") {
  const PlayedMachine machine = PlayedMachine(kTwoGpus);
  const auto csv = machine.run({"--format", "csv"});
  CHECK(csv.exit_code == 0);
  CHECK(csv.err.empty());
  TemporaryFolder folder;
  folder.file("a.csv", csv.out);
  folder.file("b.csv", "compute_cap, count, Rack\n7.5, 4, r2\n");
  const auto merged = run_probe({"--fleet", "a.csv", "--fleet=b.csv", "--format", "csv"}, {}, folder.path());
  CHECK(merged.exit_code == 0);
  const std::string first = csv.out.substr(csv.out.find('\n') + 1);
  CHECK(merged.out ==
        "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host, Rack\n" +
            replaced(first, "\n", ", \n") + ", 7.5, , , , , 4, , r2\n");
}

TEST_CASE("a fleet as a table and as JSON") {
  TemporaryFolder folder;
  folder.file("fleet.csv",
              "name, compute_cap, driver_cuda, count\nNVIDIA T4, 7.5, 12.4, 8\nTesla, [N/A], ,1\n");
  const auto table = run_probe({"--fleet", "fleet.csv"}, {}, folder.path());
  CHECK(table.exit_code == 0);
  CHECK(table.out ==
        "name       compute capability  CUDA  note\n"
        "NVIDIA T4  7.5                 12.4  8 of them\n"
        "Tesla      unknown\n");
  const auto json = run_probe({"--fleet", "fleet.csv", "--format=json"}, {}, folder.path());
  CHECK(json.out ==
        "{\n  \"schema\": \"archguard.devices/1\",\n  \"status\": \"ok\",\n"
        "  \"driver\": {\"version\": null, \"cuda_version\": null, \"library\": null, \"library_version\": "
        "null},\n"
        "  \"devices\": [\n"
        "    {\"name\": \"NVIDIA T4\", \"compute_capability\": \"7.5\", \"driver_version\": null, "
        "\"driver_cuda\": \"12.4\", "
        "\"uuid\": null, \"pci_bus_id\": null, \"visible\": true, \"excluded\": null, \"mig\": false, "
        "\"count\": 8, \"host\": "
        "null, "
        "\"origin\": \"fleet.csv:2\", \"source\": {\"compute_capability\": \"fleet\", \"count\": \"fleet\", "
        "\"driver_cuda\": \"fleet\", \"name\": \"fleet\"}},\n"
        "    {\"name\": \"Tesla\", \"compute_capability\": null, \"driver_version\": null, \"driver_cuda\": "
        "null, "
        "\"uuid\": null, \"pci_bus_id\": null, \"visible\": true, \"excluded\": null, \"mig\": false, "
        "\"count\": 1, \"host\": "
        "null, "
        "\"origin\": \"fleet.csv:3\", \"source\": {\"count\": \"fleet\", \"name\": \"fleet\"}}\n"
        "  ],\n  \"diagnostics\": [],\n  \"cache\": null\n}\n");
}

TEST_CASE("a fleet through a pipe") {
  TemporaryFolder folder;
  folder.file("fleet.csv", "name, compute_cap\nNVIDIA T4, 7.5\n");
  const auto run = [&](const std::string& command) {
    return run_process({"bash", "-c", "PROBE=" ARCH_PROBE "; " + command}, {}, folder.path());
  };
  const std::string table = "name       compute capability\nNVIDIA T4  7.5\n";
  for (const char* command :
       {"cat fleet.csv | $PROBE --fleet -", "$PROBE --fleet=- < fleet.csv", "$PROBE --fleet <(cat fleet.csv)",
        "cat fleet.csv | $PROBE --fleet /dev/stdin", "$PROBE --fleet /dev/stdin < fleet.csv"}) {
    INFO(command);
    const auto piped = run(command);
    CHECK(piped.exit_code == 0);
    CHECK(piped.out == table);
    CHECK(piped.err.empty());
  }
  const auto select = run("cat fleet.csv | $PROBE select --toolkit 13.0 --fleet -");
  CHECK(select.out == "75-real;75-virtual\n");
  CHECK(select.err ==
        "75-real     NVIDIA T4 (7.5, standard input:2)\n75-virtual  PTX fallback for GPUs newer than 7.5\n");
  const auto bad = run("echo name | $PROBE --fleet -");
  CHECK(bad.exit_code == 2);
  const auto is_folder = run("$PROBE --fleet - < .");
  CHECK(is_folder.exit_code == 2);
  CHECK(is_folder.err == "arch_probe: error: standard input: is a folder, not a file\n");
}

TEST_CASE("--write-devices writes beside the output") {
  TemporaryFolder folder;
  const std::string file = folder.path() + "/devices.csv";
  const auto run = PlayedMachine(kTwoGpus).run({"--format", "json", "--write-devices", file});
  CHECK(run.exit_code == 0);
  CHECK(
      file_content(file) ==
      "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host\n"
      "NVIDIA H100, 9.0, 580.95.05, 13.0, GPU-aaaaaaaa-0000-0000-0000-000000000002, 00000000:5E:00.0, 1, \n"
      "NVIDIA A100, 8.0, 580.95.05, 13.0, GPU-aaaaaaaa-0000-0000-0000-000000000001, 00000000:3B:00.0, 1, \n");
  const auto failed = PlayedMachine(kTwoGpus).run({"--write-devices", "/nowhere/devices.csv"});
  CHECK(failed.exit_code == 2);
  CHECK(failed.out.empty());
}

TEST_CASE("a line that says why it is left out is listed, and nothing is chosen for it") {
  TemporaryFolder folder;
  const std::string fleet =
      "name, compute_cap, driver_version, driver_cuda, uuid, pci.bus_id, count, host, excluded\n"
      "NVIDIA A100, 8.0, , , , , 40, , \n"
      "GT 710, 3.5, 470.82, , , , 1, , \"a card, for the display\"\n"
      "NVIDIA A100, 8.0, , , , , 2, , in repair\n";
  folder.file("fleet.csv", fleet);
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--fleet", "fleet.csv"});
    return run_probe(arguments, {}, folder.path());
  };
  CHECK(run({"--format", "csv"}).out == fleet);
  CHECK(run({}).out ==
        "name         compute capability  driver  CUDA  note\n"
        "NVIDIA A100  8.0                               40 of them\n"
        "GT 710       3.5                 470.82  11.4  left out: a card, for the display\n"
        "NVIDIA A100  8.0                               2 of them, left out: in repair\n");
  CHECK(run({"--format", "json"}).out.find("\"excluded\": \"a card, for the display\"") != std::string::npos);
  const std::string note =
      "arch_probe: note: left out: GT 710 (3.5, fleet.csv:3): a card, for the display\n"
      "arch_probe: note: left out: NVIDIA A100 (8.0, fleet.csv:4) and 1 more like it: in repair\n";
  auto select = run({"select", "--toolkit", "13.0"});
  CHECK(select.exit_code == 0);
  CHECK(select.out == "80-real;80-virtual\n");
  CHECK(select.err ==
        "80-real     NVIDIA A100 (8.0, fleet.csv:2) and 39 more like it\n80-virtual  PTX fallback for GPUs "
        "newer than 8.0\n" +
            note);
  select = run({"select", "--toolkit", "13.0", "--format", "json", "--judge", "80-real"});
  CHECK(select.out.find("\"excluded\": [],") != std::string::npos);
  CHECK(select.out.find("\"index\": 1") == std::string::npos);

  folder.file("fleet.csv", "name, compute_cap, excluded\nMX330, 6.1,\nA100, 8.0,\n");
  folder.file("fleet.csv", "compute_cap, excluded\n3.5, display card\n");
  CHECK(run({}).exit_code == 0);
  select = run({"select", "--toolkit", "13.0"});
  CHECK(select.exit_code == 2);
  CHECK(select.out.empty());
}
