#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/findings.h"
#include "report/formats.h"
#include "report/github.h"
#include "report/html.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/source_place.h"

using namespace archguard;

namespace {

Device gpu(const char* capability, const char* origin) {
  Device device;
  device.capability = parse_capability(capability);
  device.origin = origin;
  device.source["compute_capability"] = starts_with(origin, "--") ? "option" : "fleet";
  return device;
}

DeviceResult with(Coverage coverage, std::vector<Failure> failures) {
  DeviceResult result;
  result.coverage = coverage;
  result.fatbins.total = result.fatbins.sass = 1;
  result.failures = std::move(failures);
  return result;
}

Failure failure(int code, bool unknown) {
  Failure made;
  made.code = code;
  made.unknown = unknown;
  made.reason = "because";
  made.fix = "add 75-real";
  return made;
}

Verification of(std::vector<DeviceResult> results) {
  Verification all;
  std::vector<Device> devices;
  const char* const capabilities[] = {"7.5", "8.0", "9.0"};
  for (std::size_t i = 0; i < results.size(); ++i)
    devices.push_back(gpu(capabilities[i], ("fleet.csv:" + std::to_string(i + 2)).c_str()));
  all.devices = devices;
  all.classes = classes_of(all.devices);
  FileResult file;
  file.path = "lib.so";
  file.has_code = true;
  file.devices = std::move(results);
  all.files.push_back(file);
  return all;
}

std::string written(const char* name, const Verification& verification) {
  for (const ReportFormat& format : report_formats())
    if (format.name == name) return held_text(*format.verify(verification, {}));
  return {};
}

bool tells_of_error(const Verification& verification) {
  for (const Finding& finding : findings_of(verification, {}))
    if (finding.level != Finding::Level::warning) return true;
  return false;
}

}  // namespace

TEST_CASE("a report tells of an error where the answer is not covered, and nowhere else") {
  const Verification covered = of({with(Coverage::covered, {})});
  const Verification failing = of({with(Coverage::not_covered, {failure(209, false)})});
  const Verification unknown = of({with(Coverage::unknown, {failure(209, true)})});
  const Verification silent = of({with(Coverage::not_covered, {})});  // whatever made it so
  Verification unread = covered, unjudged = covered, needed = covered, passed_over;
  unread.files[0].errors.push_back({"lib.so", "is cut", {}});
  Device no_capability;
  no_capability.origin = "fleet.csv:9";
  unjudged.devices.push_back(no_capability);
  needed.needed.emplace().errors.push_back({"libx.so", "was not found", {}});
  passed_over.passed_over.push_back({"x.deb", UnreadKind::packed});
  Verification nothing;
  const Verification* const every[] = {&failing,  &unknown, &silent,      &unread,
                                       &unjudged, &needed,  &passed_over, &nothing};
  for (const Verification* each : every) {
    REQUIRE(outcome_of(*each) != Outcome::covered);
    CHECK(tells_of_error(*each));
    const std::string junit = written("junit", *each);
    CHECK((junit.find("<failure ") != std::string::npos || junit.find("<error ") != std::string::npos));
    CHECK(starts_with(written("github", *each), "::error "));
    const auto sarif = nlohmann::json::parse(written("sarif", *each));
    CHECK(sarif["runs"][0]["results"][0]["level"] == "error");
  }
  CHECK_FALSE(tells_of_error(covered));
  CHECK(written("github", covered).empty());
  CHECK(nlohmann::json::parse(written("sarif", covered))["runs"][0]["results"].empty());
}

TEST_CASE("the gravest comes first: CUDA's errors, other errors, what is unknown, warnings") {
  Verification all =
      of({with(Coverage::unknown, {failure(222, true)}), with(Coverage::not_covered, {failure(0, false)}),
          with(Coverage::not_covered, {failure(209, false)})});
  all.files[0].warnings.push_back({"lib.so", "is odd", {}});
  std::vector<std::string> rules;
  for (const Finding& finding : findings_of(all, {})) rules.push_back(finding.rule);
  CHECK(rules == std::vector<std::string>{"AG209", "AG-policy", "AG-unknown", "AG-warning"});
  const auto known = rules_of(findings_of(all, {}));
  REQUIRE(known.size() == 4);
  CHECK(known[0].name == "no kernel image is available for execution on the device");
}

TEST_CASE("the findings tell of each warning, in the words of the report for people") {
  Verification all = of({with(Coverage::covered, {}), with(Coverage::covered, {})});
  FileResult& file = all.files[0];
  file.library = true;
  file.devices[0].kernels.hollow = {"k"};
  file.devices[0].hollow_fix = "compile it";
  file.devices[0].variables.unnamed = {"v"};
  file.devices[0].variables.unnamed_in = "sm_75";
  file.devices[0].toolkit_ahead = Version{13, 0};
  file.devices[0].runtime_elsewhere = true;
  Failure idle = failure(209, false);  // nothing of it works: the hollow kernels are not told apart
  idle.cause = FailureCause::partly;
  file.devices[1].coverage = Coverage::not_covered;
  file.devices[1].failures = {idle};
  file.devices[1].kernels.hollow = {"k"};
  all.unused_waivers.push_back({{"old", "*", "", "w.csv:2"}, false});
  const std::string text = written("text", all);
  std::vector<std::string> warnings;
  for (const Finding& finding : findings_of(all, {})) {
    if (finding.level != Finding::Level::warning) continue;
    warnings.push_back(headline_of(finding));
    CHECK(text.find("archguard: " + warnings.back() + "\n") != std::string::npos);
    for (const auto& [label, words] : finding.text.details)
      CHECK(text.find("  " + label + ": " + words + "\n") != std::string::npos);
  }
  REQUIRE(warnings.size() == 4);
  CHECK(warnings[0] ==
        "warning: lib.so: 1 kernel does no work on 7.5 (fleet.csv:2), while another image holds real code: 'k'");
  CHECK(warnings[1].find("1 variable is missing in the sm_75 image") != std::string::npos);
  CHECK(warnings[2].find("the CUDA runtime is in another file; that of CUDA 13.0 fails with error 35 (") !=
        std::string::npos);
  CHECK(warnings[3] == "warning: w.csv:2: the waiver for 'old' on * matches no kernel that was read");
  CHECK(text.find("--hollow off") != std::string::npos);
  CHECK(text.find("compile it") == std::string::npos);
}

TEST_CASE("each format keeps names of others from being more than text") {
  CHECK(github_message("50%\r\nx,y:z") == "50%25%0D%0Ax,y:z");
  CHECK(github_property("a:b,c%\n") == "a%3Ab%2Cc%25%0A");
  CHECK(xml_escape("<a b=\"c\">&\n\x01\xff") == "&lt;a b=&quot;c&quot;&gt;&amp;&#10;\\x01\\xff");
  CHECK(xml_escape("\xef\xbf\xbe") == "?");
  CHECK(html_escape("<img src='x' alt=\"y\">&") == "&lt;img src=&#39;x&#39; alt=&quot;y&quot;&gt;&amp;");
  CHECK(markdown_escape("a|b `c` *d* [e](f) <g> @h #1 http://x www.y") ==
        "a\\|b \\`c\\` \\*d\\* \\[e\\](f) &lt;g&gt; @<!-- -->h #<!-- -->1 http:<!-- -->//x www.<!-- -->y");
  CHECK(markdown_escape("a\nb") == "a\\\\nb");
  Verification all = of({with(Coverage::covered, {})});
  all.files[0].path = "</script><script>alert(1)</script>&.so";
  const std::string page = written("html", all);
  CHECK(page.find("alert(1)</script>") == std::string::npos);
  CHECK(page.find("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)") != std::string::npos);
}

TEST_CASE("places are relative to the sources") {
  ReportOptions options;
  options.folder = "/home/me/project/build";
  options.root = "/home/me/project";
  CHECK(path_below_root("lib/x.so", options) == "build/lib/x.so");
  CHECK(path_below_root("./a/../x.so", options) == "build/x.so");
  CHECK(path_below_root("../fleet.csv", options) == "fleet.csv");
  CHECK(path_below_root("/home/me/project/x.so", options) == "x.so");
  CHECK(path_below_root("/home/me/project2/x.so", options) == "/home/me/project2/x.so");
  CHECK(path_below_root("../../x.so", options) == "/home/me/x.so");
  CHECK(uri_of("a b%c:d#?\xff.so") == "a%20b%25c%3Ad%23%3F%FF.so");
  CHECK(uri_of("/a/b") == "file:///a/b");

  CHECK(place_of_device(gpu("7.5", "../fleet.csv:4"), options)->path == "fleet.csv");
  CHECK(place_of_device(gpu("7.5", "../fleet.csv:4"), options)->line == 4);
  CHECK_FALSE(place_of_device(gpu("7.5", "standard input:4"), options));
  CHECK_FALSE(place_of_device(gpu("7.5", "--device 7.5"), options));
}

TEST_CASE("markdown fits in what it is given, and counts the rest") {
  Verification all = of({with(Coverage::not_covered, {failure(209, false)}), with(Coverage::covered, {})});
  for (int i = 0; i < 400; ++i) {
    FileResult file = all.files[0];
    file.path = "lib" + std::to_string(i) + ".so";
    file.errors.push_back({file.path, "is cut", {}});
    all.files.push_back(file);
  }
  for (const std::uint64_t most : {1000U, 4000U, 20000U}) {
    const std::string text = markdown_text(all, {}, most);
    INFO(text);
    CHECK(text.size() <= most);
    CHECK(starts_with(text, "## ArchGuard: unknown\n"));
    CHECK(text.find(" messages more\n") != std::string::npos);
  }
  CHECK(markdown_text(all, {}, 10).empty());
}
