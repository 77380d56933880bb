#pragma once

#include <string>

#include "kept/fields.h"

namespace archguard::test {

// Sets every field, of whatever is in a struct, to a value that no other has: texts that are no UTF-8 and
// hold a NUL, numbers below zero and above 32 bits, lists of two. `turned` gives flags and choices other
// values.
class Filler {
 public:
  explicit Filler(bool turned) : turned_(turned) {}

  template <class... T>
  void operator()(T&... values) {
    (fill(values), ...);
  }

 private:
  template <class T>
  void fill(T& value) {
    ++count_;
    if constexpr (std::is_same_v<T, std::string>) {
      value = std::string("\xff\0text ", 7) + std::to_string(count_);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = (count_ % 2 == 0) != turned_;
    } else if constexpr (std::is_same_v<T, int>) {
      value = count_ % 2 == 0 ? count_ : -count_;
    } else if constexpr (std::is_integral_v<T>) {
      value = (T{1} << 40) + static_cast<T>(count_);
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>((count_ + (turned_ ? 1 : 0)) % 3);
    } else {
      fill_parts(value);
    }
  }
  template <class T>
  void fill_parts(std::vector<T>& values) {
    values.resize(2);
    for (T& value : values) fill(value);
  }
  template <class T>
  void fill_parts(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class T>
  void fill_parts(T& value) {
    kept::fields(*this, value);
  }

  const bool turned_;
  int count_ = 0;
};

template <class T>
T filled(bool turned = false) {
  T value;
  Filler filler(turned);
  filler(value);
  return value;
}

}  // namespace archguard::test
