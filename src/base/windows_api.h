#pragma once

// Windows' own header, without its min and max.
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
