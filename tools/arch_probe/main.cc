#include <cstdio>
#include <string>
#include <vector>

#include "base/colour.h"
#include "base/standard_streams.h"
#include "commands.h"
#include "device/platform.h"

namespace {

archguard::Answer answer_to(const std::vector<std::string>& arguments) {
  using archguard::Options;
  const auto options = archguard::parse_options(arguments);
  if (!options) return archguard::usage_answer(options.error());
  switch (options->command) {
    case Options::Command::help:
      return {0, archguard::text_source(archguard::probe_help()), {}};
    case Options::Command::select_help:
      return {0, archguard::text_source(archguard::select_help()), {}};
    case Options::Command::version:
      return {0, archguard::text_source("arch_probe " ARCHGUARD_VERSION "\n"), {}};
    case Options::Command::probe:
      return archguard::run_probe_command(options->probe, archguard::colour_for_stdout());
    case Options::Command::select:
      break;
  }
  return archguard::run_select_command(options->select);
}

void write_text(const archguard::TextSource& text, std::FILE* file) {
  if (text)
    archguard::join_pieces(text,
                           [&](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), file); });
}

}  // namespace

int main(int argc, char** argv) {
  archguard::keep_standard_streams_apart();
  const auto arguments = archguard::start_program(argc, argv);
  if (archguard::became_driver_child(arguments)) return 0;
  const archguard::Answer answer = answer_to(arguments);
  write_text(answer.err, stderr);
  write_text(answer.out, stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return answer.exit_code;
  std::fputs("arch_probe: error: standard output cannot be written whole\n", stderr);
  return 2;
}
