#pragma once

#include "device/failure_facts.h"
#include "device/probe.h"

namespace archguard {

// Joins what the two libraries said into devices, a status and causes. Pure.
ProbeResult judge_answers(const LibraryAnswers& cuda, const LibraryAnswers& nvml, const Surroundings& around);

}  // namespace archguard
