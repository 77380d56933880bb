#include "coverage/waivers.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

const std::string kSecond = "_Z6secondPfi";  // second(float*, int)

Waivers waivers(const std::string& text) {
  auto parsed = Waivers::parse(text, "w.csv");
  REQUIRE_MESSAGE(parsed, (parsed ? "" : parsed.error().text()));
  return std::move(*parsed);
}

// "w.csv:1: what is wrong | the fix"
std::string error_of(const std::string& text) {
  const auto parsed = Waivers::parse(text, "w.csv");
  return parsed ? "no error" : parsed.error().text() + " | " + parsed.error().fix;
}

}  // namespace

TEST_CASE("globs match whole texts") {
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("fp8*_kernel", "fp8_e4m3_kernel"));
  CHECK(glob_matches("k?", "k1"));
  CHECK_FALSE(glob_matches("k?", "k"));
  CHECK_FALSE(glob_matches("fp8", "fp8_kernel"));
  CHECK_FALSE(glob_matches("", "k"));
  CHECK(glob_matches("a*b*c", "axbxbxc"));
  CHECK_FALSE(glob_matches(std::string(200, '*') + "b", std::string(20000, 'a')));
}

TEST_CASE("a waiver excuses its kernels on its devices, and one that was not needed is told") {
  auto all =
      waivers("kernel,compute_cap,reason\n# comment\nfp8*,7.*,fp8 needs 8.9, or newer\r\nold,6.1,dropped\n");
  CHECK(all.waive("fp8_add", {7, 5}));
  CHECK_FALSE(all.waive("fp8_add", {8, 0}));
  CHECK_FALSE(all.waive("add", {7, 5}));
  REQUIRE(all.unused().size() == 1);
  CHECK(all.unused()[0].waiver.origin == "w.csv:4");
}

TEST_CASE("of a kernel that was not compared it is not told whether its waiver is needed") {
  auto all = waivers("fp8*,8.*,why\nfp8*,9.0,why\nold,8.0,why\n");
  all.leave_open("fp8_add", {8, 6});
  REQUIRE(all.unused().size() == 2);
  CHECK(all.unused()[0].waiver.origin == "w.csv:2");
  CHECK(all.unused()[1].waiver.origin == "w.csv:3");
  CHECK(all.is_waived("fp8_add", {9, 0}));
  CHECK_FALSE(all.is_waived("fp8_add", {7, 5}));
  CHECK(all.unused().size() == 2);  // asking is no use
}

TEST_CASE("a waiver that was written with one C++ library's spelling serves with another's") {
  const std::string name = "_Z1fI1AIS0_IiEEEvv";  // void f<A<A<int>>>()
  for (const char* written : {"void f<A<A<int> > >()", "void f<A<A<int>>>()"}) {
    CAPTURE(written);
    CHECK(waivers(std::string(written) + ",8.0,why\n").waive(name, {8, 0}));
  }
}

TEST_CASE("a kernel is waived by the name that reports show, by the mangled one, and by a glob of either") {
  for (const char* name :
       {"\"second(float*, int)\"", "_Z6secondPfi", "second(*", "\"second(float?, *)\"", "*6second*", "*"}) {
    CAPTURE(name);
    auto all = waivers(name + std::string(",9.0,because\n"));
    CHECK(all.waive(kSecond, {9, 0}));
    CHECK_FALSE(all.waive(kSecond, {8, 0}));
  }
  for (const char* name : {"second", "\"second(float, int)\"", "_Z6second"}) {
    CAPTURE(name);
    CHECK_FALSE(waivers(name + std::string(",9.0,because\n")).waive(kSecond, {9, 0}));
  }
}

TEST_CASE("a waiver without use tells whether its kernel was read") {
  auto all = waivers("secnod*,9.0,why\n\"second(float*, int)\",9.0,why\n_Z6secondPfi,8.0,why\nk,*,why\n");
  all.note("k");
  all.note(kSecond);
  all.note("other");
  CHECK(all.waive("k", {9, 0}));
  REQUIRE(all.unused().size() == 3);
  CHECK(all.unused()[0].waiver.kernel == "secnod*");
  CHECK_FALSE(all.unused()[0].kernel_read);
  CHECK(all.unused()[1].kernel_read);
  CHECK(all.unused()[2].kernel_read);
}

TEST_CASE("the line that waives a kernel can be read back, and waives no other of the missing kernels") {
  CHECK(waiver_line("k", {9, 0}, {"k"}) == "k,9.0,why it may be absent");
  CHECK(waiver_line("_Z6secondv", {12, 1}, {}) == "second(),12.1,why it may be absent");
  const std::string line = waiver_line(kSecond, {9, 0}, {"_Z5firstv", kSecond});
  CHECK(line == "\"second(float*, int)\",9.0,why it may be absent");
  CHECK(waivers(line).waive(kSecond, {9, 0}));
  // `float*` also stands for `float const*`.
  CHECK(waiver_line(kSecond, {9, 0}, {"_Z6secondPKfi", kSecond}) == "_Z6secondPfi,9.0,why it may be absent");
}

TEST_CASE("a bad line names itself") {
  CHECK(error_of("a,b") ==
        "w.csv:1: a waiver has three columns, kernel,compute_cap,reason | write for example: "
        "my_kernel*,7.5,needs tensor cores");
  CHECK(error_of("k,7.5,\n") ==
        "w.csv:1: a waiver needs a reason | say in the third column why 'k' may be absent");
  CHECK(error_of("\n,7.5,why\n") ==
        "w.csv:2: the kernel is empty | write a kernel's name as the report shows it, or a glob of it");
  CHECK(error_of("k,,why\n") ==
        "w.csv:1: the compute capability is empty | write 7.5, or * for every device");
}

TEST_CASE("a compute capability is X.Y or a glob that some X.Y matches") {
  for (const char* good : {"7.5", "12.1", "*", "8.*", "?.?", "*.0", "1?.*", "8?0"})
    CHECK_MESSAGE(error_of(std::string("k,") + good + ",why") == "no error", good);
  for (const std::string bad : {"75", "sm_75", "9.0a", "[78].*", "7.55", "*)", "*a"})
    CHECK(error_of("k," + bad + ",why") == "w.csv:1: the compute capability '" + bad +
                                               "' is neither X.Y nor a glob of it | write 7.5, 8.* or * for "
                                               "every device; put a name with a comma in double quotes");
}

TEST_CASE("a name with a comma that is not quoted is an error with the line as it should be") {
  CHECK(error_of("\nsecond(float*, int),9.0,because\n") ==
        "w.csv:2: the compute capability 'int)' is neither X.Y nor a glob of it | put a name that holds a "
        "comma "
        "in double quotes: \"second(float*, int)\",9.0,because");
  CHECK(error_of("f(int, char, *),8.*") ==
        "w.csv:1: the compute capability 'char' is neither X.Y nor a glob of it | put a name that holds a "
        "comma "
        "in double quotes: \"f(int, char, *)\",8.*,why it may be absent");
}

TEST_CASE("another mistake in the second column is none of quotes") {
  CHECK(
      error_of("k,75,7.5\n") ==
      "w.csv:1: the compute capability '75' is neither X.Y nor a glob of it | write 7.5, 8.* or * for every "
      "device; put a name with a comma in double quotes");
}

TEST_CASE("a header of another file is an error; a kernel may still be called kernel") {
  CHECK(
      error_of("# fleet\nname, compute_cap, driver_version\nNVIDIA T4, 7.5, 535.1\n") ==
      "w.csv:2: the header is 'name,compute_cap,driver_version', expected kernel,compute_cap,reason | a list "
      "of devices goes to --fleet, not to --waivers");
  CHECK(error_of("name, compute_cap\n") ==
        "w.csv:1: the header is 'name,compute_cap', expected kernel,compute_cap,reason | a list of devices "
        "goes "
        "to --fleet, not to --waivers");
  CHECK(error_of("Kernel,Compute_Cap,Reason\n") ==
        "w.csv:1: the header is 'Kernel,Compute_Cap,Reason', expected kernel,compute_cap,reason | write that "
        "header, or none");
  CHECK(error_of("kernel,reason,compute_cap\n") ==
        "w.csv:1: the header is 'kernel,reason,compute_cap', expected kernel,compute_cap,reason | write that "
        "header, or none");
  CHECK(error_of("kernel,cc,why\n") ==
        "w.csv:1: the header is 'kernel,cc,why', expected kernel,compute_cap,reason | write that header, or "
        "none");
  CHECK(waivers("kernel,7.5,compute_cap\n").waive("kernel", {7, 5}));
}
