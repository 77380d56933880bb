#!/bin/sh
# The steps of the Dockerfile: build.sh REPOSITORY BUILD_FOLDER APP_FOLDER. Fails where a GPU of the fleet is not covered.
set -eu
repository=$1 build=$2 app=$3

cmake -S "$repository" -B "$build/archguard" -G Ninja -DCMAKE_BUILD_TYPE=Release -DARCHGUARD_BUILD_TESTS=OFF \
  -DCMAKE_UNITY_BUILD=ON  # fewer, larger pieces
cmake --build "$build/archguard"
cmake --install "$build/archguard" --prefix "$build/prefix"

# ARCHGUARD_DETECT=OFF: should the building machine have a GPU after all, it does not change the image.
cmake -S "$repository/examples/fleet" -B "$build/fleet" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$build/prefix" -DARCHGUARD_DETECT=OFF
cmake --build "$build/fleet"
mkdir -p "$app"
cp "$build/fleet/count_letters" "$build/fleet/libhistogram.so" "$app"

# Once more on what the image holds.
"$build/prefix/bin/archguard" verify "$app"/* --fleet "$repository/examples/fleet/fleet.csv" \
  --excluded "$build/fleet/archguard/select.json"
