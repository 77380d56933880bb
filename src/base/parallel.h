#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace archguard {

namespace detail {
// True while this thread does one of the pieces: what a piece spreads in turn stays on its thread.
inline bool& spreading() {
  thread_local bool value = false;
  return value;
}
}  // namespace detail

// How many threads a new piece of work may use: the cores of this process, and one within work that is
// already spread.
inline unsigned threads_to_use() {
  constexpr unsigned kMost = 16;  // beyond, reading the file is what takes the time
  return detail::spreading() ? 1 : std::clamp(std::thread::hardware_concurrency(), 1U, kMost);
}

// The results of work(0) … work(count - 1), in this order, made on all cores. The thread that asks for a
// result works too while it waits, so one core needs no other thread. `work` is called from several threads
// at once; `thread`, below threads(), tells them apart, for buffers that each keeps. At most `ahead` results
// wait to be asked for.
//
//   InOrder<Image> images(entries.size(), 64, [&](std::size_t i, unsigned thread) { return …; });
//   for (const Entry& entry : entries) use(images.next());
template <class T>
class InOrder {
 public:
  using Work = std::function<T(std::size_t index, unsigned thread)>;

  InOrder(std::size_t count, std::size_t ahead, Work work, unsigned threads = threads_to_use())
      : count_(count), work_(std::move(work)), slots_(ahead == 0 ? 1 : ahead) {
    for (unsigned i = 1; i < threads && i < count; ++i) {
      try {
        others_.emplace_back([this, i] { run(i); });
      } catch (const std::exception&) {  // no thread to be had: fewer do the same work
        break;
      }
    }
  }

  ~InOrder() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& other : others_) other.join();
  }

  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  // The result of the next index; to be called `count` times at most. What `work` threw (no memory) comes
  // from here.
  T next() {
    std::unique_lock<std::mutex> lock(mutex_);
    Slot& slot = slots_[taken_ % slots_.size()];
    while (!slot.result && !slot.failure) {
      if (may_claim())
        do_one(lock, 0);
      else
        changed_.wait(lock);
    }
    if (slot.failure) std::rethrow_exception(slot.failure);
    T result = std::move(*slot.result);
    slot.result.reset();
    ++taken_;
    if (waiting_ != 0) changed_.notify_all();
    return result;
  }

 private:
  struct Slot {
    std::optional<T> result;
    std::exception_ptr failure;
  };

  bool may_claim() const { return claimed_ < count_ && claimed_ - taken_ < slots_.size(); }

  void do_one(std::unique_lock<std::mutex>& lock, unsigned thread) {
    const std::size_t index = claimed_++;
    lock.unlock();
    std::optional<T> result;
    std::exception_ptr failure;
    const bool before = std::exchange(detail::spreading(), true);
    try {
      result.emplace(work_(index, thread));
    } catch (...) {
      failure = std::current_exception();
    }
    detail::spreading() = before;
    lock.lock();
    Slot& slot = slots_[index % slots_.size()];
    if (result) slot.result.emplace(std::move(*result));
    slot.failure = std::move(failure);
    if (index == taken_) changed_.notify_all();
  }

  void run(unsigned thread) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_ && claimed_ < count_) {
      if (may_claim()) {
        do_one(lock, thread);
        continue;
      }
      ++waiting_;
      changed_.wait(lock);
      --waiting_;
    }
  }

  const std::size_t count_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;  // a ring: the result of `index` is at index % size
  std::size_t claimed_ = 0, taken_ = 0, waiting_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> others_;
};

}  // namespace archguard
