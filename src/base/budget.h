#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace archguard {

// Bounds what threads use at once, of memory say. Who asks for more than all of it is let in alone.
class Budget {
 public:
  explicit Budget(std::uint64_t all) : all_(all) {}

  void take(std::uint64_t amount) {
    std::unique_lock<std::mutex> lock(mutex_);
    freed_.wait(lock, [&] { return used_ == 0 || (used_ <= all_ && amount <= all_ - used_); });
    used_ += amount;
  }
  void give_back(std::uint64_t amount) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      used_ -= amount;
    }
    freed_.notify_all();
  }

 private:
  const std::uint64_t all_;
  std::uint64_t used_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
};

// A share of a budget, for as long as it lives.
class Share {
 public:
  Share(Budget& budget, std::uint64_t amount) : budget_(budget), amount_(amount) { budget_.take(amount_); }
  ~Share() { budget_.give_back(amount_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

 private:
  Budget& budget_;
  const std::uint64_t amount_;
};

}  // namespace archguard
