#pragma once
// What a look at a state directory has found.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::server::state {

// error: something is lost or does not work. warning: something is not as it should be, and works.
// note: worth knowing, nothing is wrong.
enum class Severity { error, warning, note };
std::string_view to_text(Severity severity);

struct Finding {
    Severity severity = Severity::error;
    std::string object;   // "image busybox", "svc.db", "layer ab12..."
    std::string problem;  // what is wrong with it
    std::string advice;   // what to do; "": nothing
    bool operator==(const Finding&) const = default;
};

class Findings {
  public:
    void error(std::string object, std::string problem, std::string advice);
    void warning(std::string object, std::string problem, std::string advice);
    void note(std::string object, std::string problem, std::string advice = "");
    void add(Findings more);
    // Keeps what the other one has as well.
    void keep_common(const Findings& other);
    bool clean() const;  // notes alone
    const std::vector<Finding>& all() const { return all_; }
    std::string to_lines() const;
    Json to_json() const;

  private:
    std::vector<Finding> all_;
};

}  // namespace svc::server::state
