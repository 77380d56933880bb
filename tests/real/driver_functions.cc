// Reads names, one a line, and writes behind each the CUDA of the first driver that has it; "-" where none is
// known.
#include "compat/driver_functions.h"

#include <iostream>
#include <string>

int main() {
  for (std::string name; std::getline(std::cin, name);) {
    const auto first = archguard::first_driver_with(name);
    std::cout << name << ' ' << (first ? archguard::to_string(*first) : "-") << '\n';
  }
}
