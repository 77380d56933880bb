#pragma once

#include <map>
#include <string>
#include <vector>

// The machine that the fake libraries play: the text file that ARCHGUARD_FAKE_MACHINE names.
//
//   driver 580.95.05                what NVML calls the driver
//   cuda 13000                      what cuDriverGetVersion gives
//   device cc=8.0 uuid=GPU-… pci=0000:3B:00.0 mig=1 nvml=2 name=NVIDIA A100
//                                   one GPU, in CUDA's order; `name` comes last and may hold blanks. nvml=N:
//                                   its place in NVML's order (default: the order of the lines); nvml=no,
//                                   cuda=no: that library does not show it. Without uuid or pci that call
//                                   fails. handle=4: what NVML says when it is to be opened; CUDA never
//                                   shows such a one. instances=0: of a partitioned one, to NVML
//   fail FUNCTION CODE              the function returns the code
//   hang FUNCTION                   ... never returns
//   crash FUNCTION                  ... ends in a segmentation fault
//   exit FUNCTION CODE              ... ends the process
//   print FUNCTION TEXT             ... prints the text on stdout and stderr, then works
//   signal FUNCTION NUMBER          ... sends that signal to its process group, then works
//   fork FUNCTION COUNT             ... starts so many processes, which print without end, then works
//   quit FUNCTION CODE              ... ends the process by exit(), with all that hangs on it
//   raise FUNCTION NUMBER           ... sends itself that signal, then works
//   parent FUNCTION NUMBER          ... sends its parent that signal, then works
//   throw FUNCTION                  ... throws through its caller
//   become FUNCTION PROGRAM         ... executes the program in its place
//   loop FUNCTION                   ... crashes, with a handler that never returns
//   deaf FUNCTION                   ... ignores and blocks every signal that it can, then works
//   flood FUNCTION BYTES            ... prints so many on stdout and stderr, then works
//   close FUNCTION                  ... closes every descriptor, then works
//   forge FUNCTION COUNT TEXT       ... writes the text so often to each pipe, as a record, then works; \t
//   and \n
//                                   are what they are in C
//   orphan FUNCTION COUNT           ... starts so many processes whose parent ends at once, then works
//   session FUNCTION SECONDS        ... starts a process in a session of its own, which ends after the
//   seconds thread FUNCTION MILLISECONDS    ... starts a thread that crashes then, then works lock FUNCTION
//   ... starts a thread that holds stdout for ever, then works leave FUNCTION                  ... ends the
//   thread that called, and leaves another spoil FUNCTION                  ... sets another folder and umask
//   and the limits of its process to nothing unended FUNCTION                ... fills a text up to its last
//   byte, without a NUL overrun FUNCTION                ... writes 64 KiB into a text count N how many
//   devices both libraries say there are
struct FakeDevice {
  std::string name, uuid, pci;
  int major = 0, minor = 0;
  bool mig = false, in_cuda = true, in_nvml = true;
  int nvml_place = 0;
  int handle = 0;  // NVML's error
  bool has_instance = true;
};

struct FakeMachine {
  std::string driver;
  int cuda = 0;
  long long count = -1;  // of the devices, where it is not their number
  bool lies = false;     // about it
  std::vector<FakeDevice> devices;
  std::map<std::string, std::vector<std::string>> tricks;  // function → "fail 100", "hang", …
};

const FakeMachine& fake_machine();

// Plays the tricks of this function; the code that it must return, 0 where it shall work.
int play(const char* function);
// Writes the text as the function is to return it: with a NUL, unless a trick says otherwise.
void give_text(const char* function, char* target, unsigned size, const std::string& text);
