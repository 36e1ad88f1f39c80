#pragma once
// Where an instance sends its streaming metrics: `[influxdb:]HOST:PORT[,raw]` (specification: Launch payload,
// config.metrics_server).
#include <cstdint>
#include <string>
#include <string_view>

namespace svc {

struct MetricsServer {
    std::string host;  // name or address; IPv6 without its brackets
    std::uint16_t port = 0;
    bool raw = false;  // a UDP datagram for each batch of lines; else HTTP POST /write

    // Throws invalid_argument naming `field`.
    static MetricsServer parse(std::string_view field, std::string_view text);
};

}  // namespace svc
