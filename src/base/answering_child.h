#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child_process.h"

namespace archguard {

// A child process that answers one text with another, for a function that may take without end: a question
// that takes too long, or ends the child, has no answer, and the next one gets a new child. After a few of
// those, or many that take almost as long, nobody is asked any more. It is started by the first question, or
// before: a process that has grown is slow to fork, and slow after it. It ends with this object. Not for
// Windows.
class AnsweringChild {
 public:
  static constexpr std::size_t kTextMost = std::size_t{64} * 1024;  // of a question, and of an answer

  // `wait_most`: for all answers that take long.
  explicit AnsweringChild(std::string (*answer)(const std::string&),
                          std::chrono::milliseconds wait_most = std::chrono::seconds{9})
      : answer_(answer), wait_most_(wait_most) {}
  ~AnsweringChild() { end(); }
  AnsweringChild(const AnsweringChild&) = delete;
  AnsweringChild& operator=(const AnsweringChild&) = delete;

  void prepare() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (socket_ < 0) start();
  }

  // Nothing for a question or an answer that is empty or too long as well.
  std::optional<std::string> ask(const std::string& question) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (question.empty() || question.size() > kTextMost || failures_ == kFailuresMost) return std::nullopt;
    if (socket_ < 0 && !start()) return std::nullopt;
    std::string text(kTextMost + 1, '\0');
    pollfd answered{socket_, POLLIN, 0};
    ssize_t size = -1;
    const auto asked = std::chrono::steady_clock::now();
    if (send(socket_, question.data(), question.size(), MSG_NOSIGNAL) >= 0 &&
        poll(&answered, 1, kMilliseconds) == 1)
      size = recv(socket_, text.data(), text.size(), 0);
    const auto took = std::chrono::steady_clock::now() - asked;
    if (took > kSlow && (waited_ += took) > wait_most_) failures_ = kFailuresMost;
    if (size <= 0) {
      end();
      failures_ = std::min(failures_ + 1, kFailuresMost);
      return std::nullopt;
    }
    // The first byte says whether the rest is an answer.
    if (text[0] == kTooLong) return std::nullopt;
    return text.substr(1, static_cast<std::size_t>(size) - 1);
  }

 private:
  static constexpr int kMilliseconds = 3000, kFailuresMost = 3;
  static constexpr std::chrono::milliseconds kSlow{20};  // what is faster does not count
  static constexpr char kAnswer = '=', kTooLong = '!';

  bool start() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    const pid_t forked = fork();
    if (forked == 0) answer_all(ends[0], ends[1]);
    close(ends[1]);
    socket_ = ends[0];
    if (forked < 0) {
      end();
      return false;
    }
    process_.emplace();
    process_->adopt(forked);
    return true;
  }

  // The child: until the other end is closed, or, should that process be gone, its time is spent. What it
  // lacks memory for has no answer, and that is nothing to tell the user.
  [[noreturn]] void answer_all(int theirs, int own) const {
    close(theirs);
    const rlimit seconds{60, 60};
    setrlimit(RLIMIT_CPU, &seconds);
    try {
      answer_until_closed(own);
    } catch (const std::bad_alloc&) {
      _exit(1);
    }
  }

  [[noreturn]] void answer_until_closed(int own) const {
    std::string question(kTextMost, '\0');
    for (;;) {
      const ssize_t size = recv(own, question.data(), question.size(), 0);
      if (size <= 0) _exit(0);
      std::string text = kAnswer + answer_(question.substr(0, static_cast<std::size_t>(size)));
      if (text.size() > kTextMost || text.size() == 1) text = kTooLong;
      if (send(own, text.data(), text.size(), MSG_NOSIGNAL) < 0) _exit(1);
    }
  }

  void end() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    if (process_) process_->kill();
    process_.reset();
  }

  std::string (*const answer_)(const std::string&);
  const std::chrono::milliseconds wait_most_;
  std::mutex mutex_;
  std::optional<ChildProcess> process_;
  int socket_ = -1;
  int failures_ = 0;
  std::chrono::steady_clock::duration waited_{};  // for slow answers
};

}  // namespace archguard
