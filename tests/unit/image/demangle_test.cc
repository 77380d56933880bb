#include "image/demangle.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

namespace {

// f(A<int, int>, A<the type before, the type before>, …): each parameter is twice as long as the one before
// it.
std::string doubling(int parameters) {
  std::string name = "_Z1f1AIiiE";
  for (int i = 0; i < parameters; ++i) {
    const std::string before = std::string("S") + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i] + "_";
    name += "S_I" + before + before + "E";
  }
  return name;
}

}  // namespace

TEST_CASE("C++ names are shown as they were written, and any other text as it is") {
  CHECK(demangle("_Z5saxpyifPKfPf") == "saxpy(int, float, float const*, float*)");
  CHECK(demangle("plain") == "plain");
  CHECK(demangle("_Z5sax") == "_Z5sax");
  CHECK(demangle("__nv_static_19__e5804319_4_v_cu_cv__Z5saxpyi") == "saxpy(int)");
  CHECK(demangle("__nv_static_19__e5804319_4_v_cu_cv_sdv") == "sdv");
}

TEST_CASE("a name that refers to its own parts, as long ones do, is shown as well") {
  CHECK(demangle(doubling(1)) == "f(A<int, int>, A<A<int, int>, A<int, int>>)");
  CHECK(demangle(doubling(7)).size() < demangle(doubling(8)).size());
  const std::string shown = demangle(doubling(10));
  CHECK(shown.substr(0, 46) == "f(A<int, int>, A<A<int, int>, A<int, int>>, A<");
  CHECK(shown.size() > 10000);
}

TEST_CASE("a name that stands for a text without end is shown as it is, and the next ones are answered") {
  for (const int parameters : {16, 34}) CHECK(demangle(doubling(parameters)) == doubling(parameters));
  CHECK(demangle(doubling(10)).size() > 10000);
  CHECK(demangle("_Z5saxpyifPKfPf") == "saxpy(int, float, float const*, float*)");
}
