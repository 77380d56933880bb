#include "base/parallel.h"

#include <atomic>
#include <doctest/doctest.h>
#include <new>
#include <string>

using namespace archguard;

TEST_CASE("results come in order, however many threads make them") {
  for (unsigned threads : {1U, 2U, 7U})
    for (std::size_t ahead : {0U, 1U, 3U, 1000U}) {
      constexpr std::size_t kCount = 500;
      std::vector<std::atomic<int>> calls(kCount);
      InOrder<std::string> texts(
          kCount, ahead,
          [&](std::size_t i, unsigned thread) {
            ++calls[i];
            return std::to_string(i) + (thread < threads ? "" : " of a thread beyond the last");
          },
          threads);
      for (std::size_t i = 0; i < kCount; ++i) REQUIRE(texts.next() == std::to_string(i));
      for (const auto& count : calls) CHECK(count == 1);
    }
}

TEST_CASE("no more results are made ahead than wanted") {
  constexpr std::size_t kAhead = 4;
  std::atomic<std::size_t> made{0};
  std::size_t taken = 0;
  InOrder<int> numbers(
      100, kAhead, [&](std::size_t, unsigned) { return static_cast<int>(++made); }, 3);
  for (; taken < 100; ++taken) {
    CHECK(made <= taken + kAhead);
    numbers.next();
  }
}

TEST_CASE("what is left when nobody asks any more is not made") {
  std::atomic<std::size_t> made{0};
  {
    InOrder<int> numbers(
        1'000'000, 2, [&](std::size_t, unsigned) { return static_cast<int>(++made); }, 2);
    numbers.next();
  }
  CHECK(made <= 4);
}

TEST_CASE("memory that ran out in a thread is told to who asks") {
  InOrder<int> numbers(
      10, 4,
      [](std::size_t i, unsigned) {
        if (i == 3) std::rethrow_exception(std::make_exception_ptr(std::bad_alloc()));
        return static_cast<int>(i);
      },
      2);
  for (int i = 0; i < 3; ++i) CHECK(numbers.next() == i);
  CHECK_THROWS_AS(numbers.next(), std::bad_alloc);
}

TEST_CASE("work within spread work stays on its thread") {
  InOrder<unsigned> threads(
      2, 2, [](std::size_t, unsigned) { return threads_to_use(); }, 2);
  CHECK(threads.next() == 1);
  CHECK(threads.next() == 1);
  CHECK(threads_to_use() >= 1);
}

TEST_CASE("results that hold much wait for one another, and one that holds too much is alone") {
  constexpr std::uint64_t kMost = 6;
  const auto load = [](std::size_t i) { return std::uint64_t{i % 10 == 3 ? 100 : i % 4}; };
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::atomic<std::uint64_t> held{0}, too_much{0};
    InOrder<std::uint64_t> loads(200, 32,
                                 [&](std::size_t i, unsigned) {
                                   const std::uint64_t mine = load(i), now = held += mine;
                                   if (mine != 0 && now > kMost && now != mine)
                                     ++too_much;  // nothing is no load
                                   return mine;
                                 },
                                 threads, {load, kMost});
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      held -= taken;
      taken = loads.next();
      REQUIRE(taken == load(i));
    }
    CHECK(too_much == 0);
  }
}

TEST_CASE("while it rests, who asks does all that is begun") {
  constexpr std::size_t kAhead = 10;
  InOrder<unsigned> threads(
      100, kAhead, [](std::size_t, unsigned thread) { return thread; }, 3);
  threads.next();
  {
    const InOrder<unsigned>::Rest rest(threads);
    for (std::size_t i = 1; i < 60; ++i) {
      const unsigned thread = threads.next();
      if (i > kAhead) CHECK(thread == 0);  // what was begun before comes to its end
    }
  }
  for (int i = 60; i < 100; ++i) threads.next();
}
