#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "cli/views/benchmark_report.h"
#include "tests/cli/daemon_fixture.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;
using std::chrono::milliseconds;

namespace {

struct BenchmarkFixture : DaemonFixture {
    BenchmarkFixture() { add_image("base"); }
    std::size_t instances() { return Json::parse(ask({"ls", "-o", "json"})).as_array().size(); }
};

}  // namespace

TEST_CASE("a spread names times that were measured") {
    std::vector<Duration> took;
    for (int i = 100; i > 0; --i) took.emplace_back(milliseconds(i));
    const cli::Spread spread = cli::spread_of(took);
    CHECK(spread.least == 1);
    CHECK(spread.most == 100);
    CHECK(spread.mean == Approx(50.5));
    CHECK(spread.p50 == 50);
    CHECK(spread.p90 == 90);
    CHECK(spread.p99 == 99);
    CHECK(cli::spread_of({milliseconds(7)}).p50 == 7);
    CHECK(cli::spread_of({}).most == 0);
}

TEST_CASE_METHOD(BenchmarkFixture, "benchmark measures launches and deletions, and leaves nothing") {
    const Json result =
        Json::parse(ask({"benchmark", "base", "--raw", "-n", "5", "--parallel", "2", "-o", "json"}));
    for (const char* work : {"launch", "delete"}) {
        const Json& measured = result.at(work);
        CHECK(measured.at("count").as_int() == 5);
        CHECK(measured.at("failed").as_int() == 0);
        CHECK(measured.at("min_ms").as_double() > 0);
        CHECK(measured.at("min_ms").as_double() <= measured.at("p50_ms").as_double());
        CHECK(measured.at("p50_ms").as_double() <= measured.at("p99_ms").as_double());
        CHECK(measured.at("p99_ms").as_double() <= measured.at("max_ms").as_double());
    }
    CHECK(instances() == 0);
}

TEST_CASE_METHOD(BenchmarkFixture, "benchmark keeps its instances when it is told to") {
    const std::string table =
        ask({"benchmark", "base", "-r", "-n", "2", "-s", "1000", "--keep-instances", "-o", "csv"});
    CHECK_THAT(table, Catch::StartsWith("WORK,COUNT,FAILED,TOTAL,MIN,MEAN,P50,P90,P95,P99,MAX\nlaunch,2,0,"));
    CHECK_THAT(table, Catch::Contains("\ndelete,0,0,"));
    CHECK(instances() == 2);
}

TEST_CASE_METHOD(BenchmarkFixture, "benchmark counts launches that fail and says why") {
    const CliRun run =
        DaemonFixture::run({"benchmark", "nothing", "--raw", "-n", "3", "-P", "3", "-o", "json"});
    CHECK(run.status == 1);
    CHECK(Json::parse(run.out).at("launch").at("failed").as_int() == 3);
    CHECK_THAT(run.err, Catch::Contains("image not found"));
}

TEST_CASE_METHOD(BenchmarkFixture, "an interrupted benchmark deletes what it has launched") {
    CliRun run;
    std::thread bench([&run, settings = settings] {
        run = run_cli({"benchmark", "base", "-r", "-n", "1000", "-s", "2", "-o", "json"}, settings);
    });
    eventually("an instance is there", [&] { return instances() > 0; });
    ::kill(::getpid(), SIGINT);
    bench.join();
    CHECK(run.status == 130);
    const Json result = Json::parse(run.out);
    CHECK(result.at("interrupted").as_bool());
    CHECK(result.at("launch").at("count").as_int() < 1000);
    CHECK(instances() == 0);
}

TEST_CASE_METHOD(BenchmarkFixture, "benchmark refuses counts out of range") {
    for (const char* flag : {"--num-instances", "--parallel"})
        CHECK(DaemonFixture::run({"benchmark", "base", flag, "0"}).status == 2);
}
