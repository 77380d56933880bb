#include "base/process.h"

#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <thread>

#include "base/text.h"

using namespace archguard;
using namespace std::chrono_literals;

namespace {

Result<ProcessOutcome> shell(const std::string& script, std::chrono::milliseconds timeout = 20s) {
  return run_process({"/bin/sh", "-c", script}, timeout);
}

std::chrono::milliseconds time_of(const std::string& script, std::chrono::milliseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(shell(script, timeout).ok());
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
}

// Not gone, and not merely waiting to be reaped by init.
bool is_running(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string number, name, state;
  return stat >> number >> name >> state && state != "Z";
}

}  // namespace

TEST_CASE("both outputs and the exit status come back") {
  const auto outcome = shell("echo to out; echo to err >&2; exit 7");
  REQUIRE(outcome.ok());
  CHECK(outcome->out == "to out\n");
  CHECK(outcome->err == "to err\n");
  CHECK(outcome->exit_status == 7);
  CHECK(outcome->signal == 0);
  CHECK_FALSE(outcome->timed_out);
}

TEST_CASE("arguments reach the program as they are, its input is empty, a bare name is found in PATH") {
  const auto outcome = run_process({"printf", "%s|", "a b", "$HOME", "*"}, 20s);
  REQUIRE(outcome.ok());
  CHECK(outcome->out == "a b|$HOME|*|");
  CHECK(shell("cat; echo done")->out == "done\n");
}

TEST_CASE("a program that dies of a signal is told apart") {
  CHECK(shell("kill -SEGV $$")->signal == SIGSEGV);
}

TEST_CASE("signals that the caller ignores are at their defaults in the program") {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  CHECK(shell("kill -PIPE $$; echo survived")->out.empty());
  std::signal(SIGPIPE, before);
}

TEST_CASE("a program that cannot be started is an error") {
  CHECK(run_process({"/nowhere/nvcc"}, 20s).error().text() ==
        "/nowhere/nvcc: cannot be run: No such file or directory");
  CHECK(run_process({"/"}, 20s).error().text() == "/: cannot be run: Permission denied");
  CHECK(run_process({}, 20s).error().text() == "there is no program to run");
}

TEST_CASE("a program that hangs is killed with all it started, and what it printed is kept") {
  const auto outcome = shell("sleep 300 & echo $!; trap '' TERM; while :; do sleep 300; done", 200ms);
  REQUIRE(outcome.ok());
  CHECK(outcome->timed_out);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left, so no zombie
  const std::string grandchild(trim(outcome->out));
  REQUIRE(parse_number(grandchild, 1U << 30));
  // It is killed with the rest; a busy machine may take a moment to take it off its list.
  for (int i = 0; i < 500 && is_running(grandchild); ++i) std::this_thread::sleep_for(10ms);
  CHECK_FALSE(is_running(grandchild));
}

TEST_CASE("a program that never stops printing is killed at the deadline, its output bounded") {
  const auto begin = std::chrono::steady_clock::now();
  const auto endless = run_process({"cat", "/dev/zero"}, 300ms);
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  CHECK(endless->timed_out);
  const auto flood = run_process({"head", "-c", "20000000", "/dev/zero"}, 20s);
  CHECK(flood->out.size() == std::size_t{4} << 20);
  CHECK(flood->exit_status == 0);
}

TEST_CASE("what a program leaves in the background is not waited for") {
  CHECK(time_of("sleep 3 & echo gone", 20s) < 2500ms);
}

TEST_CASE("a program that closes its outputs is still waited for") {
  CHECK(time_of("exec >&- 2>&-; sleep 0.3", 20s) >= 300ms);
}
