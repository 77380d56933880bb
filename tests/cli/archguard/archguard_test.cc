// The archguard program as a user meets it: what it prints, where, and how it exits. PTX files serve as
// device code, since they can be read here.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <sys/stat.h>

#include "support/run_process/run_process.h"

namespace {

const std::string kPtx90 =
    ".version 9.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry gemm(.param .u64 p)\n{\n ld.param.u64 %rd1, [p];\n st.global.u32 [%rd1], 0;\n ret;\n}\n";

RunOutput archguard(std::vector<std::string> arguments, const std::string& folder = {}) {
  arguments.insert(arguments.begin(), ARCHGUARD);
  return run_process(arguments, {}, folder);
}

// One clear message on standard error, exit 2, nothing on standard output.
void check_refused(const RunOutput& run, const std::string& message) {
  CHECK(run.err == message);
  CHECK(run.out.empty());
  CHECK(run.exit_code == 2);
}

}  // namespace

TEST_CASE("help and version are answers, not errors") {
  const RunOutput help = archguard({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.err.empty());
  CHECK(help.out.find("inspect") != std::string::npos);
  CHECK(help.out.find("later") == std::string::npos);
  const RunOutput verify_help = archguard({"verify", "--help"});
  CHECK(verify_help.exit_code == 0);
  for (const char* option :
       {"--fleet", "--device", "--this-machine", "--expect", "--excluded", "--scope", "--require",
        "--require-ptx", "--require-driver", "--hollow", "--waivers", "--format", "--output"})
    CHECK_MESSAGE(verify_help.out.find(option) != std::string::npos, option);
  CHECK(archguard({"--version"}).out.rfind("archguard ", 0) == 0);
}

TEST_CASE("-h is short; help is as wide as the terminal, every command has it") {
  const std::string shorter = archguard({"verify", "-h"}).out, longer = archguard({"verify", "--help"}).out;
  CHECK(shorter.find("--fleet FILE") != std::string::npos);
  CHECK(shorter.find("Exit status:") == std::string::npos);
  CHECK(longer.find("Examples:\n  archguard verify ") != std::string::npos);
  CHECK(longer.find("Exit status:\n  0  ") != std::string::npos);
  for (const std::string command : {"", "verify", "inspect", "diff", "doctor", "fleet import"}) {
    INFO(command);
    const RunOutput run = run_process({"sh", "-c", "COLUMNS=80 " ARCHGUARD " " + command + " -h"});
    CHECK(run.exit_code == 0);
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
  }
}

TEST_CASE("--color overrides the environment") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  const auto has_colour = [&](const std::string& environment, const std::string& option) {
    const RunOutput run = run_process(
        {"sh", "-c", environment + " " ARCHGUARD " verify k.ptx --device 7.0 " + option}, {}, folder.path());
    CHECK(run.exit_code == 1);
    return run.out.find("\x1b[") != std::string::npos;
  };
  CHECK(has_colour("NO_COLOR=1", "--color always"));
  CHECK_FALSE(has_colour("CLICOLOR_FORCE=1", "--color=never"));
  CHECK(has_colour("CLICOLOR_FORCE=1", "--color auto"));
  CHECK_FALSE(has_colour("TERM=xterm", "--color auto"));
}

TEST_CASE("an answer that cannot be written whole is an error") {
  for (const char* arguments : {"--help", "--version", "verify --help", "inspect --help"}) {
    INFO(arguments);
    check_refused(run_process({"sh", "-c", ARCHGUARD " " + std::string(arguments) + " > /dev/full"}),
                  "archguard: error: standard output: cannot be written whole\n");
  }
}

TEST_CASE("without a driver the lowest one is told, and --require-driver makes that unknown") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  CHECK(archguard({"verify", "k.ptx", "--device", "8.0"}, folder.path()).out ==
        "  covered    8.0 (--device 8.0)  1 fat binary: 1 PTX; needs a driver that offers CUDA 13.0\n"
        "k.ptx: 1 of 1 covered\n");
  CHECK(archguard({"verify", "k.ptx", "--device", "8.0", "--require-driver"}, folder.path()).exit_code == 2);
  CHECK(archguard({"verify", "k.ptx", "--device", "8.0", "--require", "sass"}, folder.path()).exit_code == 1);
}

TEST_CASE("--env: what the program's environment does to its device code") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  const RunOutput disabled = archguard(
      {"verify", "k.ptx", "--device", "8.6@13.0", "--env", "CUDA_DISABLE_PTX_JIT=1"}, folder.path());
  CHECK(disabled.exit_code == 1);
  CHECK(archguard({"verify", "k.ptx", "--device", "8.6@13.0", "--env", "CUDA_FORCE_PTX_JIT=1"}, folder.path())
            .exit_code == 0);
  CHECK(archguard({"verify", "k.ptx", "--device", "8.6@13.0", "--env", "CUDA_DISABLE_JIT=0"}, folder.path())
            .exit_code == 0);

  CHECK(archguard({"verify", "k.ptx", "--device", "8.6", "--env", "CUDA_FORCE_PTX_JTI=1"}, folder.path())
            .exit_code == 2);
  CHECK(archguard({"verify", "k.ptx", "--device", "8.6", "--env", "CUDA_DISABLE_JIT=yes"}, folder.path())
            .exit_code == 2);
  // Either variable is enough, and of one variable the last setting counts.
  const std::vector<std::string> verify{"verify", "k.ptx", "--device", "8.6@13.0", "--env"};
  const auto with = [&](const char* first, const char* second) {
    std::vector<std::string> arguments = verify;
    arguments.insert(arguments.end(), {first, "--env", second});
    return archguard(arguments, folder.path()).exit_code;
  };
  CHECK(with("CUDA_DISABLE_PTX_JIT=1", "CUDA_DISABLE_JIT=0") == 1);
  CHECK(with("CUDA_DISABLE_JIT=1", "CUDA_DISABLE_JIT=0") == 0);
}

TEST_CASE("a device that no toolkit knows is judged, and marked") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  const RunOutput run = archguard({"verify", "k.ptx", "--device", "99.9@13.0", "--brief"}, folder.path());
  const auto json = nlohmann::json::parse(
      archguard({"verify", "k.ptx", "--device", "99.9@13.0", "--format", "json"}, folder.path()).out);
  CHECK(json["devices"][0]["beyond_table"] == true);
}

TEST_CASE("a fleet file: excluded devices are no failure, others are; a bad line is refused") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  folder.file("fleet.csv", "name, compute_cap\nNVIDIA A100, 8.0\nNVIDIA GeForce MX330, 6.1\n");
  folder.file(
      "select.json",
      R"({"schema":"archguard.select/1","excluded":[{"device":{"name":"NVIDIA GeForce MX330",)"
      R"("compute_capability":"6.1"},"reason":"too old","first_toolkit":"8.0","last_toolkit":"12.9"}]})");
  const RunOutput excluded = archguard(
      {"verify", "k.ptx", "--fleet", "fleet.csv", "--excluded", "select.json", "--brief"}, folder.path());
  CHECK(excluded.out == "k.ptx: 1 of 2 covered; 1 excluded at configure: 6.1, last toolkit 12.9\n");
  CHECK(excluded.exit_code == 0);
  const RunOutput plain = archguard({"verify", "k.ptx", "--fleet", "fleet.csv"}, folder.path());
  CHECK(plain.out.find("NVIDIA GeForce MX330 (6.1, fleet.csv:3)") != std::string::npos);
  CHECK(plain.exit_code == 1);

  folder.file("bad.csv", "name, compute_cap\nNVIDIA A100, eight\n");
  const RunOutput bad = archguard({"verify", "k.ptx", "--fleet", "bad.csv"}, folder.path());
  CHECK(bad.err.find("archguard: error: bad.csv:2: ") == 0);
  CHECK(bad.out.empty());
  CHECK(bad.exit_code == 2);
  folder.file("odd.json", "{}");
  CHECK(
      archguard({"verify", "k.ptx", "--device", "8.0", "--excluded", "odd.json"}, folder.path()).exit_code ==
      2);
}

TEST_CASE("a device without a compute capability is unknown, never covered") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  folder.file("fleet.csv", "name, compute_cap\nNVIDIA A100, 8.0\nNVIDIA X, [N/A]\n");
  const RunOutput run =
      archguard({"verify", "k.ptx", "--fleet", "fleet.csv", "--format", "json"}, folder.path());
  CHECK(run.exit_code == 2);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json["verdict"] == "unknown");
  CHECK(json["files"][0]["results"][0]["verdict"] == "covered");
  CHECK(json["files"][0]["results"][1]["verdict"] == "unknown");
}

TEST_CASE("what is missing, is no binary or is cut short is an error and covers nothing") {
  const TemporaryFolder folder;
  folder.file("notes.txt", "just text\n");
  folder.file("cut.so", std::string("\x7f"
                                    "ELF\x02\x01\x01",
                                    7) +
                            std::string(20, '\0'));
  for (const char* name : {"missing.so", "notes.txt", "cut.so"}) {
    for (const char* command : {"verify", "inspect"}) {
      std::vector<std::string> arguments{command, name};
      if (arguments[0] == "verify") arguments.insert(arguments.end(), {"--device", "8.0"});
      const RunOutput run = archguard(arguments, folder.path());
      CHECK_MESSAGE(run.exit_code == 2, command << " " << name);
      CHECK_MESSAGE(run.out.find("archguard: error: " + std::string(name)) == 0, run.out);
      CHECK_MESSAGE(run.out.find("1 of 1") == std::string::npos, run.out);
    }
  }
}

TEST_CASE("a folder is walked: what is no binary is passed over, links and pipes are not followed") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  folder.file("notes.txt", "just text\n");
  REQUIRE(::mkfifo((folder.path() + "/pipe").c_str(), 0600) == 0);
  const RunOutput run = archguard({"verify", folder.path(), "--device", "8.0@13.0", "--brief"});
  CHECK(run.out == folder.path() + "/k.ptx: 1 of 1 covered\n");
  CHECK(run.exit_code == 0);
}

TEST_CASE("binaries of a folder without device code are counted, not listed") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  folder.file("host", file_content(ARCHGUARD));
  folder.file("notes.txt", "no binary");
  const RunOutput verify = archguard({"verify", ".", "--device", "8.6@13.0", "--brief"}, folder.path());
  CHECK(verify.out == "./k.ptx: 1 of 1 covered\n1 file without device code\n");
  CHECK(verify.exit_code == 0);
  CHECK(archguard({"inspect", "."}, folder.path()).out.find("\n1 file without device code\n") !=
        std::string::npos);

  // A list counts as a folder: what an install step left, say.
  folder.file("list", "host\n\nk.ptx\nnotes.txt\n");
  CHECK(archguard({"verify", "--files-from", "list", "--device", "8.6@13.0", "--brief"}, folder.path()).out ==
        "k.ptx: 1 of 1 covered\n1 file without device code\n");
  folder.file("nul", std::string("host\0k.ptx\0gone\0", 16));  // find -print0
  const RunOutput nul =
      archguard({"verify", "--files-from", "nul", "--device", "8.6@13.0", "--brief"}, folder.path());
  CHECK(nul.exit_code == 2);
  folder.file("stale", "gone\nk.ptx\n");
  const RunOutput stale =
      archguard({"verify", "--files-from", "stale", "--device", "8.6@13.0", "--brief"}, folder.path());
  CHECK(stale.exit_code == 2);
  CHECK(stale.out.find("archguard: error: gone: no such file\n") == 0);
  CHECK(archguard({"verify", "--files-from", "nowhere", "--device", "8.6"}, folder.path()).exit_code == 2);
  folder.file("marked", "\xef\xbb\xbfk.ptx\n");
  CHECK(archguard({"verify", "--files-from", "marked", "--device", "8.6@13.0", "--brief"}, folder.path())
            .exit_code == 0);
  folder.file("utf16", std::string("\xff\xfek\0.\0p\0t\0x\0", 12));
  RunOutput refused = archguard({"verify", "--files-from", "utf16", "--device", "8.6@13.0"}, folder.path());
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("--files-from utf16: the file is UTF-16 text, expected UTF-8") != std::string::npos);
  refused = archguard({"verify", "--files-from", ".", "--device", "8.6@13.0"}, folder.path());
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("--files-from .: is a folder, not a list of files\n  fix: verify the folder itself: "
                         "archguard verify .\n") != std::string::npos);
  folder.file("zeros", std::string(512, '\0'));
  refused = archguard({"verify", "k.ptx", "--files-from", "zeros", "--device", "8.6@13.0"}, folder.path());
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("holds NUL bytes alone, and no name") != std::string::npos);
}

TEST_CASE("the small texts may come through a pipe; - is standard input") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  folder.file("w.csv", "kernel,compute_cap,reason\nnothing*,*,not there\n");
  folder.file("fleet.csv", "name, compute_cap, driver_cuda\nT4, 7.5, 13.0\nL4, 8.9, 13.0\n");
  folder.file(
      "selection.json",
      R"({"schema":"archguard.select/1","excluded":[{"device":{"name":"T4","compute_capability":"7.5",)"
      R"("driver_cuda":"13.0"},"reason":"why","last_toolkit":"12.9"}]})");
  const auto verify = [&](const std::string& arguments) {
    return run_process(
        {"bash", "-c", "cd " + folder.path() + " && " + ARCHGUARD + " verify --brief " + arguments});
  };
  CHECK(verify("--device 8.6@13.0 --files-from - <<< k.ptx").out == "k.ptx: 1 of 1 covered\n");
  CHECK(verify("--device 8.6@13.0 --files-from <(echo k.ptx)").out == "k.ptx: 1 of 1 covered\n");
  CHECK(verify("--device 8.6@13.0 --files-from - < /dev/null").out == "no binary in standard input\n");
  const RunOutput excluded = verify("k.ptx --fleet /dev/stdin --excluded <(cat selection.json) < fleet.csv");
  CHECK(excluded.out == "k.ptx: 1 of 2 covered; 1 excluded at configure: 7.5, last toolkit 12.9\n");
  CHECK(excluded.exit_code == 0);
  check_refused(verify("k.ptx --fleet - <<< name"),
                "archguard: error: standard input:1: the header has no column compute_cap\n"
                "  fix: add the column compute_cap, or look the names up: archguard fleet import - > "
                "fleet.csv\n");
  check_refused(verify("k.ptx --device 8.0 --excluded - <<< {}"),
                "archguard: error: standard input: is not the JSON of a selection\n"
                "  fix: write it with: arch_probe select --format json … > FILE\n");
  check_refused(verify("k.ptx --fleet - < /dev/null"),
                "archguard: error: standard input: names no device\n"
                "  fix: add a line for each device, such as: NVIDIA A100, 8.0 (below the header: name, "
                "compute_cap)\n");
  check_refused(verify("k.ptx --fleet ."), "archguard: error: --fleet .: is a folder, not a file\n");
}

TEST_CASE("no device code is exit 3") {
  const RunOutput run = archguard({"verify", ARCHGUARD, "--device", "8.0"});
  CHECK(run.out == std::string(ARCHGUARD) + ": no device code\n");
  CHECK(run.exit_code == 3);
}

TEST_CASE("variables without kernels are device code; nothing of either is no kernels, exit 3 as well") {
  const TemporaryFolder folder;
  const std::string head = ".version 9.0\n.target sm_80\n.address_size 64\n";
  folder.file("v.ptx", head + ".global .align 4 .b8 dv[16];\n");
  folder.file("own.ptx",
              head + ".global .align 1 .b8 _ZN4cuda3std3__47nulloptE[1];\n.global .b8 $str[2] = {1};\n");
  const RunOutput uncovered = archguard({"verify", "v.ptx", "--device", "7.5@13.0"}, folder.path());
  CHECK(uncovered.exit_code == 1);
  CHECK(uncovered.out.find(
            "archguard: error 218: v.ptx: variable 'dv' cannot run on 7.5 (--device 7.5@13.0)\n") == 0);
  CHECK(archguard({"verify", "v.ptx", "--device", "8.0@13.0"}, folder.path()).exit_code == 0);

  const RunOutput none = archguard({"verify", "own.ptx", "--device", "7.5@13.0"}, folder.path());
  CHECK(none.out == "own.ptx: no kernels\n");
  CHECK(none.exit_code == 3);
  const RunOutput json =
      archguard({"verify", "own.ptx", "--device", "7.5", "--format", "json"}, folder.path());
  CHECK(nlohmann::json::parse(json.out)["verdict"] == "no-device-code");
}

TEST_CASE("inspect --kernels lists variables that host code can name, and marks the toolkit's own") {
  const TemporaryFolder folder;
  folder.file("v.ptx",
              ".version 9.0\n.target sm_80\n.address_size 64\n.global .align 4 .b8 dv[16];\n"
              ".const .u8 _ZN4user1cE;\n.global .attribute(.managed) .u32 mv;\n"
              ".global .align 1 .b8 _ZN4cuda3std3__47nulloptE[1];\n.entry k() { ret; }\n");
  CHECK(archguard({"inspect", "v.ptx", "--kernels"}, folder.path())
            .out.find("    empty    k\n"
                      "    constant user::c\n"
                      "    device   dv\n"
                      "    managed  mv\n"
                      "v.ptx: ") != std::string::npos);
  const auto json = nlohmann::json::parse(
      archguard({"inspect", "v.ptx", "--kernels", "--format", "json"}, folder.path()).out);
  const auto& variables = json["files"][0]["containers"][0]["images"][0]["variables"];
  REQUIRE(variables.size() == 4);
  CHECK(variables[0]["of_toolkit"] == true);
  CHECK(variables[1]["name"] == "_ZN4user1cE");
  CHECK(variables[1]["space"] == "constant");
  CHECK(variables[2]["size"] == 16);
  CHECK_FALSE(variables[2].contains("of_toolkit"));
}

TEST_CASE("--output writes the report whole, and nothing at all on bad input") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  const RunOutput run =
      archguard({"verify", "k.ptx", "--device", "8.0@13.0", "--format", "json", "--output", "report.json"},
                folder.path());
  CHECK(run.exit_code == 0);
  CHECK(run.out.empty());
  CHECK(nlohmann::json::parse(file_content(folder.path() + "/report.json"))["verdict"] == "covered");
  check_refused(archguard({"verify", "k.ptx", "--device", "x", "--output", "none.json"}, folder.path()),
                archguard({"verify", "k.ptx", "--device", "x"}, folder.path()).err);
  struct stat status {};
  CHECK(::stat((folder.path() + "/none.json").c_str(), &status) != 0);
}

TEST_CASE("inspect: the JSON has the keys of the contract, kernels on request") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  const RunOutput run = archguard({"inspect", "k.ptx", "--format", "json", "--kernels"}, folder.path());
  CHECK(run.exit_code == 0);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json["schema"] == "archguard.inspect/1");
  const auto& file = json["files"][0];
  CHECK(file["path"] == "k.ptx");
  CHECK(file["member"].is_null());
  const auto& image = file["containers"][0]["images"][0];
  CHECK(image["kind"] == "ptx");
  CHECK(image["kind_code"] == 1);
  CHECK(image["arch"] == "80");
  CHECK(image["ptx_isa"] == "9.0");
  CHECK(image["compression"] == "none");
  CHECK(image["obfuscated"] == false);
  CHECK(image["size"] == kPtx90.size());
  CHECK(image["kernels"][0]["name"] == "gemm");
  CHECK(image["kernels"][0]["state"] == "real");
  CHECK(file["summary"]["ptx"]["80"] == 1);
  const auto plain =
      nlohmann::json::parse(archguard({"inspect", "k.ptx", "--format", "json"}, folder.path()).out);
  CHECK_FALSE(plain["files"][0]["containers"][0]["images"][0].contains("kernels"));
}
