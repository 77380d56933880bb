#include "image/demangle.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("C++ names are shown as they were written, and any other text as it is") {
  CHECK(demangle("_Z5saxpyifPKfPf") == "saxpy(int, float, float const*, float*)");
  CHECK(demangle("plain") == "plain");
  CHECK(demangle("_Z5sax") == "_Z5sax");
}
