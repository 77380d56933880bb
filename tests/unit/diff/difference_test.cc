#include "diff/difference.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "diff/diff_report.h"
#include "sides.h"

using namespace archguard;
using namespace archguard::test;

namespace {

// "lost a.so on 7.5: a b"; one loss each, joined by "; ".
std::string losses(const Difference& difference) {
  std::vector<std::string> all;
  for (const CoverageLoss& loss : difference.losses) {
    std::vector<std::string> devices;
    for (const std::size_t device : loss.devices)
      devices.push_back(to_string(difference.before.devices[device]));
    std::string text(name_of(loss.how));
    text += " " +
            (loss.before ? difference.before.files[*loss.before] : difference.after.files[*loss.after]).key +
            " on " + join(devices, " ") + ":";
    for (const DiffName& name : loss.names) text += (name.is_variable ? " variable " : " ") + name.text;
    all.push_back(text);
  }
  return join(all, "; ");
}

}  // namespace

TEST_CASE("nothing is lost where the verdicts stay") {
  const auto same = difference_of(side({file("a.so", {covered(), fails({1})})}),
                                  side({file("a.so", {covered(), fails({1})})}));
  CHECK(losses(same).empty());
  CHECK(!is_lost(same));
  CHECK(!is_untold(same));
}

TEST_CASE("a verdict that falls is a loss, with the kernels that ran before") {
  const auto fell = difference_of(side({file("a.so", {covered(), covered()})}),
                                  side({file("a.so", {fails({0, 2}), covered()})}));
  CHECK(losses(fell) == "lost a.so on 7.5: a c");
  CHECK(is_lost(fell));
  // Also where no kernel of the old file fails: a new one does.
  auto after = file("a.so", {fails({3}), covered()});
  after.names.push_back({false, "d"});
  CHECK(losses(difference_of(side({file("a.so", {covered(), covered()})}), side({after}))) ==
        "lost a.so on 7.5:");
}

TEST_CASE("a kernel that ran is a loss where the file was not covered before either") {
  const auto fell = difference_of(side({file("a.so", {fails({1}), covered()})}),
                                  side({file("a.so", {fails({0, 1}), covered()})}));
  CHECK(losses(fell) == "lost a.so on 7.5: a");
}

TEST_CASE("devices that lose the same share a loss") {
  const auto fell = difference_of(side({file("a.so", {covered(), covered()})}),
                                  side({file("a.so", {fails({0}), fails({0})})}));
  CHECK(losses(fell) == "lost a.so on 7.5 8.0@12.4: a");
}

TEST_CASE("a verdict that is unknown now tells nothing of a loss, and nothing else either") {
  const auto doubt = difference_of(side({file("a.so", {covered(), covered()})}),
                                   side({file("a.so", {unknown(), covered()})}));
  CHECK(losses(doubt) == "unknown a.so on 7.5:");
  CHECK(!is_lost(doubt));
  CHECK(is_untold(doubt));
}

TEST_CASE("a file that went is a loss but where its kernels run in another") {
  auto other = file("b.so", {covered(), fails({0})});
  other.names = {{false, "x"}};
  const auto gone = difference_of(side({file("a.so", {covered(), covered()}), other}), side({other}));
  CHECK(losses(gone) == "gone a.so on 7.5 8.0@12.4: a b c");
  const auto merged = difference_of(side({file("a.so", {covered(), covered()}), other}),
                                    side({other, file("all/c.so", {covered(), covered()})}));
  CHECK(losses(merged).empty());
  // Nobody ran it before.
  CHECK(losses(difference_of(side({file("a.so", {fails({0, 1, 2}), covered()})}), side({}))) ==
        "gone a.so on 8.0@12.4: a b c");
}

TEST_CASE("a file that holds no device code any more is a loss") {
  DiffFile empty{"a.so", {}, "a.so", false};
  CHECK(losses(difference_of(side({file("a.so", {covered(), fails({0, 1, 2})})}), side({empty}))) ==
        "gone a.so on 7.5: a b c");
}

TEST_CASE("what cannot be told before and is not covered now may be a loss, and never nothing lost") {
  const DiffVerdict untold = {Coverage::unknown, 0, {}, {}, {}, {{0, Runs::unknown}}};
  for (const DiffVerdict& now : {untold, fails({0})}) {
    const auto doubt =
        difference_of(side({file("a.so", {untold, covered()})}), side({file("a.so", {now, covered()})}));
    CHECK(losses(doubt) == "unknown a.so on 7.5: a");
    CHECK(is_untold(doubt));
  }
  CHECK(!is_untold(difference_of(side({file("a.so", {unknown(), covered()})}),
                                 side({file("a.so", {covered(), covered()})}))));
  // Of some kernels, where others are not covered on either side.
  const auto kernels = difference_of(side({file("a.so", {fails({1}), covered()})}),
                                     side({file("a.so", {fails({0}, Runs::unknown), covered()})}));
  CHECK(losses(kernels) == "unknown a.so on 7.5: a");
  CHECK(!is_lost(kernels));
}

TEST_CASE("a kernel of several fat binaries is lost where one of them does not run any more") {
  const auto some = fails({0}, Runs::in_some);
  const auto differs = [&](const DiffVerdict& was, const DiffVerdict& is) {
    return losses(
        difference_of(side({file("a.so", {was, covered()})}), side({file("a.so", {is, covered()})})));
  };
  CHECK(differs(fails({1}), [&] {
          auto both = fails({1});
          both.not_all.insert(both.not_all.begin(), {0, Runs::in_some});
          return both;
        }()) == "lost a.so on 7.5: a");
  CHECK(differs(some, fails({0})) == "lost a.so on 7.5: a");
  CHECK(differs(some, some).empty());
  CHECK(differs(fails({0}), some).empty());
}

TEST_CASE("a variable is lost as a kernel is, and is none") {
  auto was = file("a.so", {fails({1}), covered()});
  auto is = file("a.so", {fails({1, 3}), covered()});
  was.names.push_back({true, "b"});
  is.names.push_back({true, "b"});
  CHECK(losses(difference_of(side({was}), side({is}))) == "lost a.so on 7.5: variable b");
}

TEST_CASE("a kernel that moved to a file where it does not run is lost, and one that runs there is not") {
  auto rest = file("b.so", {fails({0}), covered()});  // was not covered before either
  rest.names = {{false, "x"}};
  auto less = file("a.so", {covered(), covered()});
  less.names = {{false, "b"}, {false, "c"}};
  auto more = file("b.so", {fails({0, 1}), covered()});
  more.names = {{false, "a"}, {false, "x"}};
  CHECK(losses(difference_of(side({file("a.so", {covered(), covered()}), rest}), side({less, more}))) ==
        "lost a.so on 7.5: a");
  more.verdicts[0] = fails({1});
  CHECK(
      losses(difference_of(side({file("a.so", {covered(), covered()}), rest}), side({less, more}))).empty());
  // One that was copied there runs from where it was.
  more.verdicts[0] = fails({0, 1});
  const auto copied = difference_of(side({file("a.so", {covered(), covered()}), rest}),
                                    side({file("a.so", {covered(), covered()}), more}));
  CHECK(losses(copied).empty());
}

TEST_CASE("a new file that does not run breaks what was covered as a whole") {
  auto other = file("b.so", {fails({0}), covered()});
  other.names = {{false, "x"}};
  const auto all = side({file("a.so", {covered(), covered()})});
  auto with = side({file("a.so", {covered(), covered()}), other});
  CHECK(losses(difference_of(all, with)) == "new b.so on 7.5:");
  CHECK(losses(difference_of(side({file("a.so", {fails({0}), covered()})}),
                             side({file("a.so", {fails({0}), covered()}), other})))
            .empty());
  with.files[1].verdicts[0] = unknown();
  CHECK(losses(difference_of(all, with)) == "unknown b.so on 7.5:");
}

TEST_CASE("a file that went may be in what was passed over") {
  auto after = side({});
  after.passed_over = {"rest.tar.gz"};
  const auto doubt = difference_of(side({file("a.so", {covered(), covered()})}), after);
  CHECK(losses(doubt) == "unknown a.so on 7.5 8.0@12.4: a b c");
  CHECK(!is_lost(doubt));
}

TEST_CASE("PTX that went is told where machine code stays") {
  auto was = file("a.so", {covered(), covered()});
  was.sizes[{EntryKind::ptx, Arch{80, Suffix::none}}] = {1, 3, 10, 10};
  const auto went = difference_of(side({was}), side({file("a.so", {covered(), covered()})}));
  CHECK(went.ptx_went == std::vector<std::size_t>{0});
  CHECK(!is_lost(went));
  CHECK(difference_of(side({was}), side({was})).ptx_went.empty());
}

TEST_CASE("of a library that chooses among its images no single kernel is asked") {
  auto was = side({file("a.so", {covered(), covered()})});
  auto is = side({file("a.so", {covered(), fails({0})})});
  is.files[0].verdicts[0].not_all = {{1, Runs::nowhere}};
  was.scope = is.scope = "library";
  CHECK(losses(difference_of(was, is)) == "lost a.so on 8.0@12.4: a");
}

TEST_CASE("what a device gains is told once") {
  const auto better = difference_of(side({file("a.so", {fails({0}), covered()})}),
                                    side({file("a.so", {covered(), covered()})}));
  CHECK(losses(better).empty());
  CHECK(better.gained == std::vector<std::size_t>{0});
}

TEST_CASE("the size may grow by so many percent and not more") {
  auto grown = difference_of(side({file("a.so", {covered(), covered()}, 1000)}),
                             side({file("a.so", {covered(), covered()}, 1100)}));
  CHECK(!grew_too_much(grown));  // nobody asked
  grown.grow = 10;
  CHECK(!grew_too_much(grown));
  grown.grow = 9;
  CHECK(grew_too_much(grown));
  CHECK(*growth_of(grown) == doctest::Approx(10.0));
  auto first = difference_of(side({file("a.so", {covered(), covered()}, 0)}),
                             side({file("a.so", {covered(), covered()}, 1)}));
  first.grow = 100;
  CHECK(grew_too_much(first));
  CHECK(!growth_of(first));
}
