#include "fleet/fleet_builder.h"

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "device/exclusion.h"
#include "device/fleet.h"
#include "device/spelling.h"

namespace archguard::fleet {
namespace {

constexpr std::uint64_t kMostInLine = kMostEqualDevices;
constexpr std::size_t kMostNamed = 6;  // names in one note

std::string in_quotes(const std::string& text) {
  return "'" + excerpt(text, 60) + "'";
}

// "'NVIDIA L4' (8.9), 'Tesla T4' (7.5) and 3 more"
std::string listed_names(const std::map<std::string, std::string>& texts) {
  std::vector<std::string> pieces;
  for (const auto& [name, text] : texts)
    if (pieces.size() < kMostNamed)
      pieces.push_back((name.empty() ? "GPUs without a name" : in_quotes(name)) +
                       (text.empty() ? "" : " (" + text + ")"));
  const auto rest = texts.size() - pieces.size();
  return join(pieces, ", ") + (rest == 0 ? "" : " and " + std::to_string(rest) + " more");
}

// Why a name tells no capability.
std::string why_unknown(const ProductMatch& match) {
  if (!match.candidates.empty()) {
    std::vector<std::string> several;
    for (const Product* each : match.candidates) several.push_back(to_string(each->capability));
    return "GPUs of " + join(several, " and ") + " go by that name";
  }
  return match.meant ? "did you mean '" + *match.meant + "'?" : "";
}

}  // namespace

void FleetBuilder::begin(const std::string& file, const std::string& format) {
  file_ = file;
  format_ = format;
}

std::string FleetBuilder::where(const ReportedGpu& gpu) const {
  return file_ + (gpu.place.empty() ? "" : ": " + printable(gpu.place));
}

Error FleetBuilder::error(const ReportedGpu& gpu, const std::string& what, std::string fix) const {
  return {where(gpu), what, std::move(fix)};
}

void FleetBuilder::note(const std::string& text) {
  if (noted_.try_emplace(text, notes_.size()).second) notes_.push_back({text, {}, 0});
}

void FleetBuilder::note(const ReportedGpu& gpu, const std::string& text) {
  const auto [known, is_new] = noted_.try_emplace(text, notes_.size());
  if (is_new) notes_.push_back({printable(text), where(gpu), 0});
  ++notes_[known->second].places;
}

Status FleetBuilder::check_told_once(const ReportedGpu& gpu) {
  if (gpu.host.empty()) return Done{};
  const auto [found, is_new] = hosts_.try_emplace(gpu.host, Told{file_, format_, !gpu.identity.empty()});
  const Told& first = found->second;
  if (is_new || (first.file == file_ && first.format == format_)) return Done{};
  if (first.with_identity && !gpu.identity.empty()) return Done{};  // each GPU counts once
  return error(gpu,
               first.file + " (" + first.format + ") lists " + printable(gpu.host) +
                   " as well: its GPUs would count twice",
               "import one of the two");
}

Status FleetBuilder::take_capability(ReportedGpu& gpu) {
  const ProductMatch& match = products_.find(gpu.name);
  if (gpu.capability.empty()) {
    if (match.product != nullptr) {
      gpu.capability = to_string(match.product->capability);
      by_name_[gpu.name] = gpu.capability;
    } else {
      unknown_names_[gpu.name] = why_unknown(match);
    }
    return Done{};
  }
  const auto capability = parse_capability(gpu.capability);
  if (!capability)
    return error(gpu, "the compute capability is " + in_quotes(gpu.capability) + ", expected X.Y such as 8.6",
                 {});
  if (match.product != nullptr && match.product->capability != *capability)
    note(gpu, in_quotes(gpu.name) + " is said to have " + gpu.capability + ", and has " +
                  to_string(match.product->capability) +
                  " by NVIDIA's list: kept as told, check which is right");
  return Done{};
}

Status FleetBuilder::check_driver(ReportedGpu& gpu) {
  if (!gpu.driver_version.empty() && !is_driver_version(gpu.driver_version))
    return error(
        gpu, "the driver's version is " + in_quotes(gpu.driver_version) + ", expected one such as 580.95.05",
        driver_version_fix(gpu.driver_version));
  if (!gpu.driver_cuda.empty() && !parse_driver_cuda(gpu.driver_cuda))
    return error(gpu, "the driver's CUDA is " + in_quotes(gpu.driver_cuda) + ", expected X.Y such as 12.4",
                 {});
  return Done{};
}

// The file would be refused; and outside of that container the driver's own CUDA counts.
void FleetBuilder::leave_out_compat(ReportedGpu& gpu) {
  Device device;
  device.name = gpu.name;
  device.capability = parse_capability(gpu.capability);
  device.driver_version = gpu.driver_version;
  device.driver_cuda = parse_driver_cuda(gpu.driver_cuda);
  if (!has_cuda_of_compat(device)) return;
  note(gpu, "CUDA " + gpu.driver_cuda + " is cuda-compat's, which " + in_quotes(gpu.name) +
                " does not run (error 804 in that container): left out, driver " + gpu.driver_version +
                " counts");
  gpu.driver_cuda.clear();
}

// One GPU has one driver. Where it is told with two, none of them is surer.
Result<bool> FleetBuilder::is_told_again(const std::string& identity, const ReportedGpu& gpu) {
  if (identity.empty()) return false;
  const auto [found, is_new] =
      identities_.try_emplace(identity, First{gpu.capability, gpu.driver_version, gpu.driver_cuda, gpu.name});
  if (is_new) return false;
  const First& first = found->second;
  for (const auto& [what, one, other] : {std::tuple("compute capability", &first.capability, &gpu.capability),
                                         std::tuple("driver", &first.driver_version, &gpu.driver_version),
                                         std::tuple("driver's CUDA", &first.driver_cuda, &gpu.driver_cuda)})
    if (!one->empty() && !other->empty() && *one != *other)
      return error(gpu,
                   "the same GPU was told before with the " + std::string(what) + " " + in_quotes(*one) +
                       ", and here with " + in_quotes(*other),
                   "leave out what is not so any more");
  // Sources spell a name in several ways.
  const ProductMatch one = products_.find(first.name), other = products_.find(gpu.name);
  const bool by_name = first.capability.empty() && gpu.capability.empty() && one.product != nullptr &&
                       other.product != nullptr;
  if (by_name && one.product->capability != other.product->capability)
    return error(
        gpu,
        "the same GPU was told before as " + in_quotes(first.name) + ", and here as " + in_quotes(gpu.name),
        "leave out what is not so any more");
  return true;
}

Status FleetBuilder::add(ReportedGpu gpu) {
  ARCHGUARD_CHECK(check_told_once(gpu));
  constexpr std::string_view kPrefix = "GPU-";  // which HTCondor leaves out
  if (starts_with(gpu.identity, kPrefix)) gpu.identity.erase(0, kPrefix.size());
  leave_out_compat(gpu);  // before it is compared with what was told of the GPU elsewhere
  ARCHGUARD_TRY(again, is_told_again(gpu.identity, gpu));
  if (again) return Done{};
  ARCHGUARD_TRY(host_again, is_told_again(gpu.once.empty() ? "" : gpu.host + "\n" + gpu.once, gpu));
  if (host_again) return Done{};
  gpu.name = printable(gpu.name);
  ARCHGUARD_CHECK(take_capability(gpu));
  ARCHGUARD_CHECK(check_driver(gpu));
  if (gpu.driver_version.empty() && gpu.driver_cuda.empty()) without_driver_ += gpu.count;
  count_ += gpu.count;
  kinds_[{gpu.name, gpu.capability, gpu.driver_version, gpu.driver_cuda,
          with_hosts_ ? printable(gpu.host) : "", gpu.mig, gpu.excluded}] += gpu.count;
  return Done{};
}

DeviceList FleetBuilder::devices() const {
  std::vector<Device> devices;
  for (const auto& [kind, count] : kinds_) {
    Device device;
    std::string capability, driver_cuda, host;
    std::tie(device.name, capability, device.driver_version, driver_cuda, host, device.mig, device.excluded) =
        kind;
    device.capability = parse_capability(capability);
    device.driver_cuda = parse_driver_cuda(driver_cuda);
    if (!host.empty()) device.host = host;
    for (std::uint64_t left = count; left > 0; left -= std::min(left, kMostInLine)) {
      device.count = static_cast<int>(std::min(left, kMostInLine));
      devices.push_back(device);
    }
  }
  std::stable_sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
    if (a.capability.has_value() != b.capability.has_value()) return a.capability.has_value();
    return a.capability && *b.capability < *a.capability;
  });
  return DeviceList(devices);
}

std::vector<std::string> FleetBuilder::notes() const {
  std::vector<std::string> notes;
  for (const Noted& each : notes_)
    notes.push_back(each.first + (each.places > 1 ? " and " + count_of(each.places - 1, "other") : "") +
                    (each.first.empty() ? "" : ": ") + each.text);
  if (!by_name_.empty())
    notes.push_back("compute capability by product name, from NVIDIA's list of " +
                    std::string(products_date()) + ": " + listed_names(by_name_));
  if (!unknown_names_.empty())
    notes.push_back(
        "no compute capability is known for " + listed_names(unknown_names_) +
        ": the fleet has [N/A], and the verdict on them is unknown; write it into the column compute_cap");
  if (without_driver_ > 0)
    notes.push_back(std::to_string(without_driver_) + " of " + count_of(count_, "GPU") + " without a driver" +
                    ": errors 35 and 222 cannot be judged; add the column driver_version or driver_cuda");
  if (drivers_of_hosts_ && without_driver_ < count_)
    notes.push_back(
        "drivers are those of the hosts: programs in a container with cuda-compat get a newer CUDA; write "
        "that into "
        "driver_cuda");
  if (hosts_without_ > 0)
    notes.push_back(count_of(hosts_without_, "host") + " without an NVIDIA GPU " +
                    (hosts_without_ == 1 ? "is" : "are") + " not listed");
  return notes;
}

}  // namespace archguard::fleet
