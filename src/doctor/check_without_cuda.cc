#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "releases/releases.h"

namespace archguard::doctor {
namespace {

// What a build without CUDA says where it is asked for a GPU, by the projects' own sources; the packages that
// say it, as pip and conda call them; and how to get one with CUDA.
struct WithoutCuda {
  std::string_view text;
  std::vector<std::string_view> packages;
  std::string_view fix;
};

const std::vector<WithoutCuda>& builds_without_cuda() {
  static const std::vector<WithoutCuda> all = {
      {"Device API cuda is not enabled",
       {"dgl"},
       "pip uninstall dgl, then install the build for torch's CUDA that dgl's own page names"},
      {"XGBoost version is not compiled with GPU support",
       {"xgboost", "xgboost-cpu", "py-xgboost"},
       "pip install xgboost (not xgboost-cpu); of conda: conda install -c conda-forge py-xgboost-gpu"},
      {"ot compiled with GPU support",
       {"pytorch3d", "detectron2", "mmcv", "mmcv-full"},
       "build it from source where nvcc is found, with FORCE_CUDA=1"},
      {"Tree Learner was not enabled in this build",
       {"lightgbm"},
       "pip install --no-binary lightgbm --config-settings=cmake.define.USE_CUDA=ON lightgbm"},
      {"CUDA-enabled jaxlib is not installed",
       {"jaxlib", "jax"},
       "pip install 'jax[cuda12]', or 'jax[cuda13]' for a driver of branch 580 or newer"},
      {"'CUDAExecutionProvider' is not in available provider names",
       {"onnxruntime"},
       "pip uninstall onnxruntime, then pip install onnxruntime-gpu"},
      {"was not compiled with CUDA support",
       {"ctranslate2"},
       "pip install ctranslate2 on Linux or Windows of x86-64, whose wheels have CUDA; elsewhere build it "
       "with -DWITH_CUDA=ON"},
      {"not compiled with GPU offload support",
       {"llama-cpp-python"},
       "CMAKE_ARGS=-DGGML_CUDA=on pip install --force-reinstall --no-cache-dir llama-cpp-python"},
      {"in CPU only version",
       {"paddlepaddle"},
       "pip uninstall paddlepaddle, then install paddlepaddle-gpu for the driver's CUDA"},
      {"GPU is not enabled",
       {"mxnet", "mxnet-mkl"},
       "pip uninstall mxnet, then pip install the mxnet-cuXXX of the driver's CUDA"},
      {"library is compiled without CUDA support",
       {"opencv-python", "opencv-contrib-python", "opencv-python-headless"},
       "build OpenCV with -DWITH_CUDA=ON: its wheels on PyPI have no CUDA"},
      {"no attribute 'StandardGpuResources'",
       {"faiss-cpu", "faiss"},
       "pip uninstall faiss-cpu, then pip install faiss-gpu-cu12"},
      {"was compiled without GPU support",
       {"bitsandbytes"},
       "pip install --upgrade bitsandbytes, whose wheels have CUDA for Linux and Windows"},
      {"Not compiled with CUDA support",
       {"torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv"},
       "install the wheel for torch's CUDA (+cuXXX) that PyG's page names"},
  };
  return all;
}

bool has_code_here(const Facts& facts, const Package& package) {
  return std::any_of(facts.code.begin(), facts.code.end(), [&](const CodeFile& file) {
    return file.owner && normal_name(file.owner->name) == normal_name(package.name);
  });
}

}  // namespace

void check_without_cuda(const Facts& facts, Findings& findings) {
  if (facts.classes.empty()) return;
  for (const WithoutCuda& each : builds_without_cuda()) {
    if (facts.error_text.find(each.text) == std::string::npos) continue;
    // Of several that say so the one that the error names last.
    std::optional<Package> saying;
    for (const std::string_view name : each.packages) {
      const InstalledPackage* found = installed_package(facts, name);
      if (found == nullptr || has_code_here(facts, found->package)) continue;
      const Package package{std::string(name), found->package.version, found->package.manager};
      if (!saying || place_in_text(facts, *saying) < place_in_text(facts, package)) saying = package;
    }
    if (!saying) continue;
    Finding finding{FindingId::not_architecture, Rank::likely, saying};
    finding.cause = to_string(*saying) + " is a build without CUDA";
    finding.evidence = {"the error that was given says: " + std::string(each.text),
                        "none of its files holds device code"};
    finding.fix = each.fix;
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace archguard::doctor
