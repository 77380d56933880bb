"""ArchGuard as a Conan 2 tool: its programs on PATH, and its CMake package for find_package."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class ArchGuard(ConanFile):
    name = "archguard"
    description = "Chooses CUDA architectures in CMake projects and proves that what was built runs on every GPU it is meant for"
    license = "Apache-2.0"
    topics = ("cuda", "cmake", "gpu")
    package_type = "application"
    settings = "os", "arch", "compiler", "build_type"

    @property
    def _sources(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", ".."))

    def set_version(self):
        text = load(self, os.path.join(self._sources, "CMakeLists.txt"))
        self.version = re.search(r"project\(ArchGuard\s+VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "preflight/*", "src/*", "tools/*", "packaging/*"):
            copy(self, pattern, self._sources, self.export_sources_folder)

    def requirements(self):
        self.requires("cli11/[>=2.1 <3]")
        self.requires("fmt/[>=9]")
        self.requires("lz4/[>=1.9 <2]")
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("zlib/[>=1.2 <2]")
        self.requires("zstd/[>=1.5 <2]")

    def package_id(self):
        del self.info.settings.compiler
        del self.info.settings.build_type

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ARCHGUARD_BUILD_TESTS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "copyright", os.path.join(self.source_folder, "packaging"), os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.includedirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "ArchGuard")]
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package's own ArchGuardConfig.cmake
