#include "server/metrics-agent/sample_table.h"

#include <algorithm>
#include <vector>

#include "libsvc/base/metrics.h"

namespace svc::metrics_agent {

namespace {

// How often, at most, a full table is searched for old series.
constexpr std::chrono::seconds sweep_interval{1};

bool has_reserved_label(const LineSample& sample) {
    return std::any_of(sample.tags.begin(), sample.tags.end(),
                       [](const auto& tag) { return tag.first.starts_with("__"); });
}

std::vector<std::pair<std::size_t, double>> known_fields(const LineSample& sample) {
    std::vector<std::pair<std::size_t, double>> known;
    if (sample.measurement != stream_measurement || has_reserved_label(sample)) return known;
    for (const auto& [field, value] : sample.fields)
        if (const auto place = find_stream_metric(field)) known.emplace_back(*place, value);
    return known;
}

}  // namespace

bool SampleTable::is_over(const Cell& cell, SteadyTime now) const {
    return !cell.at || now - *cell.at >= limits_.keep;
}

void SampleTable::sweep(State& state, SteadyTime now) const {
    state.swept = now;
    std::erase_if(state.streams, [&](const auto& item) {
        const Stream& stream = item.second;
        const bool over = std::all_of(stream.cells.begin(), stream.cells.end(),
                                      [&](const Cell& cell) { return is_over(cell, now); });
        if (!over) return false;
        const auto source = state.of_source.find(stream.source);
        if (--source->second == 0) state.of_source.erase(source);
        return true;
    });
}

// Null: the table is full.
SampleTable::Stream* SampleTable::find_or_add(State& state, const std::string& labels,
                                              std::string_view source, SteadyTime now) const {
    if (const auto found = state.streams.find(labels); found != state.streams.end()) return &found->second;
    const auto is_full = [&] {
        const auto count = state.of_source.find(source);
        return state.streams.size() >= limits_.streams ||
               (count != state.of_source.end() && count->second >= limits_.streams_per_source);
    };
    if (is_full() && now - state.swept >= sweep_interval) sweep(state, now);
    if (is_full()) return nullptr;
    ++state.of_source[std::string(source)];
    return &state.streams.emplace(labels, Stream{std::string(source), {}}).first->second;
}

Verdict SampleTable::add(const LineSample& sample, std::string_view source) {
    const auto fields = known_fields(sample);
    if (fields.empty()) return Verdict::unknown;
    const std::string labels = render_labels(sample.tags);
    const SteadyTime now = clock_.steady_now();
    return state_.with([&](State& state) {
        Stream* stream = find_or_add(state, labels, source, now);
        if (!stream) return Verdict::too_many;
        for (const auto& [place, value] : fields) stream->cells[place] = {value, now};
        return Verdict::taken;
    });
}

void SampleTable::render(std::string& out) {
    const SteadyTime now = clock_.steady_now();
    state_.with([&](State& state) {
        sweep(state, now);
        for (std::size_t place = 0; place < stream_metrics.size(); ++place) {
            const StreamMetric& metric = stream_metrics[place];
            const std::string name = std::string(stream_measurement) + "_" + std::string(metric.field);
            MetricFamily family(out, name, metric.help, metric.type);
            for (const auto& [labels, stream] : state.streams)
                if (const Cell& cell = stream.cells[place]; !is_over(cell, now))
                    family.add(labels, cell.value);
        }
    });
}

std::size_t SampleTable::streams() {
    return state_.with([&](State& state) {
        sweep(state, clock_.steady_now());
        return state.streams.size();
    });
}

}  // namespace svc::metrics_agent
