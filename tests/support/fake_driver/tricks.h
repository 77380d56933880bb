#pragma once

// What only a driver on POSIX can do to its process (machine.h). In a header, since who compiles machine.cc
// has it then.
#ifndef _WIN32
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace {

[[noreturn]] inline void crash_here() {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
  _exit(1);
}

inline void for_every_signal(void (*handler)(int)) {
  for (int number = 1; number < 32; ++number) signal(number, handler);
}

// As record.h spells a line: its fields are separated by tabs.
inline void forge(const std::string& count_and_text) {
  const auto blank = count_and_text.find(' ');
  std::string line;
  for (std::size_t i = blank + 1; i < count_and_text.size(); ++i) {
    const bool escape = count_and_text.compare(i, 2, "\\t") == 0 || count_and_text.compare(i, 2, "\\n") == 0;
    line += !escape ? count_and_text[i] : count_and_text[i + 1] == 't' ? '\t' : '\n';
    if (escape) ++i;
  }
  std::string all;
  for (int i = 0; i < std::atoi(count_and_text.c_str()); ++i) all += line;
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0 || !S_ISFIFO(about.st_mode)) continue;
    if ((fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_WRONLY) continue;
    for (std::size_t at = 0; at < all.size();) {
      const ssize_t size = write(descriptor, all.data() + at, all.size() - at);
      if (size <= 0) break;
      at += static_cast<std::size_t>(size);
    }
  }
}

inline void flood(long bytes) {
  const std::string line(1023, 'x');
  for (long i = 0; i < bytes; i += 1024) std::fprintf(i % 2048 == 0 ? stdout : stderr, "%s\n", line.c_str());
}

inline void spoil() {
  (void)!chdir("/");
  umask(0777);
  const rlimit nothing{0, 0};
  for (const auto limit : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_STACK, RLIMIT_CORE})
    setrlimit(limit, &nothing);
}

inline void play_trick(const std::string& what, const std::string& rest) {
  const int number = std::atoi(rest.c_str());
  if (what == "quit") std::exit(number);
  if (what == "raise") raise(number);
  if (what == "parent") kill(getppid(), number);
  if (what == "throw") throw std::runtime_error("thrown by a driver");
  if (what == "become") execl(rest.c_str(), rest.c_str(), static_cast<char*>(nullptr));
  if (what == "loop") {
    signal(SIGSEGV, [](int) {
      for (;;) pause();
    });
    raise(SIGSEGV);
  }
  if (what == "deaf") {
    for_every_signal(SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
  }
  if (what == "flood") flood(std::atol(rest.c_str()));
  if (what == "close")
    for (int descriptor = 0; descriptor < 1024; ++descriptor) close(descriptor);
  if (what == "forge") forge(rest);
  for (int i = 0; what == "orphan" && i < number; ++i) {
    if (fork() != 0) continue;
    if (fork() != 0) _exit(0);
    for_every_signal(SIG_IGN);
    signal(SIGALRM, SIG_DFL);
    alarm(30);  // where nobody ends it
    for (;;) pause();
  }
  if (what == "session" && fork() == 0) {
    setsid();
    sleep(static_cast<unsigned>(number));
    _exit(0);
  }
  if (what == "thread")
    std::thread([number] {
      usleep(static_cast<useconds_t>(number) * 1000);
      crash_here();
    }).detach();
  if (what == "lock") {
    std::thread([] {
      flockfile(stdout);
      for (;;) pause();
    }).detach();
    usleep(50000);
  }
  if (what == "leave") {
    std::thread([] {
      for (;;) pause();
    }).detach();
    pthread_exit(nullptr);
  }
  if (what == "spoil") spoil();
}

}  // namespace
#endif
