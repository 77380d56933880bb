#pragma once

#include <new>
#include <string>
#include <utility>

namespace archguard {

// What went wrong, in three parts that a message needs. Library code returns it; only `main` prints it.
struct Error {
  std::string
      where;  // file, archive member, section+offset or line: "libfoo.a(x.o)(.nv_fatbin+0x40)", "fleet.csv:4"
  std::string what;  // lower-case, no full stop: "entry 0 payload needs 64 bytes, 63 remain"
  std::string fix;   // the line to type, or empty where there is none to give

  // "where: what" — or only `what` where there is no place to name.
  std::string text() const { return where.empty() ? what : where + ": " + what; }
};

// A value or the error that stood in its way. Check before use: `value()` on an error is undefined.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : ok_(true), value_(std::move(value)) {}
  Result(Error error) : ok_(false), error_(std::move(error)) {}
  Result(Result&& other) noexcept : ok_(other.ok_), error_(std::move(other.error_)) {
    if (ok_) ::new (static_cast<void*>(&value_)) T(std::move(other.value_));
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() {
    if (ok_) value_.~T();
  }

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

  T& value() & { return value_; }
  const T& value() const& { return value_; }
  T&& value() && { return std::move(value_); }
  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

 private:
  bool ok_;
  Error error_;
  union {  // a std::variant or std::optional would cost a compiler several times as much
    T value_;
  };
};

struct Done {};
using Status = Result<Done>;

}  // namespace archguard

// Declares `name` as the value of `expression`, or returns its error from the enclosing function.
#define ARCHGUARD_TRY(name, expression)                            \
  auto name##_or_error = (expression);                             \
  if (!name##_or_error) return std::move(name##_or_error).error(); \
  auto& name = *name##_or_error

// The same for a Status, whose value nobody needs.
#define ARCHGUARD_CHECK(expression)                                                                          \
  do {                                                                                                       \
    if (auto archguard_status = (expression); !archguard_status) return std::move(archguard_status).error(); \
  } while (false)
