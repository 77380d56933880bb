#include "base/write_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/run_process/run_process.h"

using namespace archguard;

TEST_CASE("a file is written whole, over the old one, with nothing left beside it") {
  TemporaryFolder folder;
  const std::string path = folder.file("report", "the old text, which is longer");
  REQUIRE(write_file(path, "new").ok());
  CHECK(file_content(path) == "new");
  CHECK(run_process({"ls", folder.path()}).out == "report\n");
}

TEST_CASE("a file that cannot be written says why") {
  TemporaryFolder folder;
  const auto nowhere = write_file(folder.path() + "/no/report", "x");
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().text() == folder.path() + "/no/report: cannot be written: no such file or directory");
  CHECK(nowhere.error().fix == "name a file in a folder that exists and is yours");
  // Its place is taken by a folder: the part beside it is gone again.
  const std::string inside = folder.file("taken/x", "");
  const auto taken = write_file(folder.path() + "/taken", "x");
  REQUIRE_FALSE(taken);
  CHECK(taken.error().text() == folder.path() + "/taken: cannot be written: is a directory");
  CHECK(run_process({"ls", folder.path()}).out == "taken\n");
}

TEST_CASE("what is no regular file is written to, and stays what it is") {
  const TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe", file = folder.file("file", "old"),
                    link = folder.path() + "/link";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  CHECK(write_file(pipe, "text").ok());
  char got[8] = {};
  CHECK(read(reader, got, sizeof got) == 4);
  CHECK(std::string(got) == "text");
  close(reader);

  REQUIRE(symlink("file", link.c_str()) == 0);
  CHECK(write_file(link, "new").ok());
  CHECK(file_content(file) == "new");
  CHECK(run_process({"ls", "-F", folder.path()}).out == "file\nlink@\npipe|\n");
}

TEST_CASE("a full device is an error") {
  struct stat about {};
  if (stat("/dev/full", &about) != 0 || !S_ISCHR(about.st_mode)) return;
  const auto full = write_file("/dev/full", "text");
  REQUIRE_FALSE(full);
  CHECK(full.error().text() == "/dev/full: cannot be written: no space left on device");
  CHECK((stat("/dev/full", &about) == 0 && S_ISCHR(about.st_mode)));
}
