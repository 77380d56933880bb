#include "base/process.h"

#include "base/child_process.h"

namespace archguard {
namespace {

using ProcessClock = std::chrono::steady_clock;

constexpr std::size_t kMostProcessOutput = std::size_t{4} << 20;
constexpr std::chrono::milliseconds kProcessPollEvery{10};

}  // namespace

Result<ProcessOutcome> run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout) {
  if (argv.empty() || argv[0].empty()) return Error{"", "there is no program to run", ""};
  ChildPipe out, err;
  for (ChildPipe* pipe : {&out, &err})
    if (const int failed = pipe->open())
      return Error{argv[0], "cannot make a pipe: " + system_error_text(failed), ""};
  const auto deadline = ProcessClock::now() + timeout;
  ChildProcess child;
  if (const int failed = child.start(argv, out, err))
    return Error{argv[0], "cannot be run: " + system_error_text(failed), ""};
  out.close_write_end();
  err.close_write_end();

  ProcessOutcome outcome;
  for (;;) {
    wait_for_child({&out, &err}, child, kProcessPollEvery);
    const auto end = child.end();
    outcome.timed_out = !end && ProcessClock::now() >= deadline;
    if (outcome.timed_out) child.kill();
    out.drain(outcome.out, kMostProcessOutput);
    err.drain(outcome.err, kMostProcessOutput);
    if (!end && !outcome.timed_out) continue;
    if (end && end->how == ChildEnd::How::lost)
      return Error{argv[0], "its exit status was lost", "run this with SIGCHLD at its default"};
    if (end) (end->how == ChildEnd::How::exited ? outcome.exit_status : outcome.signal) = end->detail;
    return outcome;
  }
}

}  // namespace archguard
