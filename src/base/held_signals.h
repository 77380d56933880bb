#pragma once

#include <initializer_list>
#include <signal.h>

namespace archguard {

// While it lives, what ends a process from outside (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU) waits: what
// must not be left half done is finished, or undone, and then the signal does what it does. What the caller
// ignores stays ignored. Of the thread that makes it. Not for Windows.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}) {
      struct sigaction now {};
      if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&held_, number);
    }
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // One of them has come, which the caller did not hold back himself.
  bool arrived() const {
    sigset_t pending;
    if (sigpending(&pending) != 0) return false;
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU})
      if (sigismember(&held_, number) == 1 && sigismember(&before_, number) == 0 &&
          sigismember(&pending, number) == 1)
        return true;
    return false;
  }

 private:
  sigset_t held_, before_;
};

}  // namespace archguard
