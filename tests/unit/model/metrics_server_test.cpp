#include "libsvc/model/cluster/metrics_server.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

using namespace svc;

namespace {

bool parses(std::string_view text, std::string_view host, unsigned port, bool raw) {
    const MetricsServer server = MetricsServer::parse("config.metrics_server", text);
    return server.host == host && server.port == port && server.raw == raw;
}

}  // namespace

TEST_CASE("metrics servers have an optional scheme and flag") {
    CHECK(parses("influxdb:192.168.100.8:8095,raw", "192.168.100.8", 8095, true));
    CHECK(parses("10.0.0.45:8086", "10.0.0.45", 8086, false));
    CHECK(parses("influxdb:metrics.example.org:1", "metrics.example.org", 1, false));
    CHECK(parses("influxdb:[fd00::1]:65535,raw", "fd00::1", 65535, true));
    CHECK(parses("[::1]:80", "::1", 80, false));
    CHECK(parses("influxdb:8086", "influxdb", 8086, false));
    CHECK(parses("influxdb:influxdb:8086", "influxdb", 8086, false));
}

TEST_CASE("other metrics servers are refused with the name of the field") {
    using namespace std::string_literals;
    for (const std::string& text : {""s,
                                    ":"s,
                                    "host"s,
                                    "host:"s,
                                    ":80"s,
                                    "host:0"s,
                                    "host:65536"s,
                                    "host:-1"s,
                                    "host:+1"s,
                                    "host:8a"s,
                                    "host: 80"s,
                                    "http:host:80"s,
                                    "http://host:80"s,
                                    "host:80,"s,
                                    "host:80,RAW"s,
                                    "host:80,raw,raw"s,
                                    "host:80,tls"s,
                                    "::1:80"s,
                                    "[::1]80"s,
                                    "[]:80"s,
                                    "[host]:80"s,
                                    "[::1%eth0]:80"s,
                                    "ho st:80"s,
                                    "ho\0st:80"s,
                                    "[::1\0]:80"s,
                                    "-host:80"s,
                                    "influxdb:"s,
                                    "influxdb::80"s,
                                    std::string(254, 'a') + ":80"}) {
        INFO(text);
        try {
            MetricsServer::parse("config.metrics_server", text);
            FAIL("was taken");
        } catch (const Error& e) {
            CHECK(e.code() == ErrorCode::invalid_argument);
            CHECK(std::string(e.what()).find("config.metrics_server") != std::string::npos);
        }
    }
}
