#pragma once
// Keep-alive GETs of one path over many connections at once: each sends its next request when it has the
// reply.
#include <chrono>
#include <string>

#include "tests/bench/load/endpoint.h"
#include "tests/bench/load/latencies.h"

namespace svc::bench {

struct LoadPlan {
    std::string path;
    unsigned connections = 1;
    std::chrono::milliseconds duration{3000};
};

struct LoadResult {
    std::uint64_t requests = 0;  // answered with 200
    std::uint64_t failures = 0;  // other replies, broken connections
    unsigned connected = 0;      // connections made, with TLS handshake
    unsigned served = 0;         // connections that got a reply
    double seconds = 0;
    Latencies latencies;
    double per_second() const { return static_cast<double>(requests) / seconds; }
};

LoadResult run_load(const Endpoint& endpoint, const LoadPlan& plan);

}  // namespace svc::bench
