#include <cerrno>
#include <fcntl.h>
#include <initializer_list>
#include <signal.h>
#include <unistd.h>

#include "base/standard_streams.h"

namespace archguard {

// What can neither be read nor written, under the lowest number that is free. A folder is no file either to
// who opens it anew as /dev/stdout.
void keep_standard_streams_apart() {
  signal(SIGXFSZ, SIG_IGN);
#ifdef O_PATH
  constexpr int kNothing = O_PATH;
#else
  constexpr int kNothing = O_RDONLY;
#endif
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    const bool in = stream == STDIN_FILENO;
    if ((!in || open("/dev/null", kNothing == O_RDONLY ? O_WRONLY : kNothing) < 0) && open("/", kNothing) < 0)
      return;
  }
}

}  // namespace archguard
