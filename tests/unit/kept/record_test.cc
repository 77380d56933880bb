// A result as bytes, and back.
#include <doctest/doctest.h>

#include "filled.h"
#include "kept/file_result_record.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("every field of a result comes back") {
  for (const bool turned : {false, true}) {
    const auto result = filled<FileResult>(turned);
    const std::string bytes = encode(result);
    const auto back = decode_file_result(bytes);
    REQUIRE(back);
    CHECK(encode(*back) == bytes);
    CHECK(back->path == std::string("\xff\0text 2", 8));
    CHECK(back->named == result.named);
    REQUIRE(back->devices.size() == 2);
    CHECK(back->devices[1].coverage == result.devices[1].coverage);
    CHECK(back->devices[1].partly->best_device == result.devices[1].partly->best_device);
    CHECK(back->devices[1].needs_driver == result.devices[1].needs_driver);
    CHECK(back->devices[1].failures[1].mend.ways[1].holds[1] ==
          result.devices[1].failures[1].mend.ways[1].holds[1]);
    CHECK(back->devices[1].failures[1].mend.ways[1].toolkits->last ==
          result.devices[1].failures[1].mend.ways[1].toolkits->last);
    CHECK(back->devices[1].other_order->text == result.devices[1].other_order->text);
    CHECK(back->devices[1].for_others->kernel == result.devices[1].for_others->kernel);
    CHECK(back->expect.failures[1].absent[1].arch == result.expect.failures[1].absent[1].arch);
    CHECK(back->warnings[1].text() == result.warnings[1].text());
    CHECK(back->optix == result.optix);
  }
}

TEST_CASE("a result without anything comes back, and what may be absent stays so") {
  FileResult empty;
  empty.devices.resize(1);
  const auto back = decode_file_result(encode(empty));
  REQUIRE(back);
  CHECK(encode(*back) == encode(empty));
  CHECK_FALSE(back->devices[0].partly);
  CHECK_FALSE(back->devices[0].needs_driver);
  CHECK_FALSE(back->devices[0].other_order);
  CHECK_FALSE(back->devices[0].for_others);
}

TEST_CASE("bytes that are cut or longer are no result; nothing that they hold does harm") {
  const std::string bytes = encode(filled<FileResult>());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_file_result(std::string_view(bytes).substr(0, size)));
  CHECK_FALSE(decode_file_result(bytes + '\0'));
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int bit : {0, 1, 7}) {
      std::string turned = bytes;
      turned[at] = static_cast<char>(turned[at] ^ 1 << bit);
      const auto back = decode_file_result(turned);  // the record's checksum tells
      if (back) CHECK(encode(*back) == turned);
    }
}
