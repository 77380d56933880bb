#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/text.h"
#include "compat/toolkit.h"
#include "select/parts.h"

namespace archguard {
namespace {

constexpr const char* kNvccFix = "name the CUDA compiler itself, for example /usr/local/cuda/bin/nvcc";

// Blanks separate; quotes of both kinds hold a word together, as in CMake's UNIX_COMMAND mode.
std::vector<std::string> words_of_command(std::string_view command) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (const char c : command) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else
      words.back() += c;
  }
  return words;
}

// A path with blanks in it is a path, not a program with arguments.
Result<std::vector<std::string>> argv_of_command(const std::string& command) {
  std::vector<std::string> argv =
      is_program(command) ? std::vector<std::string>{command} : words_of_command(command);
  if (argv.empty() || argv[0].empty()) return Error{"", "the name of the CUDA compiler is empty", kNvccFix};
  std::string path = find_program(argv[0]);
  if (path.empty())
    return Error{argv[0], "no such program in PATH",
                 "add the CUDA toolkit's bin folder to PATH, or " + std::string(kNvccFix)};
  argv[0] = std::move(path);
  return argv;
}

std::string first_line(const std::string& text) {
  for (const auto line : split(text, '\n'))
    if (!trim(line).empty()) return std::string(trim(line)).substr(0, 200);
  return {};
}

// What the option prints, where the program ends in order. Where it does not: why, as the error.
Result<std::string> ask(std::vector<std::string> argv, const std::vector<std::string>& options,
                        std::chrono::seconds deadline) {
  argv.insert(argv.end(), options.begin(), options.end());
  const std::string where = join(argv, " ");
  auto run = run_process(argv, deadline);
  if (!run) return Error{run.error().where, run.error().what, kNvccFix};
  if (run->timed_out)
    return Error{where,
                 "no answer within " + count_of(static_cast<std::uint64_t>(deadline.count()), "second"),
                 "run this command by hand; a wrapper or a network folder may hang"};
  if (run->signal != 0)
    return Error{where, "died of signal " + std::to_string(run->signal),
                 "reinstall this CUDA toolkit, or " + std::string(kNvccFix)};
  if (run->exit_status == 0) return run->out + run->err;  // clang lists on standard error
  std::string what = "failed with exit status " + std::to_string(run->exit_status);
  const std::string said = first_line(run->err.empty() ? run->out : run->err);
  return Error{where, said.empty() ? what : what + ": " + said, kNvccFix};
}

// nvcc's banner: "nvcc: NVIDIA (R) Cuda compiler driver … Cuda compilation tools, release 13.0, V13.0.88".
Result<Version> version_in_banner(const std::string& banner, const std::string& program) {
  constexpr std::string_view kRelease = ", release ";
  const auto at = banner.find(kRelease);
  if (banner.find("NVIDIA (R) Cuda compiler") != std::string::npos && at != std::string::npos) {
    const std::string_view rest = std::string_view(banner).substr(at + kRelease.size());
    if (const auto version = parse_version(rest.substr(0, rest.find(',')))) return *version;
  }
  const std::string said = first_line(banner);
  if (said.find("clang version") != std::string::npos)
    return Error{program, "is clang",
                 "pass it by --clang, and the nvcc of the CUDA toolkit that it uses by --nvcc"};
  return Error{program, "is not nvcc: its --version says '" + said + "'", kNvccFix};
}

std::vector<Arch> archs_in_listing(const std::string& listing, std::string_view prefix) {
  std::vector<Arch> archs;
  for (auto line : split(listing, '\n')) {
    line = trim(line);
    if (!starts_with(line, prefix)) continue;
    if (const auto arch = parse_arch(line.substr(prefix.size()))) insert_once(archs, *arch);
  }
  return archs;
}

// The newest release of the table that is not newer than this nvcc; nullptr where it is older than the table.
const Toolkit* nearest_known_toolkit(Version version) {
  const Toolkit* nearest = nullptr;
  for (const Toolkit& toolkit : known_toolkits())
    if (toolkit.version <= version) nearest = &toolkit;
  return nearest;
}

// The names with a suffix that the table has for a listed arch.
void add_suffixed(std::vector<Arch>& archs, const Toolkit* toolkit) {
  if (toolkit == nullptr) return;
  for (const Arch arch : toolkit->archs)
    if (makes(archs, {arch.number, Suffix::none})) insert_once(archs, arch);
}

}  // namespace

Result<Compiler> compiler_of_nvcc(const std::string& command, std::chrono::seconds deadline) {
  ARCHGUARD_TRY(argv, argv_of_command(command));
  ARCHGUARD_TRY(banner, ask(argv, {"--version"}, deadline));
  ARCHGUARD_TRY(version, version_in_banner(banner, argv[0]));

  auto code = ask(argv, {"--list-gpu-code"}, deadline);
  if (!code && code.error().what.find("nknown option") != std::string::npos) {
    auto by_table = compiler_of_toolkit(version);
    if (!by_table) return Error{argv[0], by_table.error().what, "use a newer CUDA toolkit"};
    by_table->path = argv[0];
    return by_table;
  }
  if (!code) return std::move(code).error();
  ARCHGUARD_TRY(arch, ask(argv, {"--list-gpu-arch"}, deadline));

  Compiler compiler;
  compiler.version = version;
  if (const Toolkit* known = find_toolkit(version)) compiler.ptx_isa = known->ptx_isa;
  compiler.sass = archs_in_listing(*code, "sm_");
  compiler.ptx = archs_in_listing(arch, "compute_");
  if (compiler.sass.empty() || compiler.ptx.empty())
    return Error{argv[0], "lists no architectures for --list-gpu-code and --list-gpu-arch", kNvccFix};
  add_suffixed(compiler.sass, nearest_known_toolkit(version));
  add_suffixed(compiler.ptx, nearest_known_toolkit(version));
  compiler.path = argv[0];
  return compiler;
}

Result<Compiler> compiler_of_clang(const std::string& command, const Compiler& nvcc,
                                   std::chrono::seconds deadline) {
  const std::string fix = "name a clang++ that can make CUDA code";
  auto argv = argv_of_command(command);
  if (!argv) return Error{argv.error().where, argv.error().what, fix};
  auto banner = ask(*argv, {"--version"}, deadline);
  if (!banner) return Error{banner.error().where, banner.error().what, fix};
  constexpr std::string_view kVersion = "clang version ";  // "Debian clang version 19.1.7 (3~deb12u1)"
  const auto at = banner->find(kVersion);
  const auto words = at == std::string::npos
                         ? std::vector<std::string_view>{}
                         : split(std::string_view(*banner).substr(at + kVersion.size()), '.');
  const auto version = words.size() < 2
                           ? std::nullopt
                           : parse_version(join({std::string(words[0]), std::string(words[1])}, "."));
  if (!version)
    return Error{(*argv)[0], "is not clang: its --version says '" + first_line(*banner) + "'", fix};

  auto listing = ask(*argv, {"--target=nvptx64-nvidia-cuda", "-print-supported-cpus"}, deadline);
  if (!listing) return Error{listing.error().where, listing.error().what, fix};
  const auto known = archs_in_listing(*listing, "sm_");
  Compiler compiler = nvcc;
  compiler.clang = "clang " + to_string(*version);
  for (auto* archs : {&compiler.sass, &compiler.ptx})
    archs->erase(
        std::remove_if(archs->begin(), archs->end(),
                       [&](Arch arch) { return std::find(known.begin(), known.end(), arch) == known.end(); }),
        archs->end());
  if (compiler.sass.empty() || compiler.ptx.empty())
    return Error{(*argv)[0], name_of(compiler) + " have no architecture in common",
                 "use a newer clang, or an older CUDA toolkit"};
  return compiler;
}

}  // namespace archguard
