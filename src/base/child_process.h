#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace archguard {

// Child processes: the one place that watches and ends them, and starts programs. child_process_posix.cc or
// child_process_windows.cc is behind it.

// What the system says of an error's number.
std::string system_error_text(int code);

// A pipe from a child to this process. Its reading end never waits, and no other child inherits it.
class ChildPipe {
 public:
  ChildPipe() = default;
  ChildPipe(const ChildPipe&) = delete;
  ChildPipe& operator=(const ChildPipe&) = delete;
  ~ChildPipe();

  int open();              // 0, or the error's number
  void close_write_end();  // when the child has it: nobody else may hold the pipe open
  std::intptr_t write_end() const { return write_; }
  std::intptr_t read_end() const { return read_; }
  bool is_open() const { return read_ != kNone; }  // false: its end was read
  // Takes what is in the pipe now, at most `most` bytes of it into `text`, and closes it at its end. Who
  // writes without a pause does not hold the caller: one call takes a few times what a pipe holds.
  void drain(std::string& text, std::size_t most);

 private:
  static constexpr std::intptr_t kNone = -1;
  std::intptr_t read_ = kNone, write_ = kNone;  // descriptors, on Windows handles
};

struct ChildEnd {
  enum class How {
    exited,   // `detail` is the exit status
    crashed,  // `detail` is the signal, on Windows the exception
    lost,     // somebody else has asked for it: whoever started this process has SIGCHLD ignored
  };
  How how = How::exited;
  int detail = 0;
};

// A process in a group (on Windows a job) of its own, with which it and all that it starts can be ended.
class ChildProcess {
 public:
  ChildProcess() = default;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  // does not end it

  // Starts a program without a shell; its standard input is empty, and it has these pipes and nothing else of
  // this process, and the default signals. argv[0] is a path, or a name for PATH. 0, or the error's number.
  int start(const std::vector<std::string>& argv, const ChildPipe& out, const ChildPipe& err);
  // Takes over what was started in another way: a process that was forked; on Windows its handle and job.
  void adopt(std::intptr_t process, std::intptr_t job = kNone);

  // How it ended; nothing while it runs. To be asked before its pipes are read: of one that has ended they
  // hold all.
  std::optional<ChildEnd> end();
  // Ends it with all that is in its group, and waits for that at most 0.1 s: one that is stuck in the kernel
  // does not end.
  void kill();
  std::intptr_t native() const { return process_; }

 private:
  static constexpr std::intptr_t kNone = -1;
  std::intptr_t process_ = kNone, job_ = kNone;
  std::optional<ChildEnd> end_;
};

// Returns when one of the pipes holds something, the process has ended, or the time is over; or before.
void wait_for_child(std::initializer_list<const ChildPipe*> pipes, const ChildProcess& process,
                    std::chrono::milliseconds most);

}  // namespace archguard
