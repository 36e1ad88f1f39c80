#include <catch2/catch.hpp>

#include <chrono>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "tests/api/metric_value.h"
#include "tests/support/application_package.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

// The metrics that the specification names, and those that svcd adds (docs/monitoring).
struct MetricRow {
    std::string object, methods;
};
const std::vector<MetricRow> route_table{{"root", "GET"},
                                         {"service", "GET"},
                                         {"version", "GET"},
                                         {"addons", "GET POST"},
                                         {"addon", "GET PATCH DELETE"},
                                         {"addon_version", "DELETE"},
                                         {"applications", "GET POST DELETE"},
                                         {"application", "GET PATCH DELETE"},
                                         {"application_version", "GET PATCH DELETE"},
                                         {"application_manifest", "GET"},
                                         {"application_version_manifest", "GET"},
                                         {"containers", "GET POST DELETE"},
                                         {"container", "GET DELETE"},
                                         {"container_exec", "POST"},
                                         {"container_logs", "GET"},
                                         {"container_log", "GET"},
                                         {"internal_containers", "PATCH"},
                                         {"instances", "GET POST DELETE"},
                                         {"instance", "GET DELETE"},
                                         {"instance_exec", "POST"},
                                         {"instance_logs", "GET"},
                                         {"instance_log", "GET"},
                                         {"internal_instances", "PATCH"},
                                         {"nodes", "GET POST"},
                                         {"node", "GET PATCH DELETE"},
                                         {"images", "GET POST"},
                                         {"image", "GET PATCH DELETE"},
                                         {"image_version", "DELETE"},
                                         {"config", "GET PATCH"},
                                         {"tasks", "GET"},
                                         {"registry_applications", "GET"},
                                         {"registry_application", "DELETE"},
                                         {"registry_application_push", "POST"},
                                         {"registry_application_pull", "POST"},
                                         {"internal_artifacts", "GET"},
                                         {"certificates", "GET POST"},
                                         {"certificate", "GET DELETE"},
                                         {"events", "GET"},
                                         {"operations", "GET"},
                                         {"operation", "GET DELETE"},
                                         {"operation_wait", "GET"},
                                         {"operation_websocket", "GET"},
                                         {"metrics", "GET"},
                                         {"metrics_history", "GET"},
                                         {"not_found", "GET POST PUT PATCH DELETE"}};

void check_zero(const std::string& text, const std::string& handler, const std::string& method) {
    INFO(handler);
    const std::string labels = "{handler=\"" + handler + "\",host=\"";
    const std::string ending = "\",method=\"" + method + "\"";
    for (const std::string family :
         {"svc_http_requests_total", "svc_http_request_duration_seconds_count",
          "svc_http_request_size_bytes_count", "svc_http_response_size_bytes_count"}) {
        const std::size_t at = text.find("\n" + family + labels);
        REQUIRE(at != std::string::npos);
        const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
        CHECK(line.find(ending) != std::string::npos);
        CHECK(line.ends_with("} 0"));
    }
    CHECK(text.find("\nsvc_http_in_flight_requests" + labels) != std::string::npos);
}

}  // namespace

TEST_CASE("metrics have their own plain listener") {
    TestDaemon daemon;
    ApiCaller metrics(daemon.metrics_target());
    CHECK(metrics.get("/1.0").status == 404);
    CHECK(metrics.get("/1.0/images").status == 404);
    CHECK(daemon.api().get("/internal/1.0/metrics").status == 404);
    const ApiReply scrape = metrics.get("/internal/1.0/metrics");
    CHECK(scrape.headers.get("Content-Type") == "text/plain; version=0.0.4");
    CHECK(value(scrape.text, "svc_cluster_containers_per_status_total{status=\"running\"}") == 0);
    CHECK(value(scrape.text, "svc_cluster_container_boot_time_seconds_count") == 0);
}

TEST_CASE("trusted clients read what instances use") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    const std::string id = daemon.api().launch("base");
    const std::string labels = "{id=\"" + id + "\",application=\"\",type=\"regular\",node=\"node0\"";
    const KeyPair identity = make_key_pair(daemon.path(), "client");
    daemon.trust(identity);
    for (const Target& target :
         {daemon.local_target(), daemon.tls_target(identity), daemon.hypervisor_target(identity)}) {
        const ApiReply scrape = ApiCaller(target).get("/1.0/metrics");
        INFO(target.describe());
        CHECK(scrape.status == 200);
        CHECK(scrape.headers.get("Content-Type") == "text/plain; version=0.0.4");
        CHECK(value(scrape.text, "svc_instance_memory_limit_bytes" + labels + "}") ==
              double(std::uint64_t{3} << 30U));
        CHECK(value(scrape.text, "svc_instance_memory_usage_bytes" + labels + "}") > 0);
        CHECK(value(scrape.text, "svc_instance_processes" + labels + "}") > 0);
        CHECK(value(scrape.text, "svc_instance_filesystem_usage_bytes" + labels + "}") > 0);
        CHECK(value(scrape.text, "svc_instance_cpu_seconds_total" + labels + ",mode=\"user\"}") >= 0);
        CHECK(value(scrape.text, "svc_instance_network_receive_bytes_total" + labels + ",device=\"eth0\"}") >=
              0);
        CHECK(scrape.text.find("# TYPE svc_instance_memory_oom_kills_total counter\n") != std::string::npos);
        CHECK(scrape.text.find("svc_cluster_") == std::string::npos);
    }
}

TEST_CASE("what one instance uses can be asked for alone") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    const std::string id = daemon.api().launch("base"), other = daemon.api().launch("base");
    const std::string text = daemon.api().get("/1.0/metrics?instance=" + id).text;
    CHECK(value(text, "svc_instance_processes{id=\"" + id +
                          "\",application=\"\",type=\"regular\",node=\"node0\"}") > 0);
    CHECK(text.find(other) == std::string::npos);
    CHECK(daemon.api().get("/1.0/metrics?instance=nothing").text.find(id) == std::string::npos);
}

TEST_CASE("instances that do not run use nothing") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    const std::string id = daemon.api().launch("base");
    daemon.api().succeed(
        daemon.api().patch("/1.0/containers/" + id, Json::object({{"desired_status", "stopped"}})));
    const std::string text = daemon.api().get("/1.0/metrics").text;
    CHECK(text.find(id) == std::string::npos);
    CHECK(text.find("# TYPE svc_instance_cpu_seconds_total counter\n") != std::string::npos);
}

TEST_CASE("what instances use is for trusted certificates alone") {
    TestDaemon daemon;
    const KeyPair identity = make_key_pair(daemon.path(), "client");
    for (const Target& target : {daemon.tls_target(), daemon.tls_target(identity), daemon.hypervisor_target(),
                                 daemon.hypervisor_target(identity)})
        CHECK(ApiCaller(target).get("/1.0/metrics").status == 403);
    daemon.trust(identity);
    CHECK(ApiCaller(daemon.hypervisor_target(identity)).get("/1.0/metrics").status == 200);
    for (const char* path : {"/", "/1.0", "/1.0/containers", "/internal/1.0/metrics"})
        CHECK(ApiCaller(daemon.hypervisor_target(identity)).get(path).status == 404);
}

TEST_CASE("the hypervisor's listener works without the api over tls") {
    TestDaemon daemon([](server::Options& options) { options.listen.clear(); });
    const KeyPair identity = make_key_pair(daemon.path(), "client");
    daemon.trust(identity);
    CHECK(ApiCaller(daemon.hypervisor_target(identity)).get("/1.0/metrics").status == 200);
    // Nobody is invited to it.
    const Json issued =
        daemon.api().post("/1.0/certificates/tokens", Json::object({{"name", "x"}})).metadata();
    const Json invitation = Json::parse(base64_decode(issued.at("token").as_string()));
    CHECK(invitation.at("addresses").as_array().empty());
}

TEST_CASE("every route is counted with zero before anybody asks") {
    TestDaemon daemon;
    const std::string text = ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text;
    for (const auto& [object, methods] : route_table)
        for (const std::string& method : split(methods, ' '))
            for (const char* transport : {"unix_", "https_"})
                check_zero(text, transport + object + "_" + method, to_lower(method));
    CHECK(text.find("svc_http_requests_total{handler=\"http_metrics_GET\"") != std::string::npos);
}

TEST_CASE("every series of the cluster is there from the first scrape") {
    TestDaemon daemon;
    const std::string text = ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text;
    for (const char* status :
         {"error", "unknown", "created", "prepared", "started", "running", "stopped", "deleted"})
        CHECK(value(text,
                    "svc_cluster_containers_per_status_total{status=\"" + std::string(status) + "\"}") == 0);
    for (const char* series :
         {"svc_cluster_applications_total", "svc_cluster_containers_total",
          "svc_cluster_container_boot_time_seconds_sum", "svc_cluster_used_cpu_total{node=\"node0\"}",
          "svc_cluster_used_memory_total{node=\"node0\"}"})
        CHECK(value(text, series) == 0);
    for (const char* bound : {"1", "2", "3", "5", "7.5", "10", "15", "20", "30", "45", "60", "90", "120",
                              "180", "300", "600", "900", "+Inf"})
        CHECK(value(text, "svc_cluster_container_boot_time_seconds_bucket{le=\"" + std::string(bound) +
                              "\"}") == 0);
    CHECK(text.find("# TYPE svc_cluster_containers_per_application_total gauge\n") != std::string::npos);
}

TEST_CASE("boot times are those of regular instances") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    daemon.api().add_application(application_package("greeter"));
    const auto boots = [&] {
        return value(ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text,
                     "svc_cluster_container_boot_time_seconds_count");
    };
    CHECK(boots() == 0);
    daemon.api().launch("base");
    CHECK(boots() == 1);
}

TEST_CASE("cluster metrics follow the instances") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    daemon.api().launch("base");
    const std::string text = ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text;
    CHECK(value(text, "svc_cluster_nodes_total") == 1);
    CHECK(value(text, "svc_cluster_containers_total") == 1);
    CHECK(value(text, "svc_cluster_containers_per_status_total{status=\"running\"}") == 1);
    CHECK(value(text, "svc_cluster_used_cpu_total{node=\"node0\"}") == 2);
    CHECK(value(text, "svc_cluster_available_cpu_total{node=\"node0\"}") == 64 * 4);
    CHECK(value(text, "svc_cluster_used_memory_total{node=\"node0\"}") == double(std::uint64_t{3} << 30U));
    CHECK(value(text, "svc_cluster_container_boot_time_seconds_count") == 1);
}

TEST_CASE("paused instances are counted, also among those that run") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    const std::string url = "/1.0/instances/" + daemon.api().launch("base");
    const auto scrape = [&] { return ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text; };
    CHECK(value(scrape(), "svc_cluster_paused_containers") == 0);
    daemon.api().succeed(daemon.api().patch(url, Json::object({{"desired_status", "paused"}})));
    CHECK(value(scrape(), "svc_cluster_paused_containers") == 1);
    CHECK(value(scrape(), "svc_cluster_containers_per_status_total{status=\"running\"}") == 1);
    CHECK(value(scrape(), "svc_cluster_container_boot_time_seconds_count") == 1);
}

TEST_CASE("requests are counted by transport object and method") {
    TestDaemon daemon;
    ApiCaller guest(daemon.tls_target());
    daemon.api().get("/1.0");
    daemon.api().get("/1.0");
    daemon.api().get("/nowhere");
    guest.get("/1.0/containers/x");
    ApiCaller metrics(daemon.metrics_target());
    std::string text;
    const auto total = [&](const std::string& handler) {
        const std::string labels = "{handler=\"" + handler + "\",host=\"";
        const std::size_t at = text.find("svc_http_requests_total" + labels);
        REQUIRE(at != std::string::npos);
        const std::string line = text.substr(at, text.find('\n', at) - at);
        CHECK(line.find("method=\"get\"") != std::string::npos);
        return std::stoi(line.substr(line.rfind(' ')));
    };
    // The server counts a request when it has sent the answer: the client may have it before.
    eventually("all requests are counted", [&] {
        text = metrics.get("/internal/1.0/metrics").text;
        return total("unix_service_GET") >= 2 && total("unix_not_found_GET") >= 1 &&
               total("https_container_GET") >= 1;
    });
    CHECK(total("unix_service_GET") == 2);
    CHECK(total("unix_not_found_GET") == 1);
    CHECK(total("https_container_GET") == 1);
    for (const char* family : {"svc_http_in_flight_requests", "svc_http_request_duration_seconds_bucket",
                               "svc_http_request_size_bytes_bucket", "svc_http_response_size_bytes_bucket"})
        CHECK(text.find("\n" + std::string(family) + "{handler=\"unix_service_GET\"") != std::string::npos);
}

}  // namespace svc::test
