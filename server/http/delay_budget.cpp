#include "server/http/delay_budget.h"

namespace svc::server {

namespace {

std::size_t bytes_of(const Request& request) {
    // The path and the query are kept beside the target that they are taken from.
    std::size_t bytes = sizeof(Request) + request.body.size() + 3 * request.target.size();
    for (const auto& [name, value] : request.headers)
        bytes += sizeof(name) + sizeof(value) + name.size() + value.size();
    return bytes;
}

}  // namespace

std::shared_ptr<void> DelayBudget::take(const Request& request) {
    const std::size_t bytes = bytes_of(request);
    const auto give_back = [bytes](std::atomic<std::size_t>* taken) { *taken -= bytes; };
    if (taken_->fetch_add(bytes) + bytes <= most_bytes)
        return {taken_.get(), [keep = taken_, give_back](void*) { give_back(keep.get()); }};
    give_back(taken_.get());
    return nullptr;
}

}  // namespace svc::server
