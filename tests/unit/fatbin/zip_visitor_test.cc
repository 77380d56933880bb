#include "fatbin/zip_visitor.h"

#include <chrono>
#include <condition_variable>
#include <doctest/doctest.h>
#include <mutex>
#include <set>
#include <thread>

#include "reading.h"
#include "support/builders/zip_builder.h"

using namespace archguard;
using namespace archguard::test;
using fatbin::ZipLimits;
using fatbin::ZipVisitor;

namespace {

// What is handed over, a line for each, and what it says of the members that are done.
std::string visited(const ByteSource& zip, const ZipLimits& limits, std::string* progress = nullptr) {
  std::string text;
  const VisitDeviceCode visit = [&](const DeviceCode& code, const ByteSource& bytes) {
    text +=
        code.member + " of " + std::to_string(bytes.size()) + " bytes\n" + outline(code) + errors_of(code);
    for (const Unread& member : code.passed_over) text += "passed over: " + member.path + "\n";
  };
  const MembersRead read = [&](std::uint64_t done, std::uint64_t members) {
    if (progress != nullptr) *progress += std::to_string(done) + "/" + std::to_string(members) + " ";
  };
  const std::string path = "t.zip";
  ZipVisitor visitor(path, zip.size(), visit, read, Keep::all, limits);
  visitor.read(zip);
  visitor.finish();
  return text;
}

test::Bytes library(int arch, std::size_t payload) {
  return object_with(".nv_fatbin", FatbinBuilder{}.cubin(arch, filler(payload)).bytes());
}

// Reads of more than a header wait until another thread reads as well, ten seconds at most. Those up to the
// end of the file look for the directory: then there is no other thread yet.
class Meeting final : public ByteSource {
 public:
  explicit Meeting(const test::Bytes& bytes) : source_(bytes) {}
  std::uint64_t size() const override { return source_.size(); }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    if (count > 4096 && offset + count < size()) {
      std::unique_lock<std::mutex> lock(mutex_);
      readers_.insert(std::this_thread::get_id());
      met_.notify_all();
      met_.wait_for(lock, std::chrono::seconds(10), [&] { return readers_.size() > 1; });
    }
    return source_.read(offset, out, count);
  }
  bool met() const { return readers_.size() > 1; }

 private:
  MemorySource source_;
  mutable std::mutex mutex_;
  mutable std::condition_variable met_;
  mutable std::set<std::thread::id> readers_;
};

}  // namespace

TEST_CASE("several members of a zip file are read at once") {
  const test::Bytes zip = ZipBuilder{}
                              .stored("a.so", library(80, 300 << 10))
                              .stored("b.so", library(90, 300 << 10))
                              .stored("c.so", library(100, 300 << 10))
                              .comment("a comment")
                              .bytes();
  const Meeting source(zip);
  ZipLimits limits;
  limits.threads = 3;
  const std::string text = visited(source, limits);
  CHECK(source.met());
  CHECK(text.find("t.zip(b.so)(.nv_fatbin+0x0): sass 90;\n") != std::string::npos);
}

TEST_CASE("a zip file reads the same on any number of threads") {
  ZipBuilder inner, builder;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    inner.deflated("in" + number + ".so", library(75, static_cast<std::size_t>(i) << 10));
    builder.deflated("a" + number + ".so", library(80, static_cast<std::size_t>(i) << 13));
    if (i % 9 == 0) builder.checksum(1);
    builder.stored("b" + number + ".txt", filler(static_cast<std::size_t>(i)));
    if (i % 11 == 0) builder.deflated("c" + number + ".gz", {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3});
    if (i % 13 == 0) builder.deflated("n" + number + ".zip", inner.bytes());
    if (i == 20) builder.stored("pkg-x.tar.zst", {});
    if (i % 16 == 0) builder.deflated("large" + number + ".so", library(90, std::size_t{5} << 20));
  }
  const test::Bytes zip = builder.bytes();
  ZipLimits one;
  one.threads = 1;
  std::string progress, progress_of_many;
  const std::string expected = visited(MemorySource(zip), one, &progress);
  CHECK(expected.find("n39.zip(in39.so)") != std::string::npos);
  CHECK(expected.find("its CRC-32 must be 0x1") != std::string::npos);
  CHECK(progress.find("91/92 ") != std::string::npos);
  for (const unsigned threads : {2U, 7U})
    for (const std::uint64_t on_disk : {std::uint64_t{0}, std::uint64_t{6} << 20, std::uint64_t{1} << 30}) {
      ZipLimits limits;
      limits.threads = threads;
      limits.on_disk = on_disk;
      progress_of_many.clear();
      CHECK(visited(MemorySource(zip), limits, &progress_of_many) == expected);
      CHECK(progress_of_many == progress);
    }
}

TEST_CASE("what a zip file within takes of the bytes to inflate, later members lack, read ahead or not") {
  const test::Bytes zeros(std::size_t{15} << 20), fewer(std::size_t{10} << 20);
  const test::Bytes zip = ZipBuilder{}
                              .deflated("a.zip", ZipBuilder{}.deflated("zeros", fewer).bytes())
                              .deflated("zeros", zeros)
                              .deflated("b.so", library(80, 600 << 10))
                              .deflated("c.so", library(90, 600 << 10))
                              .bytes();
  for (const unsigned threads : {1U, 4U}) {
    ZipLimits limits;
    limits.threads = threads;
    const std::string text = visited(MemorySource(zip), limits);
    CHECK(text.find("t.zip(zeros): is not read: the zip file inflates to too much\n") != std::string::npos);
    CHECK(text.find("c.so of") != std::string::npos);
  }
}

TEST_CASE("a link in a zip file is passed over where it is named like a binary and leads to no file in it") {
  const auto passed_over = [](const test::Bytes& zip) {
    std::string names;
    const std::string text = visited(MemorySource(zip), {});
    for (std::size_t at = 0; (at = text.find("passed over: ", at)) != std::string::npos; ++at)
      names += text.substr(at + 13, text.find('\n', at) - at - 13) + " ";
    return names;
  };
  const test::Bytes library_80 = library(80, 100);
  CHECK(passed_over(ZipBuilder{}
                        .link("lib/libfoo.so", "libfoo.so.1")  // by another link
                        .link("lib/libfoo.so.1", "../store/current/./libfoo.so.1.2")
                        .link("store/current", "v1")  // a folder
                        .stored("./store/v1/libfoo.so.1.2", library_80)
                        .link("notes.txt", "nowhere")
                        .bytes())
            .empty());
  CHECK(passed_over(ZipBuilder{}
                        .link("k.cubin", "k2.cubin")
                        .link("libbar.so", "lib/libbar.so.1")
                        .link("liba.so", "liba.so")  // a circle
                        .link("libb.so", "../libfoo.so")
                        .link("libc.so", "/usr/lib/libfoo.so")
                        .link("libd.so", std::string(5000, 'x'))
                        .link("libe.so", "libbar.so")
                        .link("libf.so", "libfoo.so")
                        .stored("libfoo.so", library_80)
                        .bytes()) ==
        "t.zip(k.cubin) t.zip(liba.so) t.zip(libb.so) t.zip(libbar.so) t.zip(libc.so) t.zip(libd.so) "
        "t.zip(libe.so) ");
  CHECK(passed_over(ZipBuilder{}.stored("n.zip", ZipBuilder{}.link("a.o", "b.o").bytes()).bytes()) ==
        "t.zip(n.zip(a.o)) ");
}

TEST_CASE("links of a zip file that lead far take no long time") {
  std::string far;
  for (int i = 0; i < 1300; ++i) far += "a/";
  ZipBuilder builder;
  for (int i = 0; i < 4000; ++i) builder.link("b" + std::to_string(i) + ".so", far + std::to_string(i));
  builder.link("a", "./.");
  const std::string text = visited(MemorySource(builder.bytes()), {});
  CHECK(text.find("passed over: t.zip(b7.so)") != std::string::npos);
}
