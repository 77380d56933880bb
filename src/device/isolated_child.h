#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "device/record.h"

namespace archguard {

// The child's end of the pipe to the parent.
class RecordSink {
 public:
  explicit RecordSink(std::intptr_t descriptor) : descriptor_(descriptor) {}
  void put(const Record& record) const;

 private:
  std::intptr_t descriptor_;  // on Windows a handle
};

// What a child runs. The name tells it to a child that is this program started anew.
struct IsolatedBody {
  const char* name;
  void (*run)(const RecordSink&);
};

struct ChildOutcome {
  enum class End {
    finished,     // the body returned
    crashed,      // `detail` is the signal, on Windows the exception
    exited,       // something in the body ended the process; `detail` is the exit code
    late,         // killed at the deadline
    not_started,  // `detail` is errno, on Windows its error code
  };
  End end = End::not_started;
  int detail = 0;
  std::vector<Record> records;  // whole ones, in order; those of a crashed or late child too
  std::string noise;            // the first 16 KiB of what the child printed on stdout and stderr
};

// Runs each body (at most four) in a child process of its own, all at once, and collects what they put into
// their sinks. Returns at the deadline at the latest (plus 0.1 s): a child is then killed, and one that the
// kernel cannot kill is abandoned. A crash leaves no core file.
std::vector<ChildOutcome> run_isolated(std::initializer_list<IsolatedBody> bodies,
                                       std::chrono::milliseconds timeout);

// Where no process can fork (Windows), a child is this program started anew with arguments of its own: true
// where these are such arguments and the body was run. To be called before the arguments are looked at, with
// every body that run_isolated is given anywhere.
bool became_isolated_child(const std::vector<std::string>& arguments,
                           std::initializer_list<IsolatedBody> bodies);

}  // namespace archguard
