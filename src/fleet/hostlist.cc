#include "fleet/hostlist.h"

#include "base/printable.h"
#include "base/text.h"

namespace archguard::fleet {
namespace {

constexpr std::uint64_t kMostNumber = 999'999'999'999;
constexpr std::size_t kMostDigits = 20;  // of a number, with zeros before it

Error bad(std::string_view text) {
  return {{}, "'" + excerpt(text, 60) + "' is no list of hosts, expected one such as node[01-04]", {}};
}

// "01-04" or "7" → 01, 02, 03, 04, as wide as the first.
Status add_range(std::string_view text, HostBudget& left, std::vector<std::string>& numbers) {
  const auto dash = text.find('-');
  const std::string_view first = text.substr(0, dash),
                         last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  const auto from = parse_number(first, kMostNumber), to = parse_number(last, kMostNumber);
  if (!from || !to || *to < *from || first.size() > kMostDigits) return bad(text);
  const std::uint64_t count = *to - *from + 1;
  HostBudget enough = left;  // these are no hosts yet
  ARCHGUARD_CHECK(take_hosts(enough, numbers.size() + count, 0, text));
  for (std::uint64_t number = *from; number <= *to; ++number) {
    std::string digits = std::to_string(number);
    if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
    numbers.push_back(std::move(digits));
  }
  return Done{};
}

// The pieces between commas that are in no brackets.
Result<std::vector<std::string_view>> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && !inside)) {
      pieces.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == ']') {
      if (inside == (text[i] == '[')) return bad(text);
      inside = !inside;
    }
  }
  if (inside) return bad(text);
  return pieces;
}

std::uint64_t bytes_of(const std::vector<std::string>& texts) {
  std::uint64_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

// Each of `hosts` with each ending.
Status append(std::vector<std::string>& hosts, const std::vector<std::string>& endings, HostBudget& left,
              std::string_view text) {
  HostBudget enough = left;
  ARCHGUARD_CHECK(take_hosts(enough, std::uint64_t{hosts.size()} * endings.size(), 0, text));
  ARCHGUARD_CHECK(
      take_hosts(left, 0, bytes_of(hosts) * endings.size() + bytes_of(endings) * hosts.size(), text));
  std::vector<std::string> longer;
  longer.reserve(hosts.size() * endings.size());
  for (const std::string& host : hosts)
    for (const std::string& ending : endings) longer.push_back(host + ending);
  hosts = std::move(longer);
  return Done{};
}

// "rack[1-2]node[01-04]x"
Result<std::vector<std::string>> expand(std::string_view piece, HostBudget& left) {
  std::vector<std::string> hosts = {""};
  for (std::string_view text = piece; !text.empty();) {
    const auto open = text.find('[');
    const auto plain = text.substr(0, open);
    ARCHGUARD_CHECK(take_hosts(left, 0, std::uint64_t{hosts.size() - 1} * plain.size(), piece));
    for (std::string& host : hosts) host += plain;
    if (open == std::string_view::npos) break;
    const auto close = text.find(']', open);
    std::vector<std::string> endings;
    for (const auto range : split(text.substr(open + 1, close - open - 1), ','))
      ARCHGUARD_CHECK(add_range(range, left, endings));
    ARCHGUARD_CHECK(append(hosts, endings, left, piece));
    text.remove_prefix(close + 1);
  }
  ARCHGUARD_CHECK(take_hosts(left, hosts.size(), 0, piece));
  return hosts;
}

}  // namespace

Status take_hosts(HostBudget& left, std::uint64_t hosts, std::uint64_t bytes, std::string_view text) {
  const char* what = hosts > left.hosts   ? "more than a million hosts are named"
                     : bytes > left.bytes ? "the names of hosts take more than 64 MiB"
                                          : nullptr;
  if (what != nullptr)
    return Error{{}, std::string(what) + ", up to '" + excerpt(text, 60) + "'", "scontrol show node"};
  left.hosts -= hosts;
  left.bytes -= bytes;
  return Done{};
}

Result<std::vector<std::string>> parse_hostlist(std::string_view text, HostBudget& left) {
  std::vector<std::string> hosts;
  ARCHGUARD_TRY(pieces, pieces_of(text));
  for (const auto piece : pieces) {
    if (piece.empty()) return bad(text);
    if (piece.find('[') == std::string_view::npos) {
      hosts.emplace_back(piece);
      continue;
    }
    ARCHGUARD_TRY(more, expand(piece, left));
    hosts.insert(hosts.end(), more.begin(), more.end());
  }
  return hosts;
}

}  // namespace archguard::fleet
