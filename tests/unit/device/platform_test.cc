
#include <cstdio>
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "device/driver_library.h"
#include "device/isolated_child.h"
#include "device/system.h"

using namespace archguard;
using std::chrono::milliseconds;

namespace {

ChildOutcome run_one(void (*body)(const RecordSink&), milliseconds timeout = milliseconds(10000)) {
  return run_isolated({{"test", body}}, timeout)[0];
}

}  // namespace

TEST_CASE("records cross the pipe unharmed") {
  const auto outcome = run_one([](const RecordSink& sink) {
    sink.put({"a\tb", "c\nd", "e\\f", "", "\\n"});
    sink.put({"\\."});
    sink.put({""});
  });
  CHECK(outcome.end == ChildOutcome::End::finished);
  CHECK(outcome.records == std::vector<Record>{{"a\tb", "c\nd", "e\\f", "", "\\n"}, {"\\."}, {""}});
  CHECK(outcome.noise.empty());
}

TEST_CASE("what a child prints is kept apart") {
  const auto outcome = run_one([](const RecordSink& sink) {
    std::printf("out\n");
    std::fprintf(stderr, "err\n");
    sink.put({"answer"});
  });
  CHECK(outcome.noise == "out\nerr\n");
  CHECK(outcome.records == std::vector<Record>{{"answer"}});
}

TEST_CASE("endless printing neither blocks the child nor fills memory") {
  const auto outcome = run_one([](const RecordSink& sink) {
    for (int i = 0; i < 20000; ++i) std::printf("%0100d\n", i);
    sink.put({"answer"});
  });
  CHECK(outcome.end == ChildOutcome::End::finished);
  CHECK(outcome.noise.size() == 16384);
  CHECK(outcome.records == std::vector<Record>{{"answer"}});
}

TEST_CASE("a crash is a result, and what came before it stays") {
  const auto outcome = run_one([](const RecordSink& sink) {
    sink.put({"before"});
    std::printf("last words\n");
    raise(SIGSEGV);
  });
  CHECK(outcome.end == ChildOutcome::End::crashed);
  CHECK(outcome.detail == SIGSEGV);
  CHECK(outcome.records == std::vector<Record>{{"before"}});
  CHECK(outcome.noise == "last words\n");
  CHECK(signal_text(SIGSEGV) == "segmentation fault");
}

TEST_CASE("an exit in the middle is no answer") {
  const auto outcome = run_one([](const RecordSink&) { _exit(0); });
  CHECK(outcome.end == ChildOutcome::End::exited);
  CHECK(outcome.detail == 0);
}

TEST_CASE("a child that hangs ends at the deadline, its neighbour's answer stays") {
  const auto outcomes = run_isolated({{"hangs",
                                       [](const RecordSink& sink) {
                                         sink.put({"before"});
                                         for (;;) pause();
                                       }},
                                      {"answers", [](const RecordSink& sink) { sink.put({"well"}); }}},
                                     milliseconds(300));
  CHECK(outcomes[0].end == ChildOutcome::End::late);
  CHECK(outcomes[0].records == std::vector<Record>{{"before"}});
  CHECK(outcomes[1].end == ChildOutcome::End::finished);
  CHECK(outcomes[1].records == std::vector<Record>{{"well"}});
}

TEST_CASE("a child that said all has finished, however the two are scheduled") {
  for (int i = 0; i < 500; ++i) {
    const auto outcome = run_one([](const RecordSink& sink) {
      for (int wakes = 0; wakes < 10; ++wakes) sink.put({"answer"});
    });
    REQUIRE(outcome.end == ChildOutcome::End::finished);
    REQUIRE(outcome.records.size() == 10);
  }
}

TEST_CASE("a grandchild that keeps the pipes open delays nobody") {
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = run_one([](const RecordSink& sink) {
    if (fork() == 0) {
      sleep(20);
      _exit(0);
    }
    sink.put({"answer"});
  });
  CHECK(outcome.end == ChildOutcome::End::finished);
  CHECK(std::chrono::steady_clock::now() - begin < milliseconds(5000));
}

TEST_CASE("a library that is not there is missing, one that is no library is broken") {
  const auto missing =
      DynamicLibrary::open({"libarchguard-nowhere.so.1", "/nowhere/libarchguard-nowhere.so.1"});
  CHECK(missing.state() == DynamicLibrary::State::missing);
  CHECK(missing.symbol("anything") == nullptr);
  const auto broken = DynamicLibrary::open({"libarchguard-nowhere.so.1", "/etc/passwd"});
  CHECK(broken.state() == DynamicLibrary::State::broken);
  CHECK(broken.error().find("/etc/passwd") != std::string::npos);
}
