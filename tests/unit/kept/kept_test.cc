// Verdicts in a folder: what is taken again, and what never is.
#include "kept/kept.h"

#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "filled.h"
#include "kept/file_result_record.h"
#include "support/run_process/run_process.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr char kQuestion[] = "question";

// Looked up when the file had been left alone for an hour.
FileIdentity settled(const std::string& path) {
  FileIdentity identity = *identity_of(path);
  identity.taken += 3600 * std::int64_t{1000000000};
  return identity;
}

FileResult some_result() {
  auto result = filled<FileResult>();
  result.errors.clear();
  return result;
}

struct Fixture {
  TemporaryFolder folder;
  std::string library = folder.file("libx.so", "first content");
  std::string own = folder.path() + "/cache/verdicts";
  KeptVerdicts kept{{folder.path() + "/cache"}};

  void keep(const std::string& question = kQuestion) const {
    kept.keep(library, settled(library), question, some_result());
  }
  bool finds() const { return kept.find(library, kQuestion).has_value(); }
};

std::vector<std::string> records_in(const std::string& path) {
  std::vector<std::string> records;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return records;
  while (const dirent* entry = ::readdir(folder))
    if (std::string(entry->d_name).find(".verdict") != std::string::npos)
      records.push_back(path + "/" + entry->d_name);
  ::closedir(folder);
  return records;
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

void set_modified(const std::string& path, std::int64_t nanoseconds) {
  const timespec time{static_cast<time_t>(nanoseconds / 1000000000),
                      static_cast<long>(nanoseconds % 1000000000)};
  const timespec times[2] = {time, time};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

bool others_can_read(const std::string& path) {
  struct stat about {};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  return (about.st_mode & 077) != 0;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a verdict is found for this very file and question, by this user alone") {
  CHECK(kept.keeps());
  CHECK_FALSE(finds());
  keep();
  const auto found = kept.find(library, kQuestion);
  REQUIRE(found);
  FileResult expected = some_result();  // but for what callers tell of it
  expected.named = true;
  expected.needed_by.clear();
  expected.by_linker = expected.alternative = false;
  expected.needs.clear();
  expected.found_under.clear();
  expected.any_of.clear();
  expected.libraries.clear();
  expected.package.reset();
  CHECK(encode(*found) == encode(expected));
  CHECK_FALSE(kept.find(library, "another"));
  CHECK_FALSE(kept.find(folder.path() + "/./libx.so", kQuestion));  // the result names the path
  CHECK_FALSE(kept.find(folder.file("liby.so", "first content"), kQuestion));
  CHECK_FALSE(others_can_read(own));
  REQUIRE(records_in(own).size() == 1);
  CHECK_FALSE(others_can_read(records_in(own)[0]));
  keep();
  CHECK(records_in(own).size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "without a folder nothing is kept") {
  const KeptVerdicts none({});
  CHECK_FALSE(none.keeps());
  none.keep(library, settled(library), kQuestion, some_result());
  CHECK_FALSE(none.find(library, kQuestion));
  CHECK(none.try_turn(library, kQuestion));
  const KeptTurn turn = none.wait_turn(library, kQuestion);
  CHECK_FALSE(KeptVerdicts({""}).keeps());
}

TEST_CASE_FIXTURE(Fixture, "several folders: written to all, asked in their order") {
  const std::string other = folder.path() + "/deep/down/other";
  const KeptVerdicts both({folder.path() + "/cache", other});
  both.keep(library, settled(library), kQuestion, some_result());
  CHECK(finds());
  CHECK(KeptVerdicts({other}).find(library, kQuestion));
  REQUIRE(::unlink(records_in(own)[0].c_str()) == 0);
  CHECK_FALSE(finds());
  CHECK(both.find(library, kQuestion));
}

TEST_CASE_FIXTURE(Fixture, "a file that was changed in any way is another file") {
  keep();
  REQUIRE(finds());
  const FileIdentity before = *identity_of(library);
  SUBCASE("replaced by one with its size and an older date, as by cp -p") {
    write(folder.path() + "/new", "other content");
    set_modified(folder.path() + "/new", before.modified - 1000000000);
    REQUIRE(::rename((folder.path() + "/new").c_str(), library.c_str()) == 0);
  }
  SUBCASE("replaced by one with its size and date") {
    write(folder.path() + "/new", "other content");
    set_modified(folder.path() + "/new", before.modified);
    REQUIRE(::rename((folder.path() + "/new").c_str(), library.c_str()) == 0);
  }
  SUBCASE("written again in its place, and its date set back") {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a tick of the clock that files have
    write(library, "other content");
    set_modified(library, before.modified);
    CHECK(identity_of(library)->inode == before.inode);
    CHECK(identity_of(library)->size == before.size);
    CHECK(identity_of(library)->modified == before.modified);
  }
  SUBCASE("shrunk") {
    REQUIRE(::truncate(library.c_str(), 3) == 0);
  }
  SUBCASE("gone") {
    REQUIRE(::unlink(library.c_str()) == 0);
  }
  SUBCASE("a folder in its place") {
    REQUIRE(::unlink(library.c_str()) == 0);
    REQUIRE(::mkdir(library.c_str(), 0700) == 0);
  }
  CHECK_FALSE(finds());
}

TEST_CASE_FIXTURE(Fixture, "a link is what it leads to") {
  const std::string link = folder.path() + "/link.so", other = folder.file("liby.so", "first content");
  REQUIRE(::symlink(library.c_str(), link.c_str()) == 0);
  kept.keep(link, settled(link), kQuestion, some_result());
  CHECK(kept.find(link, kQuestion));
  REQUIRE(::unlink(link.c_str()) == 0);
  REQUIRE(::symlink(other.c_str(), link.c_str()) == 0);
  CHECK_FALSE(kept.find(link, kQuestion));
}

TEST_CASE_FIXTURE(Fixture, "what must not be kept") {
  SUBCASE("a result with errors: another time they may be others") {
    FileResult result = some_result();
    result.errors.push_back({"x", "cannot be read", {}});
    kept.keep(library, settled(library), kQuestion, result);
  }
  SUBCASE("of a file that changed while it was read") {
    const FileIdentity before = settled(library);
    write(library, "longer than the first content");
    kept.keep(library, before, kQuestion, some_result());
  }
  SUBCASE("of a file that was written just now: once more would not show") {
    kept.keep(library, *identity_of(library), kQuestion, some_result());
  }
  SUBCASE("of a file that is gone") {
    const FileIdentity before = settled(library);
    REQUIRE(::unlink(library.c_str()) == 0);
    kept.keep(library, before, kQuestion, some_result());
  }
  SUBCASE("what is too large") {
    FileResult result = some_result();
    result.devices[0].kernels.missing.assign(5000, std::string(1000, 'k'));
    kept.keep(library, settled(library), kQuestion, result);
  }
  CHECK(records_in(own).empty());
}

TEST_CASE("settled: neither written nor changed within two seconds before, nor to be changed in the future") {
  constexpr std::int64_t second = 1000000000, now = 1000 * second;
  const auto is = [](std::int64_t modified, std::int64_t changed) {
    FileIdentity identity;
    identity.modified = modified;
    identity.changed = changed;
    identity.taken = now;
    return is_settled(identity);
  };
  CHECK(is(now - 2 * second, now - 2 * second));
  CHECK_FALSE(is(now - 1, now - 2 * second));
  CHECK_FALSE(is(now - 2 * second, now - 2 * second + 1));
  CHECK_FALSE(is(now - 9 * second, now + second));
  CHECK(is(now + second, now - 9 * second));  // a date that somebody set
}

TEST_CASE_FIXTURE(Fixture, "a record that is damaged anywhere is not there, and is written anew") {
  FileResult small;
  small.path = library;
  kept.keep(library, settled(library), kQuestion, small);
  REQUIRE(finds());
  const std::string record = records_in(own)[0], bytes = file_content(record);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write(record, bytes.substr(0, size));
    CHECK_FALSE(finds());
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string turned = bytes;
    turned[at] = static_cast<char>(turned[at] ^ 1 << at % 8);
    write(record, turned);
    CHECK_FALSE(finds());
  }
  write(record, bytes + "x");
  CHECK_FALSE(finds());
  keep();
  CHECK(finds());
}

TEST_CASE_FIXTURE(Fixture, "a record of another file or question under this name is none of this one") {
  keep();
  keep("another");
  const auto records = records_in(own);
  REQUIRE(records.size() == 2);
  const std::string one = file_content(records[0]), two = file_content(records[1]);
  write(records[0], two);
  write(records[1], one);
  CHECK_FALSE(finds());
  CHECK_FALSE(kept.find(library, "another"));
}

TEST_CASE_FIXTURE(Fixture, "a folder or a record that others may write to is nobody's") {
  keep();
  REQUIRE(finds());
  std::string changed = own;
  mode_t mode = 0700;
  SUBCASE("the folder, by all") {
    mode = 0777;
  }
  SUBCASE("the folder, by the group") {
    mode = 0770;
  }
  SUBCASE("the record") {
    changed = records_in(own)[0];
    mode = 0666;
  }
  REQUIRE(::chmod(changed.c_str(), mode) == 0);
  CHECK_FALSE(finds());
  REQUIRE(::chmod(changed.c_str(), 0700) == 0);
  CHECK(finds());
}

TEST_CASE_FIXTURE(Fixture, "nor one of another user, or behind a link") {
  keep();
  REQUIRE(finds());
  if (::geteuid() == 0) {  // who may give files away
    for (const std::string& path : {own, records_in(own)[0]}) {
      REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
      CHECK_FALSE(finds());
      REQUIRE(::chown(path.c_str(), 0, 0) == 0);
    }
    REQUIRE(finds());
  }
  const std::string moved = folder.path() + "/moved";
  REQUIRE(::rename(own.c_str(), moved.c_str()) == 0);
  REQUIRE(::symlink(moved.c_str(), own.c_str()) == 0);
  CHECK_FALSE(finds());
}

TEST_CASE_FIXTURE(Fixture, "where nothing can be written there is silence") {
  folder.file("cache", "a file");
  keep();
  CHECK_FALSE(finds());
  CHECK(kept.try_turn(library, kQuestion));
  const KeptVerdicts nowhere({"/proc/nowhere", "/dev/null"});
  nowhere.keep(library, settled(library), kQuestion, some_result());
  CHECK_FALSE(nowhere.find(library, kQuestion));
}

TEST_CASE_FIXTURE(Fixture, "a pipe or a folder in a record's place is neither waited for nor read") {
  keep();
  const std::string record = records_in(own)[0];
  REQUIRE(::unlink(record.c_str()) == 0);
  SUBCASE("a pipe") {
    REQUIRE(::mkfifo(record.c_str(), 0600) == 0);
  }
  SUBCASE("a folder") {
    REQUIRE(::mkdir(record.c_str(), 0700) == 0);
  }
  CHECK_FALSE(finds());
  keep();
  CHECK_FALSE(finds());
}

TEST_CASE_FIXTURE(Fixture, "there is an end to what is kept: the oldest go, and what a killed process left") {
  KeptFolder::Limits limits;
  limits.records_most = 3;
  const KeptVerdicts few({folder.path() + "/cache"}, limits);
  keep();
  std::int64_t time = 1000000000000000000;
  const std::string first = records_in(own)[0];
  set_modified(first, time);
  write(own + "/0123.verdict.77.part", "half");
  set_modified(own + "/0123.verdict.77.part", time);
  for (const char* question : {"2", "3", "4", "5"}) {
    few.keep(library, settled(library), question, some_result());
    for (const std::string& record : records_in(own))
      if (identity_of(record)->modified > time + 100) set_modified(record, ++time);
  }
  CHECK(records_in(own).size() == 3);
  CHECK_FALSE(finds());
  CHECK_FALSE(kept.find(library, "2"));
  CHECK(kept.find(library, "3"));
  CHECK(kept.find(library, "5"));

  limits.bytes_most = identity_of(records_in(own)[0])->size + 1;
  KeptVerdicts({folder.path() + "/cache"}, limits).keep(library, settled(library), "6", some_result());
  CHECK(records_in(own).size() == 1);
  CHECK(kept.find(library, "6"));
}

TEST_CASE_FIXTURE(Fixture, "a record that is of use does not grow old") {
  keep();
  const std::string record = records_in(own)[0];
  set_modified(record, 1000000000000000000);
  CHECK(finds());
  CHECK(identity_of(record)->modified > 1000000000000000000);
}

TEST_CASE_FIXTURE(Fixture, "one judges a file, the others wait for it") {
  auto turn = kept.try_turn(library, kQuestion);
  REQUIRE(turn);
  const KeptVerdicts others({folder.path() + "/cache"});
  CHECK_FALSE(others.try_turn(library, kQuestion));
  CHECK(others.try_turn(library, "another"));
  std::thread other([&] {
    const KeptTurn theirs = others.wait_turn(library, kQuestion);
    CHECK(others.find(library, kQuestion));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  keep();
  turn.reset();
  other.join();
  CHECK(others.try_turn(library, kQuestion));
}

TEST_CASE_FIXTURE(Fixture, "nobody is waited for without end, and the turn of who died is free") {
  {
    const auto turn = kept.try_turn(library, kQuestion);
    const KeptTurn other = kept.wait_turn(library, kQuestion, std::chrono::milliseconds(20));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const auto turn = kept.try_turn(library, kQuestion);
    ::_exit(turn ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(kept.try_turn(library, kQuestion));
}

TEST_CASE("an identity is that of a regular file") {
  const TemporaryFolder folder;
  CHECK_FALSE(identity_of(folder.path()));
  CHECK_FALSE(identity_of(folder.path() + "/none"));
  CHECK_FALSE(identity_of("/dev/null"));
  CHECK_FALSE(identity_of(std::string("/dev/null\0x", 11)));
  const auto identity = identity_of(folder.file("a", "four"));
  REQUIRE(identity);
  CHECK(identity->size == 4);
  CHECK(*identity ==
        *identity_of(folder.path() + "/../" + folder.path().substr(folder.path().rfind('/') + 1) + "/a"));
}
