#include "progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

#include "base/printable.h"
#include "report/names.h"

namespace archguard {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kShownAfter{1};
constexpr std::chrono::milliseconds kProgressEvery{200};
constexpr std::size_t kColumnsOfNone = 80;
constexpr std::size_t kNameRest = 40;  // what shortened() leaves of a name

std::size_t columns_of_stderr() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : kColumnsOfNone;
}

bool is_for_people() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && (term == nullptr || std::string_view(term) != "dumb");
}

// A thread of its own writes the line: one file may take minutes, in which nobody else comes by.
class ProgressLine {
 public:
  ~ProgressLine() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
      erase();
    }
    changed_.notify_all();
    if (thread_) thread_->join();
  }

  void set(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    what_ = what;
    if (wanted_ && !tried_) begin();
  }

  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    what_.clear();
    erase();
  }

  bool is_wanted() const { return wanted_; }

 private:
  // Signals are for the other threads, which hold them while a file is half written.
  void begin() {
    tried_ = true;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_.emplace([this] { run(); });
    } catch (const std::exception&) {  // no thread to be had: no line
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    const Clock::time_point begin = Clock::now();
    auto next = begin + kShownAfter;
    while (!changed_.wait_until(lock, next, [this] { return ending_; })) {
      next = Clock::now() + kProgressEvery;
      if (!what_.empty())
        write(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count());
    }
  }

  void write(long long seconds) {
    const std::string before = "archguard: ", after = ", " + std::to_string(seconds) + " s";
    // One column stays free, so that no terminal begins another line. What is still too long is cut.
    const std::size_t columns = columns_of_stderr() - 1;
    const std::size_t around = before.size() + after.size();
    std::string line = before + shortened(printable(what_), columns > around ? columns - around : 1) + after;
    if (columns < around + kNameRest) line.resize(std::min(line.size(), columns));
    std::fprintf(stderr, "\r%s\033[K", line.c_str());
    shown_ = true;
  }

  void erase() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::optional<std::thread> thread_;
  const bool wanted_ = is_for_people();
  bool shown_ = false, ending_ = false, tried_ = false;
};

ProgressLine& progress_line() {
  static ProgressLine line;
  return line;
}

}  // namespace

bool shows_progress() {
  return progress_line().is_wanted();
}

void set_progress(const std::string& what) {
  progress_line().set(what);
}

void clear_progress() {
  progress_line().clear();
}

}  // namespace archguard
