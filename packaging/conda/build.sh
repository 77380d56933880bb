#!/usr/bin/env bash
# shellcheck disable=SC2086  # CMAKE_ARGS are words, from the compilers' packages
set -euo pipefail
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DARCHGUARD_STATIC=OFF -DARCHGUARD_BUILD_TESTS=OFF ${CMAKE_ARGS:-}
cmake --build build
cmake --install build
