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

TEST_CASE("a file that is replaced keeps its mode, a new one gets that of the umask") {
  const TemporaryFolder folder;
  const auto mode_of = [](const std::string& path) {
    struct stat about {};
    REQUIRE(stat(path.c_str(), &about) == 0);
    return about.st_mode & 0777;
  };
  const std::string path = folder.file("report", "old"), made = folder.path() + "/new";
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const mode_t before = umask(0027);
  CHECK(write_file(path, "new").ok());
  CHECK(write_file(made, "new").ok());
  umask(before);
  CHECK(mode_of(path) == 0640);
  CHECK(mode_of(made) == 0640);
  REQUIRE(chmod(path.c_str(), 0604) == 0);
  CHECK(write_file(path, "newer").ok());
  CHECK(mode_of(path) == 0604);
}

TEST_CASE("a file of another user stays that user's") {
  if (geteuid() != 0) return;  // nobody else may give a file away
  const TemporaryFolder folder;
  const std::string path = folder.file("report", "old");
  REQUIRE(chown(path.c_str(), 65534, 65533) == 0);
  REQUIRE(chmod(path.c_str(), 0604) == 0);
  CHECK(write_file(path, "new").ok());
  struct stat about {};
  REQUIRE(stat(path.c_str(), &about) == 0);
  CHECK(about.st_uid == 65534);
  CHECK(about.st_gid == 65533);
  CHECK((about.st_mode & 07777) == 0604);
}

TEST_CASE("what stands where the part could be made is left alone") {
  const TemporaryFolder folder;
  const std::string target = folder.file("target", "another's"), path = folder.path() + "/report";
  const std::string planted = path + "." + std::to_string(getpid()) + ".part";
  REQUIRE(symlink("target", planted.c_str()) == 0);
  CHECK(write_file(path, "new").ok());
  CHECK(file_content(target) == "another's");
  CHECK(file_content(path) == "new");
}

TEST_CASE("in a folder that all users share, another user's link or pipe is not followed") {
  if (geteuid() != 0) return;  // nobody else can make what another user would leave
  const TemporaryFolder folder;
  const std::string target = folder.file("target", "another's"), shared = folder.path() + "/shared";
  const std::string link = shared + "/report", pipe = shared + "/pipe", own = shared + "/own";
  REQUIRE(mkdir(shared.c_str(), 0777) == 0);
  REQUIRE(chmod(shared.c_str(), 01777) == 0);
  for (const std::string& each : {link, own}) REQUIRE(symlink("../target", each.c_str()) == 0);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& each : {link, pipe}) REQUIRE(lchown(each.c_str(), 65534, 65534) == 0);
  for (const std::string& each : {link, pipe}) {
    const auto written = write_file(each, "new");
    REQUIRE_FALSE(written);
    CHECK(written.error().text() ==
          each + ": is not written: " + each + " is another user's, in a folder that all users share");
    CHECK(written.error().fix == "name a file in a folder of your own");
  }
  CHECK(file_content(target) == "another's");
  CHECK(write_file(own, "own").ok());
  CHECK(file_content(target) == "own");
}
