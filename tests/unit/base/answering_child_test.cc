#include "base/answering_child.h"

#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using namespace archguard;

namespace {

std::string answer_slowly(const std::string& question) {
  if (question != "quick") std::this_thread::sleep_for(std::chrono::milliseconds(60));
  return question + "!";
}

}  // namespace

TEST_CASE("a child answers in another process, and nobody is asked once slow answers have taken long") {
  AnsweringChild child(answer_slowly, std::chrono::seconds(1));
  CHECK(child.ask("quick") == "quick!");
  CHECK(child.ask("slow") == "slow!");
  int answered = 1;
  while (answered < 100 && child.ask("slow")) ++answered;
  CHECK(answered < 20);
  CHECK_FALSE(child.ask("quick"));
}
