#include <doctest/doctest.h>

#include "doctor/public_text.h"

using namespace archguard;
using namespace archguard::doctor;

namespace {

struct Names {
  std::string home = "/home/alice";
  std::vector<std::string> users = {"alice"};
  std::string host = {};
  std::vector<std::string> packages = {};
};

std::string shown(const std::string& text, const Names& names = {}) {
  ReportWords words;
  words.home = names.home;
  words.users = names.users;
  words.host = names.host;
  Diagnosis diagnosis;
  for (const std::string& package : names.packages) diagnosis.versions.emplace_back(package, "1.0");
  return public_text(text, private_names(diagnosis, words));
}

}  // namespace

TEST_CASE("the home folder is ~, and no folder that begins like it") {
  CHECK(shown("/home/alice/env (VIRTUAL_ENV)") == "~/env (VIRTUAL_ENV)");
  CHECK(shown("below /home/alice and /usr") == "below ~ and /usr");
  CHECK(shown("/home/alice2/env") == "/home/USER/env");
  CHECK(shown("/home/alice smith/env") == "/home/USER/env");
  CHECK(shown("/mnt/home/alice/env") == "/mnt/home/USER/env");
  CHECK(shown("/home/alice/env", {"/home/alice/"}) == "~/env");
  CHECK(shown("/srv/people/al/env", {"/srv/people/al/"}) == "~/env");
  CHECK(shown("/a/b", {"/"}) == "/a/b");
}

TEST_CASE("homes of others, and what is said behind them") {
  CHECK(shown("--prefix /home/bob: is no environment") == "--prefix /home/USER: is no environment");
  CHECK(shown("/Users/bob/env, Python 3.11") == "/Users/USER/env, Python 3.11");
  CHECK(shown("/home/bob has no pyvenv.cfg") == "/home/USER has no pyvenv.cfg");
}

TEST_CASE("a user's name in a path") {
  CHECK(shown("/data/alice") == "/data/USER");
  CHECK(shown("/data/alice.") == "/data/USER.");
  CHECK(shown("/x/alice-venv") == "/x/USER-venv");
  CHECK(shown("/x/alice.so") == "/x/USER.so");
  CHECK(shown("alice.so holds sm_70") == "USER.so holds sm_70");
  CHECK(shown("venv alice-env, Python 3.11") == "venv USER-env, Python 3.11");
  CHECK(shown("/run/media/alice/disk") == "/run/media/USER/disk");
  CHECK(shown("/x/malice/y") == "/x/malice/y");
  CHECK(shown("/data/bob", {"/root", {"root", "bob"}}) == "/data/USER");
  CHECK(shown("root may read /root2", {"", {"root"}}) == "root may read /root2");
}

TEST_CASE("a user or a host that is called like what is told stays") {
  CHECK(shown("torch holds sm_70 in /x/torch/lib", {"", {"torch"}, "torch", {"torch"}}) ==
        "torch holds sm_70 in /x/torch/lib");
  CHECK(shown("libbitsandbytes_cuda128.so", {"", {}, "cuda"}) == "libbitsandbytes_cuda128.so");
  CHECK(shown("/x/flash_attn/flash.so", {"", {"flash"}, "flash-attn", {"flash-attn"}}) == "/x/flash_attn/flash.so");
  CHECK(shown("the driver will answer", {"", {"will"}, "driver"}) == "the driver will answer");
}

TEST_CASE("a host is left out where it is a whole word") {
  CHECK(shown("/mnt/mybox/env", {"", {}, "mybox"}) == "/mnt/HOST/env");
  CHECK(shown("/mnt/myboxes/env", {"", {}, "mybox"}) == "/mnt/myboxes/env");
  CHECK(shown("on gpu-07 there", {"", {}, "gpu-07"}) == "on HOST there");
  CHECK(shown("gpu-07.example.org, gpu-07", {"", {}, "gpu-07.example.org"}) == "HOST, HOST");
}

TEST_CASE("--full leaves out nothing") {
  ReportWords words;
  words.full = true;
  words.home = "/home/alice";
  CHECK(public_text("/home/alice/env", private_names({}, words)) == "/home/alice/env");
}
