#pragma once

#include <memory>

#include "base/child_process.h"
#include "device/isolated_child.h"

namespace archguard {

// The last line of a body that returned, which no record can spell.
constexpr char kIsolatedEnd[] = "\\.";

// How the system starts children for isolated_child.cc, and what holds while they run: nobody else learns how
// they ended, and a signal that would end this process waits until they are ended.
class Isolation {
 public:
  Isolation();
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  bool is_interrupted() const;  // such a signal waits
  // 0, or the error's number.
  int start(const IsolatedBody& body, ChildProcess& process, const ChildPipe& records,
            const ChildPipe& noise);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace archguard
