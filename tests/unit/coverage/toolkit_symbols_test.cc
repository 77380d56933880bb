#include "coverage/toolkit_symbols.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

bool is_own(const std::string& name, std::uint64_t size = 1) {
  return is_toolkits_own(DeviceVariable{name, VariableSpace::device, size});
}

}  // namespace

TEST_CASE("the path of a name is its namespaces without the file's, and no template arguments") {
  CHECK(path_of("_ZN54_INTERNAL_e354a839_17_thrust_1332590_cu_37fd15a6_232344cuda3std3__45__cpo5beginE") ==
        "cuda::std::__4::__cpo::begin");
  CHECK(path_of(
            "_ZN52_INTERNAL_32bd442c_15_cub_80596378_cu_4840aec4_237744cuda3std3__454_GLOBAL__N__32bd442c_15_"
            "cub_80596378_cu_4840aec4_237746ignoreE") == "cuda::std::__4::ignore");
  CHECK(path_of("_ZN4cuda3std3__47numbers4pi_vI6__halfEE") == "cuda::std::__4::numbers::pi_v");
  CHECK(path_of("__nv_static_19__e5804319_4_v_cu_cv_mrg32k3aM1") == "mrg32k3aM1");
  CHECK(path_of("_Z2tvIiE") == "tv");
  CHECK(path_of("mrg32k3aM1") == "mrg32k3aM1");
  for (const char* other : {"_Z", "_ZN", "_ZN4cuda", "_ZN9cudaE", "_ZN99999999999999999999cudaE", "_ZL2dv",
                            "_ZN4cuda3stdE5after"})
    CHECK_MESSAGE(path_of(other) == "", other);
}

TEST_CASE("objects of libcu++ and Thrust, and the tables of cuRAND, are the toolkit's own") {
  for (const char* name :
       {"_ZN54_INTERNAL_e354a839_17_thrust_1332590_cu_37fd15a6_232344cuda3std3__45__cpo5beginE",
        "_ZN54_INTERNAL_e354a839_17_thrust_1332590_cu_37fd15a6_232344cuda3std6ranges3__45__cpo4swapE",
        "_ZN54_INTERNAL_e354a839_17_thrust_1332590_cu_37fd15a6_232344cuda3__47no_initE",
        "_ZN54_INTERNAL_e354a839_17_thrust_1332590_cu_37fd15a6_232346thrust23THRUST_300001_SM_900_"
        "NS12placeholders2_1E",
        "_ZN6thrust6deviceE", "_ZN53_INTERNAL_e135e859_22_cutlass_shader_base_cu_bde42a194cute1_E"})
    CHECK_MESSAGE(is_own(name), name);
  CHECK(is_own("_ZN4cuda3std3__47numbers4pi_vI6__halfEE", 2));
  CHECK(is_own("precalc_xorwow_matrix", 102400));
  CHECK_MESSAGE(is_own("precalc_xorwow_offset_matrix", 25600), "of CUDA 11.0");
  CHECK_MESSAGE(is_own("mrg32k3aM2Seq", 4608), "of CUDA 10.0");
  CHECK(is_own("mrg32k3aM1SubSeq", 4032));
  CHECK(is_own("__nv_static_19__e5804319_4_v_cu_cv_mrg32k3aM1", 2304));
  CHECK(is_own("__cr_lgamma_table", 72));
}

TEST_CASE("what a user defines is not, whatever its name and size") {
  CHECK_FALSE(is_own("_ZN4user3oneE"));
  CHECK_FALSE(is_own("onec"));
  CHECK_FALSE(is_own("_ZN4cute4flagE"));
  CHECK_FALSE(is_own("_ZN4cuda4flagE"));  // somebody's own namespace cuda
  CHECK_FALSE(is_own("_ZN2my4cuda3__44flagE"));
  CHECK_FALSE(is_own("_ZN4cuda3std3__47nulloptE", 4));
  CHECK_FALSE(is_own("_ZN4cuda3std3__47nulloptE", 0));
  CHECK_FALSE(is_own("mrg32k3aM1", 16));
  CHECK_FALSE(is_own("mrg32k3aM1SubSeq", 4608));
  CHECK_FALSE(is_own("precalc_xorwow_matrix_", 102400));
}

TEST_CASE("CUB's empty kernel is the toolkit's own where its namespace tells the file's arch list") {
  const auto own = [](const char* name, KernelState state = KernelState::empty) {
    return is_toolkits_own(Kernel{name, state});
  };
  CHECK(own("_ZN3cub17CUB_300001_SM_9006detail11EmptyKernelIvEEvv"));
  CHECK(own("_ZN3cub17CUB_200802_SM_80011EmptyKernelIvEEvv"));
  CHECK(own("_ZN3cub16_V_300200_SM_9006detail11EmptyKernelIvEEvv"));
  CHECK_FALSE(own("_ZN3cub17CUB_200802_SM_80011EmptyKernelIvEEvv", KernelState::real));
  CHECK_FALSE(own("_ZN3cub11EmptyKernelIvEEvv"));
  CHECK_FALSE(own("_Z11EmptyKernelIvEvv"));
}
