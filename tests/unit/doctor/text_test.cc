#include <doctest/doctest.h>

#include "doctor/checks.h"
#include "doctor/doctor_report.h"

using namespace archguard;
using namespace archguard::doctor;

namespace {

Finding risk_of(const std::string& name, const std::string& tail) {
  Finding finding{FindingId::device_code, Rank::risk, Package{name, "1.0", PackageManager::pip}, 209};
  finding.cause = to_string(*finding.package) + tail;
  finding.fix = "install another";
  return finding;
}

std::string text_of(const Diagnosis& diagnosis, bool full) {
  ReportWords words;
  words.full = full;
  HeldText text;
  write_doctor_text(diagnosis, words, Style{}, text);
  return text.take();
}

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("one GPU is told once, and what there is none of is not counted") {
  Diagnosis diagnosis;
  Device device;
  device.capability = ComputeCapability{9, 0};
  device.origin = "--device 9.0";
  diagnosis.devices = {device, device};
  diagnosis.checked = {{FindingId::device_code, "files with device code", 1, "file with device code"},
                       {FindingId::libcuda, "copies of libcuda", 0, "copy of libcuda"}};
  diagnosis.told = {{"no-kernel-image", "it has no code", "", 209}};
  Finding fine{FindingId::not_architecture, Rank::note};
  fine.cause = "all is well";
  fine.fix = "look elsewhere";
  diagnosis.findings = {fine};
  diagnosis.answer = Answer::clean;
  const std::string text = text_of(diagnosis, false);
  CHECK(holds(text, "gpu: 9.0 (--device 9.0)\n"));
  CHECK(holds(text, "checked: 1 file with device code\n"));
  CHECK(holds(text, "  next: look elsewhere\n"));
  CHECK(text.find("error 209 means: it has no code") == 0);
  CHECK(holds(text_of(diagnosis, true), "checked: 1 file with device code, 0 copies of libcuda\n"));
}

TEST_CASE("what is the same of many packages is one line") {
  Diagnosis diagnosis;
  for (const char* name : {"a", "b", "c", "d", "e"}) diagnosis.findings.push_back(risk_of(name, " has no code for 6.1"));
  diagnosis.findings.push_back(risk_of("f", " has only PTX"));
  const std::string text = text_of(diagnosis, false);
  CHECK(holds(text, "risk (device-code): each of a, b, c and 2 other packages has no code for 6.1 (--full names them)\n"));
  CHECK(holds(text, "risk (device-code): f 1.0 (pip) has only PTX; fix: install another\n"));
  CHECK_FALSE(holds(text, "e 1.0"));
  CHECK(holds(text_of(diagnosis, true), "e 1.0 (pip) has no code for 6.1"));
}
