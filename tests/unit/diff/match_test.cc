#include "diff/match.h"

#include <doctest/doctest.h>

#include "sides.h"

using namespace archguard;
using namespace archguard::test;

namespace {

// "a=b -c +d": pairs, what went, what came.
std::string matched(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::vector<DiffFile> was, is;
  for (const std::string& key : before) was.push_back(file(key, {}));
  for (const std::string& key : after) is.push_back(file(key, {}));
  std::string text;
  for (const FilePair& pair : match_files(was, is)) {
    if (!text.empty()) text += " ";
    if (pair.before && pair.after)
      text += was[*pair.before].key + "=" + is[*pair.after].key;
    else
      text += pair.before ? "-" + was[*pair.before].key : "+" + is[*pair.after].key;
  }
  return text;
}

}  // namespace

TEST_CASE("versions in the names of libraries and wheels are left out") {
  CHECK(without_versions("lib/libx.so.12.3") == "lib/libx.so");
  CHECK(without_versions("libx-1.2.so") == "libx.so");
  CHECK(without_versions("libgomp-e985bcbb.so.1.0.0") == "libgomp.so");
  CHECK(without_versions("x-1.1-cp311-cp311-linux_x86_64.whl(x/liby.so.2)") == "x(x/liby.so)");
  CHECK(without_versions("x/_C.cpython-311-x86_64-linux-gnu.so") == "x/_C.so");
  CHECK(without_versions("bin/cudart64_110.dll") == "bin/cudart.dll");
  CHECK(without_versions("sm90/kernels.so") == "sm90/kernels.so");
  CHECK(without_versions("k_80.cubin") == "k_80.cubin");
  CHECK(without_versions("libcudart.so.12.8") == without_versions("libcudart.so.12.9"));
  CHECK(without_versions("x/1.2/y.so") == without_versions("x/1.3/y.so"));
  CHECK(without_versions("x-1.2/y.so") == "x/y.so");
  CHECK(without_versions("x/v12/y.so") == "x//y.so");
  CHECK(without_versions("cuda-12.8/y.so") == without_versions("cuda-13.0/y.so"));
  CHECK(without_versions("").empty());
}

TEST_CASE("a file is that of the same path, else of the same path but for versions, else of the same name") {
  CHECK(matched({"a.so", "b.so"}, {"b.so", "a.so"}) == "a.so=a.so b.so=b.so");
  CHECK(matched({"libx.so.12"}, {"libx.so.13"}) == "libx.so.12=libx.so.13");
  CHECK(matched({"nvidia/cufft/lib/libcufft.so.11"}, {"nvidia/cu13/lib/libcufft.so.12"}) ==
        "nvidia/cufft/lib/libcufft.so.11=nvidia/cu13/lib/libcufft.so.12");
  CHECK(matched({"a.so"}, {"b.so"}) == "-a.so +b.so");
  CHECK(matched({"p/1.2/k.so", "q/1.2/k.so"}, {"p/1.3/k.so", "q/1.3/k.so"}) ==
        "p/1.2/k.so=p/1.3/k.so q/1.2/k.so=q/1.3/k.so");
  CHECK(matched({"x/libk.so.1"}, {"x-1.1-cp311-cp311-linux_x86_64.whl(x/libk.so.2)"}) ==
        "x/libk.so.1=x-1.1-cp311-cp311-linux_x86_64.whl(x/libk.so.2)");
}

TEST_CASE("what two files could be is neither") {
  CHECK(matched({"p/k.so", "q/k.so"}, {"r/k.so"}) == "-p/k.so -q/k.so +r/k.so");
  CHECK(matched({"libx.so.11", "libx.so.12"}, {"libx.so.12", "libx.so.13"}) ==
        "libx.so.11=libx.so.13 libx.so.12=libx.so.12");
}
