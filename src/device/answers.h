#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/driver_library.h"
#include "device/isolated_child.h"

namespace archguard {

// What one driver library said, before anyone judges it. The child that asks writes it as records, the parent
// reads them back; both sides of that form are in answers.cc.

struct DeviceAnswer {
  std::string name;
  std::optional<int> major, minor;  // of the compute capability, as answered: may be nonsense
  std::string uuid;                 // "GPU-…" of the whole GPU
  std::string mig_uuid;             // "MIG-…" where the device is an instance of a partitioned GPU
  std::string pci_bus_id;           // in normal form, see normal_pci_bus_id()
  bool mig = false;
};

// More than any machine has: a driver that counts more is one that fails.
constexpr unsigned kMostDevices = 1024;

struct CallFailure {
  std::string call;  // "cuInit"
  int code = 0;
};

struct LibraryAnswers {
  ChildOutcome::End end = ChildOutcome::End::finished;
  int end_detail = 0;
  std::string stage;  // the call it was in last
  DynamicLibrary::State state = DynamicLibrary::State::missing;
  std::string load_error;
  std::string path;                   // of the library that answered
  std::vector<CallFailure> failures;  // in order; one of the initialisation comes first
  std::string bad_count;              // of devices, which no machine has: "-1"; empty where it is sane
  bool initialised = false;
  std::optional<int> cuda_number;  // as cuDriverGetVersion spells it
  std::string driver_version;      // NVML: of the kernel driver
  std::string kernel_version;      // from /proc/driver/nvidia/version
  bool control_opens = false;      // /dev/nvidiactl opens; looked at only where the driver fails
  std::vector<DeviceAnswer> devices;
  std::string noise;
};

// Writers, used in the child.
class AnswerWriter {
 public:
  explicit AnswerWriter(const RecordSink& sink) : sink_(sink) {}
  void stage(const std::string& call) { sink_.put({"stage", call}); }
  void loaded(const DynamicLibrary& library);
  void failure(const std::string& call, int code) { sink_.put({"failure", call, std::to_string(code)}); }
  void initialised() { sink_.put({"initialised"}); }
  void cuda_number(int number) { sink_.put({"cuda", std::to_string(number)}); }
  void driver_version(const std::string& version) { sink_.put({"driver", version}); }
  void kernel_version(const std::string& version) { sink_.put({"kernel", version}); }
  void control_opens() { sink_.put({"control"}); }
  void bad_count(const std::string& count) { sink_.put({"count", count}); }
  void device(const DeviceAnswer& device);

 private:
  const RecordSink& sink_;
};

// What the child wrote. A record that makes no sense is passed over.
LibraryAnswers read_answers(const ChildOutcome& outcome);

// "0000:3B:00.0", "00000000:3b:00.0" → "00000000:3B:00.0", as nvidia-smi prints it; other text → empty.
std::string normal_pci_bus_id(std::string_view text);

// The version in the text of /proc/driver/nvidia/version, or empty.
std::string kernel_driver_version(std::string_view proc_text);

}  // namespace archguard
