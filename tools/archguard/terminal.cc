#include "terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/text.h"
#include "progress.h"

namespace archguard {

void show_progress(const FilesDone& done, std::size_t files) {
  if (!shows_progress()) return;
  std::string text;
  if (files > 1) text = std::to_string(done.files) + " of " + std::to_string(files) + " files";
  if (done.of_members > 1)
    text += (text.empty() ? "" : ", ") + std::to_string(done.members) + " of " +
            std::to_string(done.of_members) + " members";
  if (!done.path.empty()) text += (text.empty() ? "" : ": ") + std::string(done.path);
  set_progress(text);
}

void print(std::string_view text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_source(const TextSource& text) {
  PrintingSink sink;
  text.write_to(sink);
  sink.flush();
}

Status finish_printing() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return Error{"standard output", "cannot be written whole", {}};
  return Done{};
}

std::size_t columns_of_stdout() {
  winsize size = {};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::size_t columns_for_help() {
  const char* wanted = std::getenv("COLUMNS");
  if (const auto columns = parse_number(wanted == nullptr ? "" : wanted, 100'000))
    return std::max<std::size_t>(*columns, 60);
  const std::size_t columns = columns_of_stdout();
  return columns == 0 ? 100 : std::clamp<std::size_t>(columns, 60, 100);
}

void print_messages(std::string_view lines) {
  clear_progress();
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

namespace {

void print_as(const char* grade, const Error& error) {
  clear_progress();
  std::string text = std::string("archguard: ") + grade + ": " + printable(error.text()) + "\n";
  if (!error.fix.empty()) text += "  fix: " + printable(error.fix) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void print_error(const Error& error) {
  print_as("error", error);
}

void print_warning(const Error& error) {
  print_as("warning", error);
}

}  // namespace archguard
