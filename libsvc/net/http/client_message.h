#pragma once
// What a client sends to a server, and what it gets back.
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"

namespace svc {

struct ClientRequest {
    Method method = Method::get;
    std::string path;  // with query, percent-encoded
    Headers headers;
    std::string body;
    // Set: gives the body, instead of `body`. Called until it returns "".
    std::function<std::string(std::size_t at_most)> source;
    std::optional<std::uint64_t> length;  // bytes that `source` gives in all; absent: sent in chunks
    // Set: receives the body of a 2xx reply, instead of ClientReply::body.
    std::function<void(std::string_view)> sink;
    std::chrono::milliseconds timeout{60'000};  // of a pause without a byte moving
    // Of the exchange as a whole, once connected; call_directly() alone. Absent: none.
    std::optional<std::chrono::milliseconds> limit;
    std::uint64_t max_reply = std::uint64_t{256} << 20U;  // bytes of ClientReply::body; more is an error
};

struct ClientReply {
    int status = 0;
    Headers headers;
    std::string body;
};

}  // namespace svc
