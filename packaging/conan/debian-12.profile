# The libraries of Debian 12 instead of Conan's: apt install libcli11-dev nlohmann-json3-dev libfmt-dev libzstd-dev
# liblz4-dev zlib1g-dev
include(default)

[settings]
compiler.cppstd=17

[platform_requires]
cli11/2.1.2
fmt/9.1.0
lz4/1.9.4
nlohmann_json/3.11.2
zlib/1.2.13
zstd/1.5.4
