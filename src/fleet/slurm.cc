// What Slurm knows of GPUs: a type and a count, no driver and no compute capability. `scontrol show node`,
// with or without -o, `sinfo -o '%N %G'` (also with -h), and `slurmd -G` of one host. The types are those of
// gres.conf; where AutoDetect=nvml made them, product names in small letters with underscores (Slurm,
// gres.conf(5)).
#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/sources.h"
#include "products/product_words.h"

namespace archguard::fleet {
namespace {

constexpr std::uint64_t kMostOfHost = 1'000'000;

// "gpu:nvidia_l4:2(S:0-1)", "gpu:2", "gpu:1g.5gb:7"; other resources are passed over.
struct Gres {
  std::string type;
  std::uint64_t count = 0;
};

// The pieces of a Gres= value: commas in round brackets divide nothing.
std::vector<std::string_view> gres_pieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      pieces.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return pieces;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "gpu", "gpu:COUNT", "gpu:TYPE" and "gpu:TYPE:COUNT"; slurm.conf(5) has "no_consume" before the count.
Result<Gres> parse_gpu(std::string_view piece) {
  auto parts = split(piece, ':');
  parts.erase(std::remove(parts.begin(), parts.end(), "no_consume"), parts.end());
  Gres gres;
  gres.count = 1;
  const bool has_count = parts.size() == 3 || (parts.size() == 2 && is_digits(parts[1]));
  if (has_count) {
    const auto count = parse_number(parts.back(), kMostOfHost);
    if (!count)
      return Error{
          {},
          "the count in '" + excerpt(piece, 60) + "' is no number up to " + std::to_string(kMostOfHost),
          {}};
    gres.count = *count;
  }
  if (parts.size() > 3)
    return Error{{}, "'" + excerpt(piece, 60) + "' is no Gres, expected gpu:TYPE:COUNT", {}};
  if (parts.size() == (has_count ? 3 : 2)) gres.type = std::string(parts[1]);
  return gres;
}

// Nothing for another resource than GPUs.
Result<std::vector<Gres>> parse_gres(std::string_view text) {
  std::vector<Gres> found;
  if (text.empty() || text == "(null)" || text == "N/A") return found;
  for (auto piece : gres_pieces(text)) {
    piece = trim(piece.substr(0, piece.find('(')));
    if (piece != "gpu" && !starts_with(piece, "gpu:")) continue;
    ARCHGUARD_TRY(gres, parse_gpu(piece));
    if (gres.count > 0) found.push_back(std::move(gres));
  }
  return found;
}

class SlurmReader {
 public:
  SlurmReader(const std::string& file, FleetBuilder& fleet) : file_(file), fleet_(fleet) {}

  Status read(std::string_view text) {
    Lines lines(text);
    for (std::string_view line; lines.next(line);) {
      line_ = lines.number();
      if (ends_with(line, "\r")) line.remove_suffix(1);
      const std::size_t width = line.size();
      line = trim(line);
      if (starts_with(line, "slurmd: ")) line = trim(line.substr(8));
      if (line.empty()) continue;
      if (starts_with(line, "Gres Name=")) {
        ARCHGUARD_CHECK(take_slurmd(line));
      } else if (line.find('=') != std::string_view::npos) {
        ARCHGUARD_CHECK(take_fields(line));
      } else {
        if (starts_with(line, "NODELIST") && width > line.size()) width_ = width;
        ARCHGUARD_CHECK(take_row(line));
        if (line.size() == width_ && line.size() == width && !starts_with(line, "NODELIST"))
          return error({{},
                        "its Gres fills the column to the end, so that more may be cut off",
                        "sinfo -h -o '%N %G', without widths"});
      }
    }
    ARCHGUARD_CHECK(finish_node());
    if (nodes_ == 0) return Error{file_, "names no node", "scontrol show node, or sinfo -h -o '%N %G'"};
    return Done{};
  }

 private:
  Error error(Error error) const { return error_at(line_, std::move(error)); }

  Error error_at(std::size_t line, Error error) const {
    if (error.where.empty()) error.where = file_ + ":" + std::to_string(line);
    return error;
  }

  Status add(const std::string& host, const Gres& gres) {
    ReportedGpu gpu;
    gpu.host = host;
    gpu.mig = names_mig_profile(gres.type);
    if (!host.empty()) gpu.once = "gres " + gres.type;  // a node of two partitions may be listed twice
    gpu.name = gres.type;
    gpu.count = gres.count;
    gpu.place = host.empty() ? "line " + std::to_string(line_) : "node " + host;
    if (gres.type.empty())
      fleet_.note(
          gpu, "Slurm gives no type for these GPUs: name types in gres.conf, or set AutoDetect=nvml there");
    return fleet_.add(std::move(gpu));
  }

  Status add_all(const std::string& host, const std::vector<Gres>& found) {
    ++nodes_;
    if (found.empty()) fleet_.pass_over_host();
    for (const Gres& gres : found) ARCHGUARD_CHECK(add(host, gres));
    return Done{};
  }

  // "NodeName=a Arch=… Gres=gpu:l4:1 …": in one line, or in several that belong to the NodeName above.
  Status take_fields(std::string_view line) {
    for (const auto word : split(line, ' ')) {
      if (starts_with(word, "NodeName=")) {
        ARCHGUARD_CHECK(finish_node());
        host_ = std::string(word.substr(9));
        if (host_.empty()) return error({{}, "a node without a name", "scontrol show node"});
      } else if (starts_with(word, "Gres=") && !host_.empty()) {
        gres_ = std::string(word.substr(5));
        gres_line_ = line_;
      }
    }
    return Done{};
  }

  Status finish_node() {
    if (host_.empty()) return Done{};
    const std::string host = std::move(host_), gres = std::move(gres_);
    host_.clear();
    gres_.clear();
    const auto found = parse_gres(gres);
    if (!found) return error_at(gres_line_, found.error());
    return add_all(host, *found);
  }

  // "node[01-04] gpu:l4:1", and the header "NODELIST GRES".
  Status take_row(std::string_view line) {
    const auto blank = line.find_first_of(" \t");
    const std::string_view hosts = line.substr(0, blank);
    if (hosts == "NODELIST") return Done{};
    if (blank == std::string_view::npos)
      return error({{},
                    "expected a list of nodes and their Gres, found '" + excerpt(line, 60) + "'",
                    "sinfo -h -o '%N %G'"});
    const std::string_view gres = trim(line.substr(blank));
    const auto found = parse_gres(gres);
    if (!found) return error(found.error());
    const auto names = parse_hostlist(hosts, fleet_.host_budget());
    if (!names) return error(names.error());
    const std::uint64_t others = names->size() - 1;  // that this text is for, too
    const std::uint64_t more = found->empty() ? 0 : found->size() - 1;
    const auto bounded = take_hosts(fleet_.host_budget(), others * more, others * gres.size(), hosts);
    if (!bounded) return error(bounded.error());
    for (const std::string& host : *names) ARCHGUARD_CHECK(add_all(host, *found));
    return Done{};
  }

  // "Gres Name=gpu Type=nvidia_h100_80gb_hbm3 Count=1 Index=0 …", a line each kind and file.
  Status take_slurmd(std::string_view line) {
    std::string name;
    Gres gres;
    gres.count = 1;
    for (const auto word : split(line.substr(5), ' ')) {
      if (starts_with(word, "Name=")) name = std::string(word.substr(5));
      if (starts_with(word, "Type=") && word != "Type=(null)") gres.type = std::string(word.substr(5));
      if (!starts_with(word, "Count=")) continue;
      const auto count = parse_number(word.substr(6), kMostOfHost);
      if (!count)
        return error({{}, "the count is '" + excerpt(word.substr(6), 40) + "', expected a number", {}});
      gres.count = *count;
    }
    ++nodes_;
    return name == "gpu" && gres.count > 0 ? add("", gres) : Status(Done{});
  }

  const std::string& file_;
  FleetBuilder& fleet_;
  std::size_t line_ = 0, gres_line_ = 0, nodes_ = 0;
  std::size_t width_ = 0;  // of a table with columns of a width, from its header
  std::string host_, gres_;
};

bool is_row(std::string_view line) {
  const auto blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return false;
  const std::string_view gres = trim(line.substr(blank));
  return gres.find(' ') == std::string_view::npos && (gres == "(null)" || starts_with(gres, "gpu:"));
}

}  // namespace

bool is_slurm(std::string_view text) {
  Lines lines(text);
  for (std::string_view line; lines.next(line);) {
    line = trim(line);
    if (line.empty()) continue;
    return starts_with(line, "NodeName=") || starts_with(line, "Gres Name=") ||
           starts_with(line, "slurmd: ") || starts_with(line, "NODELIST") || is_row(line);
  }
  return false;
}

Status read_slurm(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  return SlurmReader(file, fleet).read(text);
}

}  // namespace archguard::fleet
