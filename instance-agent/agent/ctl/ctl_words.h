#pragma once
// The words of one command of `svc-agent ctl`: flags with a value (--area 1, --area=1), and the rest. What
// begins with one dash is a number. After "--" nothing is a flag.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/error.h"

namespace svc::agent {

// Exit status 2 instead of 1.
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
    std::optional<double> number(std::string_view name) const;  // of a flag

  private:
    std::vector<std::string> plain_;
    std::map<std::string, std::string, std::less<>> flags_;
};

double parse_ctl_number(std::string_view text);
std::int64_t parse_ctl_integer(std::string_view text);

}  // namespace svc::agent
