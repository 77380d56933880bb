#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cstdio>

#include "base/held_signals.h"
#include "device/isolation.h"

namespace archguard {
namespace {

void write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

// The child's side. The driver's own printing goes to the noise pipe; signal handlers of the host program,
// core files and the terminal's stdin are none of the driver's business.
[[noreturn]] void run_child(const IsolatedBody& body, int records_fd, int noise_fd) {
  setpgid(0, 0);  // what it signals is its own, and what it starts ends with it
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(noise_fd, STDOUT_FILENO);
  dup2(noise_fd, STDERR_FILENO);
  setvbuf(stdout, nullptr, _IONBF, 0);  // what a driver prints before it crashes is worth keeping
  body.run(RecordSink(records_fd));
  // No flush: a thread of the driver's may hold a stream for ever.
  write_whole(records_fd, std::string(kIsolatedEnd) + "\n");
  _exit(0);
}

}  // namespace

struct Isolation::State {
  // Where the caller ignores SIGCHLD, nobody would learn how a child ended, and its number would be free for
  // another process before anybody asks.
  class ReapedChildren {
   public:
    ReapedChildren() {
      struct sigaction usual {};
      usual.sa_handler = SIG_DFL;
      sigaction(SIGCHLD, &usual, &before_);
    }
    ~ReapedChildren() { sigaction(SIGCHLD, &before_, nullptr); }
    ReapedChildren(const ReapedChildren&) = delete;
    ReapedChildren& operator=(const ReapedChildren&) = delete;

   private:
    struct sigaction before_ {};
  };

  const ReapedChildren reaped;
  const HeldSignals held;  // until what the drivers have started is ended
};

Isolation::Isolation() {
  fflush(nullptr);  // else the children would flush what this process has not printed yet
  state_ = std::make_unique<State>();
}
Isolation::~Isolation() = default;

bool Isolation::is_interrupted() const {
  return state_->held.arrived();
}

int Isolation::start(const IsolatedBody& body, ChildProcess& process, const ChildPipe& records,
                     const ChildPipe& noise) {
  const pid_t pid = fork();
  if (pid == 0) run_child(body, static_cast<int>(records.write_end()), static_cast<int>(noise.write_end()));
  if (pid < 0) return errno;
  process.adopt(pid);
  return 0;
}

void RecordSink::put(const Record& record) const {
  write_whole(static_cast<int>(descriptor_), encode_record(record));
}

bool became_isolated_child(const std::vector<std::string>&, std::initializer_list<IsolatedBody>) {
  return false;  // children are forked
}

}  // namespace archguard
