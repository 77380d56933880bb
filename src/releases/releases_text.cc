#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "releases/releases.h"

namespace archguard {
namespace {

std::string asked_text(const AskedDevice& asked) {
  return to_string(asked.device) + (asked.driver ? "@" + to_string(*asked.driver) : std::string());
}

std::string all_asked(const std::vector<AskedDevice>& devices) {
  std::vector<std::string> names;
  for (const AskedDevice& each : devices) names.push_back(asked_text(each));
  return join(names, ", ");
}

std::string arch_numbers(const std::vector<Arch>& archs) {
  std::vector<std::string> names;
  for (const Arch each : archs) names.push_back(to_string(each));
  return join(names, " ");
}

// "50 60 (some: 90a)"
std::string archs_cell(const std::vector<Arch>& all, const std::vector<Arch>& some) {
  std::string text = arch_numbers(all);
  if (!some.empty()) text += std::string(text.empty() ? "" : " ") + "(some: " + arch_numbers(some) + ")";
  return text.empty() ? "-" : text;
}

struct ToolkitCells {
  std::string cuda, driver;
};

// The driver is that of the asked device, or of any that it serves, which asks least.
ToolkitCells toolkit_cells(const Release& release, const std::vector<AskedDevice>& asked) {
  std::optional<Version> lowest;
  const auto take = [&lowest](std::optional<Version> driver) {
    if (driver && (!lowest || *driver < *lowest)) lowest = driver;
  };
  for (const AskedDevice& each : asked) take(lowest_driver_for(release, each.device));
  if (asked.empty()) {
    for (const ServedDevice& each : release.devices) take(each.driver);
    for (const Version each : release.ptxas) take(lowest_driver_cuda_for_toolkit(each));
  }
  std::vector<std::string> compilers;
  for (const Version each : release.ptxas) compilers.push_back(to_string(each));
  const std::string cuda = release.cuda ? to_string(*release.cuda) : "-";
  return {compilers.empty() ? cuda : "ptxas " + join(compilers, ", "),
          lowest ? "CUDA " + to_string(*lowest) : "-"};
}

std::string serves_cell(const Release& release, const AskedDevice& asked) {
  switch (serves(release, asked)) {
    case Serves::no:
      return "no";
    case Serves::unknown:
      return "not measured";
    case Serves::partly:
      return "in part";
    case Serves::yes:
      break;
  }
  const std::string image = image_for(release, asked.device);
  return image.empty() ? "yes" : image;
}

std::string row_text(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i + 1 < cells.size()) line += std::string(widths[i] - cells[i].size() + 2, ' ');
  }
  return line + "\n";
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) text += row_text(row, widths);
  return text;
}

std::string table_text(const ReleasesQuestion& question, const std::vector<const Release*>& releases) {
  std::vector<std::vector<std::string>> rows = {{"release", "CUDA", "driver from", "Python", "glibc"}};
  for (const AskedDevice& each : question.devices) rows.front().push_back(asked_text(each));
  for (const char* name : {"SASS", "PTX"}) rows.front().emplace_back(name);
  for (const Release* each : releases) {
    const auto [cuda, driver] = toolkit_cells(*each, question.devices);
    std::vector<std::string> row = {each->version, cuda, driver, pythons_text(*each),
                                    each->glibc.empty() ? "-" : each->glibc};
    for (const AskedDevice& asked : question.devices) row.push_back(serves_cell(*each, asked));
    row.push_back(archs_cell(each->sass, each->sass_some));
    row.push_back(archs_cell(each->ptx, each->ptx_some));
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

// "through sm_60", or for several devices each with its own.
std::string images_text(const Release& release, const std::vector<AskedDevice>& devices) {
  std::vector<std::string> images;
  for (const AskedDevice& each : devices) {
    const std::string image = image_for(release, each.device);
    if (!image.empty() && image != "sm_" + to_string(arch_of(each.device)))  // its own needs no word
      images.push_back((devices.size() == 1 ? std::string() : to_string(each.device) + " ") + "through " +
                       image);
  }
  return images.empty() ? std::string() : " (" + join(images, ", ") + ")";
}

std::string needs_text(const Release& release, const std::vector<AskedDevice>& devices) {
  const auto driver = lowest_driver_for(release, devices);
  return driver ? ", with a driver of " + driver_text(*driver) + " or newer" : std::string();
}

void add_lacking(std::string& text, const Release& release, const std::vector<AskedDevice>& devices) {
  for (const AskedDevice& asked : devices) {
    const std::string device = to_string(asked.device);
    std::vector<std::string> files;
    for (const std::string& each : release.lacking)
      if (starts_with(each, device + ":")) files.push_back(each.substr(device.size() + 1));
    if (!files.empty())
      text += "  except " + join(files, " and ") + ", which " + (files.size() == 1 ? "has" : "have") +
              " no code for " + device + "\n";
  }
}

// Of several devices that no release supports together: the last or newest for each.
std::string each_alone_text(const ReleasesQuestion& question) {
  std::string text;
  if (question.devices.size() < 2) return text;
  for (const AskedDevice& each : question.devices) {
    ReleasesQuestion one = question;
    one.devices = {each};
    const ReleaseChoice choice = choose_release(one);
    if (choice.told() != nullptr)
      text += "  for " + all_asked(one.devices) + " alone: " + install_line(choice, one) + "\n";
  }
  return text;
}

std::string answer_text(const ReleasesQuestion& question, const ReleaseChoice& choice) {
  const std::string who = all_asked(question.devices);
  const std::string where = question.platform == "x86_64" ? "" : " for " + question.platform;
  if (choice.told() == nullptr) {
    const std::string pins = pins_another(choice, question);
    return "no measured release of " + question.package + where + " supports " +
           (question.devices.size() > 1 ? "all of " : "") + who +
           (pins.empty() ? std::string() : "\n  " + pins) + "\n" + each_alone_text(question);
  }
  const Release& told = *choice.told();
  std::string text;
  if (choice.found == nullptr)
    text += "no measured release of " + question.package + where + " that supports " + who +
            " has a wheel for Python " + to_string(*question.python) + "; with another Python:\n";
  std::string with;  // a newer one may serve the device, and not this Python
  if (choice.found != nullptr && question.python &&
      choice.found != newest_serving(question.package, question.platform, question.devices))
    with = " with a wheel for Python " + to_string(*question.python);
  text += told.package + " " + told.version +
          (&told == choice.newest ? ", the newest measured, supports " : " is the last on PyPI for ") + who +
          where + with + images_text(told, question.devices) + ", for Python " + pythons_text(told) +
          needs_text(told, question.devices) + ": " + install_line(choice, question) + "\n";
  add_lacking(text, told, question.devices);
  for (const std::string& each : {needs_driver_text(choice, question), pins_another(choice, question),
                                  refused_by_torch_compile(told, question.devices)})
    if (!each.empty()) text += "  " + each + "\n";
  return text;
}

}  // namespace

std::string releases_text(const ReleasesQuestion& question) {
  const auto releases = releases_of(question.package, question.platform);
  if (releases.empty()) return {};
  std::string text;
  if (!question.devices.empty()) {
    text += answer_text(question, choose_release(question));
    const std::string documented = documented_elsewhere(question);
    if (!documented.empty()) text += "documented, not measured: " + documented + "\n";
    text += "\n";
  }
  text += table_text(question, releases);
  text += "measured " + releases.front()->measured + ": wheels of PyPI for " +
          (question.platform == "windows" ? "Windows" : "Linux on " + question.platform) +
          ", the last patch of each release; judge a newer one by its file: " + judge_by_file("CC") + "\n";
  return text;
}

}  // namespace archguard
