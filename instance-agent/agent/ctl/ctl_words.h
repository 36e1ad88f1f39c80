#pragma once
// The words of one command of `svc-agent ctl`: flags with a value (--area 1, --area=1) and plain words. A
// word with one dash is a negative number. Words after "--" are plain.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/error.h"

namespace svc::agent {

// Wrong usage: exit status 2.
class CtlUsageError : public Error {
  public:
    explicit CtlUsageError(const std::string& message) : Error(ErrorCode::invalid_argument, message) {}
};

// All throw CtlUsageError.
class CtlWords {
  public:
    CtlWords(const std::vector<std::string>& words, const std::vector<std::string_view>& flags);
    const std::vector<std::string>& plain() const { return plain_; }
    std::optional<std::string> flag(std::string_view name) const;
    std::optional<double> number(std::string_view name) const;  // the value of a flag

  private:
    std::vector<std::string> plain_;
    std::map<std::string, std::string, std::less<>> flags_;
};

double parse_ctl_number(std::string_view text);
std::int64_t parse_ctl_integer(std::string_view text);

}  // namespace svc::agent
