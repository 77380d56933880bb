#include "base/text_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <thread>

#include "support/run_process/run_process.h"

using namespace archguard;

namespace {

std::string text_or_error(const std::string& path) {
  const auto text = read_text_file(path);
  return text ? *text : "error: " + text.error().text();
}

void write_whole(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

}  // namespace

TEST_CASE("a text is read from a file, a pipe and a character device alike") {
  const TemporaryFolder folder;
  const std::string text = "a\r\nb" + std::string(300'000, 'x') + std::string("\0c", 2);
  CHECK(text_or_error(folder.file("file", text)) == text);
  CHECK(text_or_error(folder.file("empty", "")).empty());
  CHECK(text_or_error("/dev/null").empty());
  const std::string fifo = folder.path() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::thread writer([&] { write_whole(fifo, text); });
  CHECK(text_or_error(fifo) == text);
  writer.join();
}

TEST_CASE("what is no text to read is refused by name") {
  const TemporaryFolder folder;
  CHECK(text_or_error(folder.path()) == "error: " + folder.path() + ": is a folder, not a file");
  CHECK(text_or_error(folder.path() + "/x") == "error: " + folder.path() + "/x: no such file");
  CHECK(text_or_error("") == "error: the name of a file is empty");
}

TEST_CASE("64 MiB are read, and not a byte more") {
  const TemporaryFolder folder;
  const std::string most(std::size_t{64} << 20, 'x');
  CHECK(text_or_error(folder.file("most", most)).size() == most.size());
  const std::string larger = folder.file("larger", most + "x");
  CHECK(text_or_error(larger) == "error: " + larger + ": is larger than 64 MiB");
  CHECK(text_or_error("/dev/zero") == "error: /dev/zero: is larger than 64 MiB");
}

TEST_CASE("standard input has a name in messages") {
  CHECK(text_file_name("-") == "standard input");
  CHECK(text_file_name("./-") == "./-");
}
