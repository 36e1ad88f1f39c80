#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

// The number of one series; throws when there is none.
double value(const std::string& text, const std::string& series) {
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) throw Error(ErrorCode::not_found, "no series " + series);
    return std::stod(text.substr(at + series.size() + 2));
}

}  // namespace

TEST_CASE("metrics_have_their_own_plain_listener") {
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

TEST_CASE("trusted_clients_read_the_metrics_beside_the_api") {
    TestDaemon daemon;
    const ApiReply scrape = daemon.api().get("/1.0/metrics");
    CHECK(scrape.headers.get("Content-Type") == "text/plain; version=0.0.4");
    CHECK(value(scrape.text, "svc_cluster_nodes_total") == 1);
    CHECK(ApiCaller(daemon.tls_target()).get("/1.0/metrics").status == 403);
}

TEST_CASE("every_route_has_its_label") {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    for (const char* path :
         {"/1.0/addons", "/1.0/addons/x", "/1.0/applications", "/1.0/applications/x", "/1.0/applications/x/0",
          "/1.0/applications/x/manifest", "/1.0/applications/x/0/manifest", "/1.0/config", "/1.0/nodes",
          "/1.0/nodes/x", "/1.0/registry/applications", "/1.0/certificates", "/1.0/certificates/x",
          "/1.0/artifacts", "/1.0/artifacts/x", "/1.0/tasks", "/1.0/version", "/1.0/openapi.json"})
        api.get(path);
    api.call(Method::post, "/1.0/registry/applications/x/push");
    api.call(Method::post, "/1.0/registry/applications/x/pull");
    api.remove("/1.0/registry/applications/x");
    api.remove("/1.0/images/x/0");
    const std::string text = api.get("/1.0/metrics").text;
    for (const char* handler : {"addons_GET",
                                "addon_GET",
                                "applications_GET",
                                "application_GET",
                                "application_version_GET",
                                "application_manifest_GET",
                                "application_version_manifest_GET",
                                "config_GET",
                                "nodes_GET",
                                "node_GET",
                                "registry_applications_GET",
                                "registry_application_push_POST",
                                "registry_application_pull_POST",
                                "registry_application_DELETE",
                                "certificates_GET",
                                "certificate_GET",
                                "internal_artifacts_GET",
                                "image_version_DELETE",
                                "tasks_GET",
                                "version_GET",
                                "openapi_GET",
                                "metrics_GET"}) {
        INFO(handler);
        CHECK(text.find("svc_http_in_flight_requests{handler=\"unix_" + std::string(handler) + "\"") !=
              std::string::npos);
    }
}

TEST_CASE("cluster_metrics_follow_the_instances") {
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

TEST_CASE("requests_are_counted_by_transport_object_and_method") {
    TestDaemon daemon;
    ApiCaller guest(daemon.tls_target());
    daemon.api().get("/1.0");
    daemon.api().get("/1.0");
    daemon.api().get("/nowhere");
    guest.get("/1.0/containers/x");
    const std::string text = ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text;
    const auto total = [&](const std::string& handler, const std::string& method) {
        const std::string labels = "{handler=\"" + handler + "\",host=\"";
        const std::size_t at = text.find("svc_http_requests_total" + labels);
        REQUIRE(at != std::string::npos);
        const std::string line = text.substr(at, text.find('\n', at) - at);
        CHECK(line.find("method=\"" + method + "\"") != std::string::npos);
        return std::stoi(line.substr(line.rfind(' ')));
    };
    CHECK(total("unix_service_GET", "get") == 2);
    CHECK(total("unix_not_found_GET", "get") == 1);
    CHECK(total("https_container_GET", "get") == 1);
    for (const char* family : {"svc_http_in_flight_requests", "svc_http_request_duration_seconds_bucket",
                               "svc_http_request_size_bytes_bucket", "svc_http_response_size_bytes_bucket"})
        CHECK(text.find("\n" + std::string(family) + "{handler=\"unix_service_GET\"") != std::string::npos);
}

}  // namespace svc::test
