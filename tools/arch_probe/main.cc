#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/colour.h"
#include "base/standard_streams.h"
#include "commands.h"
#include "device/system.h"

namespace {

class StreamSink : public archguard::TextSink {
 public:
  explicit StreamSink(std::FILE* stream) : stream_(stream) {}

 private:
  void pass_on(std::string_view text) override { std::fwrite(text.data(), 1, text.size(), stream_); }
  std::FILE* stream_;
};

int run_command(const std::vector<std::string>& arguments, archguard::TextSink& out,
                archguard::TextSink& err) {
  using archguard::Options;
  const auto options = archguard::parse_options(arguments);
  if (!options) return archguard::end_with(options.error(), err);
  if (options->wants == Options::Wants::version) {
    out.write("arch_probe " ARCHGUARD_VERSION "\n");
    return 0;
  }
  if (options->wants != Options::Wants::answer) {
    const bool whole = options->wants == Options::Wants::help;
    out.write(options->is_select ? archguard::select_help(whole) : archguard::probe_help(whole));
    return 0;
  }
  if (!options->is_select)
    return archguard::run_probe_command(options->probe, archguard::colour_for_stdout(), out, err);
  return archguard::run_select_command(options->select, out, err);
}

}  // namespace

int main(int argc, char** argv) {
  archguard::keep_standard_streams_apart();
  const auto arguments = archguard::start_program(argc, argv);
  if (archguard::became_driver_child(arguments)) return 0;
  StreamSink out(stdout), err(stderr);
  const int exit_code = run_command(arguments, out, err);
  err.flush();
  out.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  std::fputs("arch_probe: error: standard output cannot be written whole\n", stderr);
  return 2;
}
