#include "device/isolated_child.h"

#include <algorithm>

#include "base/text.h"
#include "device/isolation.h"
#include "device/system.h"

namespace archguard {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostChildren = 4;
constexpr std::size_t kMostRecordBytes = 4 << 20;
constexpr std::size_t kMostNoiseBytes = 16 << 10;

struct RunningChild {
  ChildPipe records_pipe, noise_pipe;
  ChildProcess process;
  std::string records, noise;
  bool done = false;
  ChildOutcome outcome;
};

void start_child(RunningChild& child, Isolation& isolation, const IsolatedBody& body) {
  int failed = child.records_pipe.open();
  if (failed == 0) failed = child.noise_pipe.open();
  if (failed == 0) failed = isolation.start(body, child.process, child.records_pipe, child.noise_pipe);
  child.records_pipe.close_write_end();
  child.noise_pipe.close_write_end();
  child.done = failed != 0;
  child.outcome.detail = failed;
}

// Has the child said its last line, or ended?
void look_after(RunningChild& child) {
  const auto end = child.process.end();
  child.records_pipe.drain(child.records, kMostRecordBytes);
  child.noise_pipe.drain(child.noise, kMostNoiseBytes);
  const std::string last_line = "\n" + std::string(kIsolatedEnd) + "\n";
  if (child.records == last_line.substr(1) || ends_with(child.records, last_line)) {
    child.outcome.end = ChildOutcome::End::finished;
    child.done = true;
  } else if (end) {
    child.outcome.end =
        end->how == ChildEnd::How::crashed ? ChildOutcome::End::crashed : ChildOutcome::End::exited;
    child.outcome.detail = end->detail;
    child.done = true;
  }
  if (child.done) child.process.kill();  // with all that it started
}

ChildOutcome outcome_of(RunningChild& child) {
  auto lines = split(child.records, '\n');
  lines.pop_back();  // what follows the last line end: nothing, or a line cut off
  for (const auto line : lines)
    if (line != kIsolatedEnd) child.outcome.records.push_back(decode_record(line));
  child.outcome.noise = std::move(child.noise);
  if (is_windows()) {  // the C library writes two letters for a line's end
    auto& noise = child.outcome.noise;
    noise.erase(std::remove(noise.begin(), noise.end(), '\r'), noise.end());
  }
  return std::move(child.outcome);
}

}  // namespace

std::vector<ChildOutcome> run_isolated(std::initializer_list<IsolatedBody> bodies,
                                       std::chrono::milliseconds timeout) {
  const auto deadline = SteadyClock::now() + timeout;
  Isolation isolation;
  RunningChild children[kMostChildren];
  RunningChild* end_of_children = children;
  for (const IsolatedBody& body : bodies)
    if (end_of_children != children + kMostChildren) start_child(*end_of_children++, isolation, body);

  for (;;) {
    const RunningChild* waiting = nullptr;
    for (const RunningChild* child = children; child != end_of_children; ++child)
      if (!child->done) waiting = child;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (waiting == nullptr || left.count() <= 0 || isolation.is_interrupted()) break;
    wait_for_child({&waiting->records_pipe, &waiting->noise_pipe}, waiting->process, left);
    for (RunningChild* child = children; child != end_of_children; ++child)
      if (!child->done) look_after(*child);
  }

  std::vector<ChildOutcome> outcomes;
  for (RunningChild* child = children; child != end_of_children; ++child) {
    if (!child->done) look_after(*child);  // this process may have slept past the deadline, and the child not
    if (!child->done) {
      child->outcome.end = ChildOutcome::End::late;
      child->process.kill();
    }
    outcomes.push_back(outcome_of(*child));
  }
  return outcomes;
}

}  // namespace archguard
