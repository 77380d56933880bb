#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace archguard {

// What the files *_windows.cc share. Texts are UTF-8 everywhere else in the program, UTF-16 in Windows'
// calls.

std::wstring widen(const std::string& text);
std::string narrow(const std::wstring& text);

std::string windows_error_text(unsigned long code);  // in Windows' words, without a full stop

// A word of a command line, quoted so that the program which is started reads it as it is.
std::wstring quoted_argument(const std::string& argument);

using WindowsHandle = void*;

// A pipe from a child to this process.
class WindowsPipe {
 public:
  WindowsPipe() = default;
  WindowsPipe(const WindowsPipe&) = delete;
  WindowsPipe& operator=(const WindowsPipe&) = delete;
  ~WindowsPipe();

  unsigned long open();  // 0, or the code of the error
  void close_write_end();
  WindowsHandle write_end() const { return write_; }
  // Takes what is in the pipe now, at most `most` bytes of it into `text`. Never waits.
  void drain(std::string& text, std::size_t most);

 private:
  WindowsHandle read_ = nullptr, write_ = nullptr;
};

// A program in a job of its own, with which it and all that it starts can be ended.
class WindowsProcess {
 public:
  WindowsProcess() = default;
  WindowsProcess(const WindowsProcess&) = delete;
  WindowsProcess& operator=(const WindowsProcess&) = delete;
  ~WindowsProcess();

  // Starts it with an empty standard input and without a window; it inherits these pipes and nothing else.
  // `bound`: it ends when this process does. 0, or the code of the error.
  unsigned long start(const std::wstring& command_line, const WindowsPipe& out, const WindowsPipe& err,
                      const WindowsPipe* extra, bool bound);
  bool ended(unsigned long& exit_code) const;
  void wait(unsigned milliseconds) const;  // for its end, no longer than that
  void kill();

 private:
  WindowsHandle process_ = nullptr, job_ = nullptr;
};

}  // namespace archguard
