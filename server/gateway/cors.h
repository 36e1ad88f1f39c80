#pragma once
// Pages of other origins: what browsers ask before, and want to see in every answer.
#include <string>
#include <vector>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"

namespace svc::gateway {

// Thread-safe.
class Cors {
  public:
    explicit Cors(std::vector<std::string> allowed_origins);  // "*": all
    void decorate(const Request& request, Response& response) const;
    static Response preflight();  // 204, to be decorated

  private:
    std::string allowed_for(const Request& request) const;

    std::vector<std::string> allowed_;
    bool all_ = false;
};

}  // namespace svc::gateway
