#include "image/sass.h"

#include <doctest/doctest.h>

#include "support/builders/cubin_builder.h"

using namespace archguard;
using namespace archguard::test::sass;

namespace {

KernelState state_of(const std::vector<test::Bytes>& instructions, int sm = 80) {
  return state_of_sass(join(instructions), sm);
}

}  // namespace

TEST_CASE("an empty kernel is EXIT behind the prologue or alone") {
  CHECK(state_of({exit()}) == KernelState::empty);
  CHECK(state_of({prologue(), exit(), branch(), nop()}) == KernelState::empty);
  CHECK(state_of({prologue(), never_shuffle(), exit(), branch()}, 70) == KernelState::empty);
  CHECK(state_of({nop(), prologue(), exit()}) == KernelState::empty);
}

TEST_CASE("an EXIT under a predicate is no end") {
  CHECK(state_of({prologue(), exit_if(), store(), exit()}) == KernelState::real);
  CHECK(state_of({prologue(), exit_if(), exit()}) == KernelState::unknown);
}

TEST_CASE("a trap is straight-line code to BPT.TRAP, calls included") {
  CHECK(state_of({trap()}) == KernelState::trap);
  CHECK(state_of({prologue(), load(), store_local(), call(), trap(), branch()}) == KernelState::trap);
  CHECK(state_of({prologue(), trap_if(), store(), exit()}) == KernelState::real);
  CHECK(state_of({prologue(), exit_if(), trap()}) == KernelState::unknown);
  CHECK(state_of({prologue(), branch(), trap()}) == KernelState::unknown);
}

TEST_CASE("a store that others see makes a kernel real, before a trap and behind branches too") {
  CHECK(state_of({prologue(), store(), exit()}) == KernelState::real);
  CHECK(state_of({prologue(), store(), trap()}) == KernelState::real);
  CHECK(state_of({prologue(), branch(), store(), exit()}) == KernelState::real);
}

TEST_CASE("a generic store counts, unless it may be a printf's on the stack") {
  CHECK(state_of({prologue(), store_generic(), exit()}) == KernelState::real);
  CHECK(state_of({prologue(), store_generic(), call(), exit()}) == KernelState::unknown);
  CHECK(state_of({prologue(), store_generic(), trap()}) == KernelState::unknown);
}

TEST_CASE("loads without a store are nobody's guess, unless there are many") {
  CHECK(state_of({prologue(), load(), exit()}) == KernelState::unknown);
  CHECK(state_of({prologue(), load()}) == KernelState::unknown);
  CHECK(state_of(std::vector<test::Bytes>(257, load())) == KernelState::real);
  CHECK(state_of(std::vector<test::Bytes>(256, load())) == KernelState::unknown);
}

TEST_CASE("code that calls nothing but printf and assert, and ends, only prints") {
  const auto printing = [](const std::vector<test::Bytes>& instructions, std::vector<std::uint32_t> calls) {
    return state_of_sass(join(instructions), 80, &calls);
  };
  CHECK(printing({prologue(), store_local(), call(), exit(), branch()}, {32}) == KernelState::prints);
  CHECK(printing({prologue(), call(), load(), call(), exit()}, {16, 48}) == KernelState::prints);
  CHECK(printing({prologue(), exit(), call()}, {32}) == KernelState::empty);
  CHECK(printing({prologue(), call(), trap()}, {16}) == KernelState::trap);
  CHECK(printing({prologue(), call(), store(), exit()}, {16}) == KernelState::real);
  CHECK(printing({prologue(), call(), call(), exit()}, {16}) == KernelState::unknown);  // whose is the other?
  CHECK(printing({prologue(), call(), exit_if(), exit()}, {16}) == KernelState::unknown);
  CHECK(printing({prologue(), branch(), call(), exit()}, {32}) == KernelState::unknown);
  CHECK(printing({prologue(), store_generic(), call(), exit()}, {32}) == KernelState::unknown);
  CHECK(printing({prologue(), store_shared(), call(), exit()}, {32}) == KernelState::unknown);
  CHECK(printing({prologue(), load(), exit()}, {}) ==
        KernelState::unknown);  // wants vprintf, and calls nothing
}

TEST_CASE("the size of code that only prints makes it neither real nor hollow") {
  std::vector<test::Bytes> instructions(300, load());
  instructions.push_back(call());
  instructions.push_back(branch());
  instructions.push_back(exit());
  const std::vector<std::uint32_t> calls = {300 * 16};
  CHECK(state_of_sass(join(instructions), 80, &calls) == KernelState::unknown);
  CHECK(state_of_sass(join(instructions), 80) == KernelState::real);
}

TEST_CASE("code of another encoding, cut or absent is unknown") {
  CHECK(state_of({exit()}, 69) == KernelState::unknown);
  CHECK(state_of({exit()}, 70) == KernelState::empty);
  CHECK(state_of({exit()}, 129) == KernelState::empty);
  CHECK(state_of({exit()}, 130) == KernelState::unknown);
  CHECK(state_of_sass(ByteView{}, 80) == KernelState::unknown);
  auto cut = join({prologue(), exit()});
  cut.pop_back();
  CHECK(state_of_sass(cut, 80) == KernelState::unknown);
}
