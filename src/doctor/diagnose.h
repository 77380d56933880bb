#pragma once

#include "doctor/facts.h"
#include "doctor/finding.h"

namespace archguard::doctor {

// Asks every check. Pure.
Diagnosis diagnose(const Facts& facts);

}  // namespace archguard::doctor
