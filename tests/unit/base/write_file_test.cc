#include "base/write_file.h"

#include <doctest/doctest.h>

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
