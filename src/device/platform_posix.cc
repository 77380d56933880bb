#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/held_signals.h"
#include "base/text.h"
#include "device/platform.h"

namespace archguard {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostChildren = 4;
constexpr std::size_t kMostRecordBytes = 4 << 20;
constexpr std::size_t kMostNoiseBytes = 16 << 10;
constexpr auto kReapPatience = std::chrono::milliseconds(100);

// The last line of a body that returned, which no record can spell.
constexpr char kEndLine[] = "\\.";

void write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

struct RunningChild {
  pid_t pid = -1;
  int records_fd = -1, noise_fd = -1;
  std::string records, noise;
  bool done = false;
  ChildOutcome outcome;
};

// Two descriptors above the standard ones, closed by exec. False with errno where there are none left.
bool open_pipe(int ends[2]) {
  int low[2];
  if (pipe(low) != 0) return false;
  for (int i = 0; i < 2; ++i) {
    ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
    close(low[i]);
  }
  return ends[0] >= 0 && ends[1] >= 0;
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
  write_whole(records_fd, std::string(kEndLine) + "\n");
  _exit(0);
}

void start_child(RunningChild& child, const IsolatedBody& body) {
  int records[2] = {-1, -1}, noise[2] = {-1, -1};
  const bool piped = open_pipe(records) && open_pipe(noise);
  if (piped) child.pid = fork();
  if (child.pid == 0) run_child(body, records[1], noise[1]);
  const int cause = errno;
  if (child.pid > 0) setpgid(child.pid, child.pid);  // before anybody ends the group; the child does it, too
  for (const int end : {records[1], noise[1]})
    if (end >= 0) close(end);
  if (child.pid < 0) {
    for (const int end : {records[0], noise[0]})
      if (end >= 0) close(end);
    child.done = true;
    child.outcome.detail = cause;
    return;
  }
  for (const int end : {records[0], noise[0]}) fcntl(end, F_SETFL, O_NONBLOCK);
  child.records_fd = records[0];
  child.noise_fd = noise[0];
}

// Takes what is in the pipe, at most `most` bytes of it into `text`; closes the pipe at its end. Who writes
// without a pause must not hold this process past the deadline, so one call takes a few times what a pipe
// holds.
void drain_pipe(int& descriptor, std::string& text, std::size_t most) {
  char buffer[8192];
  for (int reads = 0; descriptor >= 0 && reads < 64; ++reads) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count > 0) {
      const std::size_t room = most > text.size() ? most - text.size() : 0;
      text.append(buffer, std::min(static_cast<std::size_t>(count), room));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      return;
    } else {
      close(descriptor);
      descriptor = -1;
    }
  }
}

void drain_child(RunningChild& child) {
  drain_pipe(child.records_fd, child.records, kMostRecordBytes);
  drain_pipe(child.noise_fd, child.noise, kMostNoiseBytes);
}

// Kills the child with all that it started, and waits for its end no longer than kReapPatience: one in
// uninterruptible sleep does not end. While it is not reaped its number is that of no other group.
void kill_and_reap(RunningChild& child) {
  kill(-child.pid, SIGKILL);
  kill(child.pid, SIGKILL);
  const auto deadline = SteadyClock::now() + kReapPatience;
  while (waitpid(child.pid, nullptr, WNOHANG) == 0 && SteadyClock::now() < deadline) usleep(1000);
}

// Has the child said its last line, or ended? Asked in this order: of one that has ended the pipes hold all.
void look_after(RunningChild& child) {
  siginfo_t about{};
  const bool ended = waitid(P_PID, static_cast<id_t>(child.pid), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                     about.si_pid != 0;
  drain_child(child);
  const std::string last_line = "\n" + std::string(kEndLine) + "\n";
  if (child.records == last_line.substr(1) || ends_with(child.records, last_line)) {
    child.outcome.end = ChildOutcome::End::finished;
    child.done = true;
  } else if (ended) {
    child.outcome.end = about.si_code == CLD_EXITED ? ChildOutcome::End::exited : ChildOutcome::End::crashed;
    child.outcome.detail = about.si_status;
    child.done = true;
  }
  if (child.done) kill_and_reap(child);
}

ChildOutcome outcome_of(RunningChild& child) {
  for (const int end : {child.records_fd, child.noise_fd})
    if (end >= 0) close(end);
  auto lines = split(child.records, '\n');
  lines.pop_back();  // what follows the last line end: nothing, or a line cut off
  for (const auto line : lines)
    if (line != kEndLine) child.outcome.records.push_back(decode_record(line));
  child.outcome.noise = std::move(child.noise);
  return std::move(child.outcome);
}

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

}  // namespace

bool is_windows() {
  return false;
}

std::vector<std::string> start_program(int argc, char** argv) {
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

std::vector<std::string> cuda_library_names() {
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"};
}

std::vector<std::string> nvml_library_names() {
  return {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
          "/run/opengl-driver/lib/libnvidia-ml.so.1"};
}

void RecordSink::put(const Record& record) const {
  write_whole(static_cast<int>(descriptor_), encode_record(record));
}

DynamicLibrary DynamicLibrary::open(const std::vector<std::string>& names) {
  DynamicLibrary library;
  for (const auto& name : names) {
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ != nullptr) {
      library.state_ = State::loaded;
      return library;
    }
    const char* text = dlerror();
    const std::string error = text != nullptr ? text : "no reason given";
    // A dependency that is missing has its own name in front, and means a broken installation.
    const bool missing = error.find(name + ": ") != std::string::npos &&
                         error.find("No such file or directory") != std::string::npos;
    if (library.error_.empty() || !missing) library.error_ = error;
    if (!missing) {
      library.state_ = State::broken;
      return library;
    }
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  return map->l_name;
}

std::vector<ChildOutcome> run_isolated(std::initializer_list<IsolatedBody> bodies,
                                       std::chrono::milliseconds timeout) {
  const auto deadline = SteadyClock::now() + timeout;
  fflush(nullptr);  // else the children would flush what this process has not printed yet
  const ReapedChildren reaped;
  const HeldSignals held;  // until what the drivers have started is ended
  RunningChild children[kMostChildren];
  RunningChild* end_of_children = children;
  for (const IsolatedBody& body : bodies)
    if (end_of_children != children + kMostChildren) start_child(*end_of_children++, body);

  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    pollfd pipes[2 * kMostChildren];
    nfds_t open_pipes = 0;
    long long patience = 100;
    bool all_done = true;
    for (const RunningChild* child = children; child != end_of_children; ++child) {
      if (child->done) continue;
      all_done = false;
      if (child->records_fd < 0) patience = 2;  // it is ending; poll tells nothing more
      for (const int end : {child->records_fd, child->noise_fd})
        if (end >= 0) pipes[open_pipes++] = {end, POLLIN, 0};
    }
    if (all_done || left <= 0 || held.arrived()) break;
    poll(pipes, open_pipes, static_cast<int>(left < patience ? left : patience));
    for (RunningChild* child = children; child != end_of_children; ++child)
      if (!child->done) look_after(*child);
  }

  std::vector<ChildOutcome> outcomes;
  for (RunningChild* child = children; child != end_of_children; ++child) {
    if (!child->done) look_after(*child);  // this process may have slept past the deadline, and the child not
    if (!child->done) {
      child->outcome.end = ChildOutcome::End::late;
      kill_and_reap(*child);
    }
    outcomes.push_back(outcome_of(*child));
  }
  return outcomes;
}

bool became_isolated_child(const std::vector<std::string>&, std::initializer_list<IsolatedBody>) {
  return false;  // children are forked
}

std::string signal_text(int signal) {
  const char* text = strsignal(signal);
  return text != nullptr ? to_lower(text) : "signal " + std::to_string(signal);
}

std::string errno_text(int code) {
  return to_lower(strerror(code));
}

std::optional<std::string> environment(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

bool path_exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool opens_for_reading(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  close(descriptor);
  return true;
}

std::string read_small_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::string text(64 << 10, '\0');
  std::size_t size = 0;
  while (descriptor >= 0 && size < text.size()) {
    const ssize_t count = read(descriptor, text.data() + size, text.size() - size);
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (descriptor >= 0) close(descriptor);
  text.resize(size);
  return text;
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string link_name(const std::string& path) {
  char target[256];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  const std::string_view text(target, size > 0 ? static_cast<std::size_t>(size) : 0);
  return std::string(text.substr(text.rfind('/') + 1));
}

std::string file_stamp(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return "-";
  char stamp[200];
  if (S_ISREG(about.st_mode)) {
    std::snprintf(stamp, sizeof stamp, "%llu:%llu:%lld:%lld.%09ld:%lld.%09ld",
                  static_cast<unsigned long long>(about.st_dev),
                  static_cast<unsigned long long>(about.st_ino), static_cast<long long>(about.st_size),
                  static_cast<long long>(about.st_mtim.tv_sec), about.st_mtim.tv_nsec,
                  static_cast<long long>(about.st_ctim.tv_sec), about.st_ctim.tv_nsec);
  } else {  // the times of a device node tell of its use
    std::snprintf(stamp, sizeof stamp, "%o:%u:%u:%llu", about.st_mode, about.st_uid, about.st_gid,
                  static_cast<unsigned long long>(about.st_rdev));
  }
  return stamp;
}

void remove_file(const std::string& path) {
  unlink(path.c_str());
}

std::vector<std::string> environment_with(const std::vector<std::string>& prefixes) {
  std::vector<std::string> found;
  for (char** line = environ; *line != nullptr; ++line)
    for (const auto& prefix : prefixes)
      if (starts_with(*line, prefix)) found.emplace_back(*line);
  std::sort(found.begin(), found.end());
  return found;
}

std::string user_identity() {
  gid_t groups[256];
  const int count = getgroups(256, groups);
  std::string text = std::to_string(geteuid()) + ":" + std::to_string(getegid());
  for (int i = 0; i < count; ++i) text += ":" + std::to_string(groups[i]);
  return text;
}

}  // namespace archguard
