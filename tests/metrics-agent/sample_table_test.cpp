#include "server/metrics-agent/sample_table.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "server/metrics-agent/collector.h"
#include "tests/support/manual_clock.h"

namespace svc::metrics_agent {

namespace {

struct Table {
    test::ManualClock clock;
    SampleTable table;
    explicit Table(SampleLimits limits = {}) : table(clock, limits) {}

    Verdict add(const std::string& line, const std::string& source = "10.0.0.2") {
        return table.add(parse_line(line), source);
    }
    std::string text() {
        std::string out;
        table.render(out);
        return out;
    }
    bool has(const std::string& line) {
        return ("\n" + text()).find("\n" + line + "\n") != std::string::npos;
    }
};

}  // namespace

TEST_CASE("each field of a sample is a series with its type") {
    Table table;
    CHECK(
        table.add("webrtc,instance=a,ssrc=1 frames_encoded=900i,target_bitrate=3000000i,relay_in_use=t 5") ==
        Verdict::taken);
    CHECK(table.has("# TYPE webrtc_frames_encoded counter"));
    CHECK(table.has("# TYPE webrtc_target_bitrate gauge"));
    CHECK(table.has("webrtc_frames_encoded{instance=\"a\",ssrc=\"1\"} 900"));
    CHECK(table.has("webrtc_target_bitrate{instance=\"a\",ssrc=\"1\"} 3e+06"));
    CHECK(table.has("webrtc_relay_in_use{instance=\"a\",ssrc=\"1\"} 1"));
    CHECK_FALSE(table.has("webrtc_bytes_sent{instance=\"a\",ssrc=\"1\"} 0"));
}

TEST_CASE("every metric is typed from the first scrape") {
    const std::string text = Table().text();
    CHECK(std::count(text.begin(), text.end(), '\n') == 2 * stream_metrics.size());
}

TEST_CASE("a newer sample takes the place of an older one whatever the order of its tags") {
    Table table;
    table.add("webrtc,a=1,b=2 bytes_sent=1");
    table.add("webrtc,b=2,a=1 bytes_sent=2");
    CHECK(table.table.streams() == 1);
    CHECK(table.has("webrtc_bytes_sent{a=\"1\",b=\"2\"} 2"));
}

TEST_CASE("series go five minutes after their last sample") {
    Table table;
    table.add("webrtc,ssrc=1 bytes_sent=1,fir_count=1");
    table.clock.advance(std::chrono::minutes(3));
    table.add("webrtc,ssrc=1 bytes_sent=2");
    table.clock.advance(std::chrono::minutes(2) - std::chrono::nanoseconds(1));
    CHECK(table.has("webrtc_fir_count{ssrc=\"1\"} 1"));
    table.clock.advance(std::chrono::nanoseconds(1));
    CHECK_FALSE(table.has("webrtc_fir_count{ssrc=\"1\"} 1"));
    CHECK(table.has("webrtc_bytes_sent{ssrc=\"1\"} 2"));
    table.clock.advance(std::chrono::minutes(3));
    CHECK(table.table.streams() == 0);
}

TEST_CASE("what is not known is not shown") {
    Table table;
    CHECK(table.add("cpu,ssrc=1 bytes_sent=1") == Verdict::unknown);
    CHECK(table.add("webrtc,ssrc=1 other=1") == Verdict::unknown);
    CHECK(table.add("webrtc,__name__=up bytes_sent=1") == Verdict::unknown);
    CHECK(table.add("webrtc,ssrc=1 other=1,bytes_sent=1") == Verdict::taken);
    CHECK(table.text().find("other") == std::string::npos);
}

TEST_CASE("a full table keeps what it has until that is over") {
    SampleLimits limits;
    limits.streams = 2;
    Table table(limits);
    table.add("webrtc,s=1 bytes_sent=1", "a");
    table.add("webrtc,s=2 bytes_sent=1", "b");
    CHECK(table.add("webrtc,s=3 bytes_sent=1", "c") == Verdict::too_many);
    CHECK(table.add("webrtc,s=1 bytes_sent=2", "a") == Verdict::taken);
    table.clock.advance(std::chrono::minutes(5));
    CHECK(table.add("webrtc,s=3 bytes_sent=1", "c") == Verdict::taken);
}

TEST_CASE("one sender cannot crowd the others out") {
    SampleLimits limits;
    limits.streams_per_source = 2;
    Table table(limits);
    for (int i = 0; i < 100; ++i) table.add("webrtc,s=" + std::to_string(i) + " bytes_sent=1", "bad");
    CHECK(table.table.streams() == 2);
    CHECK(table.add("webrtc,s=x bytes_sent=1", "good") == Verdict::taken);
    table.clock.advance(std::chrono::minutes(5));
    CHECK(table.add("webrtc,s=y bytes_sent=1", "bad") == Verdict::taken);
}

TEST_CASE("a batch tells its first fault and counts each") {
    test::ManualClock clock;
    Collector collector(clock, {});
    CHECK(
        collector
            .take("webrtc,s=1 bytes_sent=1\n# note\nwebrtc,s=2 pli_count=3i", "a", Collector::Transport::udp)
            .empty());
    CHECK(collector.take("webrtc,s=1 bytes_sent=x\ncpu v=1\nwebrtc,s=3 bytes_sent=1", "a",
                         Collector::Transport::http) == "a field's value is no number");
    const std::string text = collector.render();
    for (const char* line :
         {"svc_metrics_lines_total{transport=\"udp\"} 2\n", "svc_metrics_lines_total{transport=\"http\"} 3\n",
          "svc_metrics_refused_lines_total{reason=\"faulty\"} 1\n",
          "svc_metrics_refused_lines_total{reason=\"unknown\"} 1\n",
          "svc_metrics_refused_lines_total{reason=\"too_many_streams\"} 0\n", "svc_metrics_streams 3\n"}) {
        INFO(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

}  // namespace svc::metrics_agent
