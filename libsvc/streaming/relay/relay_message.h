#pragma once
// Internal to this folder: one checked signalling message. The gateway adds and removes its `client_id`; the
// rest of the text stays as the peer wrote it. Pure.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

class RelayMessage {
  public:
    // Throws invalid_argument unless it is a JSON object with a text as `type`.
    explicit RelayMessage(std::string text);
    const std::string& type() const { return body_.at("type").as_string(); }
    bool is_control() const { return type().starts_with("ctl:"); }
    const Json& body() const { return body_; }

    const std::string& client() const;  // throws invalid_argument when there is none
    // Towards the instance: `client` is the first member, whatever the text said itself.
    std::string with_client(std::string_view client) const;
    std::string without_client() const;  // towards the client

  private:
    std::string text_;
    Json body_;
};

}  // namespace svc
