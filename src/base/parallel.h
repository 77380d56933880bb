#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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
// wait to be asked for; with a `load`, those that wait, that are being made and the one asked for last hold
// no more than that together, or there is one alone.
//
//   InOrder<Image> images(entries.size(), 64, [&](std::size_t i, unsigned thread) { return …; });
//   for (const Entry& entry : entries) use(images.next());
template <class T>
class InOrder {
 public:
  using Work = std::function<T(std::size_t index, unsigned thread)>;
  // What results hold, bytes of a disk say.
  struct Load {
    std::function<std::uint64_t(std::size_t index)> of;  // called once each, one call at a time
    std::uint64_t most = 0;
  };

  InOrder(std::size_t count, std::size_t ahead, Work work, unsigned threads = threads_to_use(),
          Load load = {})
      : count_(count), work_(std::move(work)), load_(std::move(load)), slots_(ahead == 0 ? 1 : ahead) {
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
    if (held_ != 0 && waiting_ != 0) changed_.notify_all();
    loaded_ -= std::exchange(held_, 0);
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
    held_ = std::exchange(slot.load, 0);
    ++taken_;
    if (waiting_ != 0) changed_.notify_all();
    return result;
  }

  // While it lives, only next() begins work: the cores are for what its caller spreads.
  class Rest {
   public:
    explicit Rest(InOrder& of) : of_(of) { set(true); }
    ~Rest() {
      set(false);
      of_.changed_.notify_all();
    }
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;

   private:
    void set(bool resting) {
      const std::lock_guard<std::mutex> lock(of_.mutex_);
      of_.resting_ = resting;
    }
    InOrder& of_;
  };

 private:
  struct Slot {
    std::optional<T> result;
    std::exception_ptr failure;
    std::uint64_t load = 0;
  };

  bool may_claim() {
    if (claimed_ == count_ || claimed_ - taken_ == slots_.size()) return false;
    if (!load_.of) return true;
    if (!next_load_) next_load_ = load_.of(claimed_);
    const bool fits = loaded_ <= load_.most && *next_load_ <= load_.most - loaded_;
    return fits || loaded_ == 0;
  }

  void do_one(std::unique_lock<std::mutex>& lock, unsigned thread) {
    const std::size_t index = claimed_++;
    const std::uint64_t load = next_load_.value_or(0);
    next_load_.reset();
    loaded_ += load;
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
    slot.load = load;
    if (index == taken_) changed_.notify_all();
  }

  void run(unsigned thread) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_ && claimed_ < count_) {
      if (!resting_ && may_claim()) {
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
  const Load load_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;  // a ring: the result of `index` is at index % size
  std::size_t claimed_ = 0, taken_ = 0, waiting_ = 0;
  std::uint64_t loaded_ = 0, held_ = 0;     // of all that is not done with; of the result asked for last
  std::optional<std::uint64_t> next_load_;  // of `claimed_`, once it was asked
  bool stopping_ = false, resting_ = false;
  std::vector<std::thread> others_;
};

}  // namespace archguard
