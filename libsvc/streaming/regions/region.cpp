#include "libsvc/streaming/regions/region.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::chrono::seconds answer_counts{15};  // a region that answered longer ago is unresponsive
constexpr std::chrono::seconds refusal_counts{5};

}  // namespace

Region::Region(std::string name, std::unique_ptr<Management> management, Clock& clock, Duration interval)
    : name_(std::move(name)), management_(std::move(management)), clock_(clock), interval_(interval) {}

void Region::start(RegionEvents& events) {
    events_ = &events;
    threads_.emplace_back([this](const std::stop_token& stop) { ask_on(stop); });
    threads_.emplace_back([this](const std::stop_token& stop) { follow_on(stop); });
}

void Region::request_stop() {
    for (auto& thread : threads_) thread.request_stop();
}

bool Region::answers(const RegionKnowledge& known) const {
    return known.answered && clock_.steady_now() - *known.answered <= answer_counts;
}

void Region::note_refusal() {
    knowledge_.with([this](RegionKnowledge& known) { known.refused = clock_.steady_now(); });
}

bool Region::has_just_refused(const RegionKnowledge& known) const {
    return known.refused && clock_.steady_now() - *known.refused < refusal_counts;
}

void Region::ask_on(const std::stop_token& stop) {
    RegionBackoff backoff;
    SteadyTime next = clock_.steady_now();
    while (clock_.wait_until(stop, next)) {
        next = clock_.steady_now();  // before the question: what follows its answer may take long
        if (ask()) {
            backoff.reset();
            next += interval_;
        } else {
            next += backoff.next();
        }
    }
}

bool Region::ask() {
    try {
        auto applications = management_->applications();
        const int cpus = management_->load().cpus;
        note_answer(std::move(applications), cpus);
        return true;
    } catch (const std::exception& e) {
        note_failure(e);
        return false;
    }
}

void Region::note_answer(std::vector<StreamApplication> applications, int cpus) {
    const auto listed = std::make_shared<const std::vector<StreamApplication>>(std::move(applications));
    const bool again = knowledge_.with([&](RegionKnowledge& known) {
        const bool was_away = known.failing || !answers(known);
        known = {clock_.steady_now(), false, known.refused, listed, cpus};
        return was_away;
    });
    if (!again) return;
    log::info("region answers", {{"region", name_}});
    tell([&] { events_->region_answers(name_); });
}

void Region::note_failure(const std::exception& reason) {
    const bool new_to_us =
        knowledge_.with([](RegionKnowledge& known) { return !std::exchange(known.failing, true); });
    if (new_to_us) log::warning("region does not answer", {{"region", name_}, {"error", reason.what()}});
}

// One call at a time; what the listener throws does not end the thread.
void Region::tell(const std::function<void()>& call) {
    std::lock_guard lock(telling_);
    try {
        call();
    } catch (const std::exception& e) {
        log::error("cannot take in what a region tells", {{"region", name_}, {"error", e.what()}});
    }
}

void Region::follow_on(const std::stop_token& stop) {
    RegionBackoff backoff;
    SteadyTime next = clock_.steady_now();
    while (clock_.wait_until(stop, next)) {
        next = clock_.steady_now();  // what was followed for long is followed again at once
        follow(stop, backoff);
        next += backoff.next();
    }
}

void Region::follow(const std::stop_token& stop, RegionBackoff& backoff) {
    try {
        management_->follow(stop, [&](const std::string& id) {
            backoff.reset();
            tell([&] { id.empty() ? events_->region_answers(name_) : events_->instance_changed(name_, id); });
        });
    } catch (const std::exception& e) {
        log::debug("a region's events have ended", {{"region", name_}, {"error", e.what()}});
    }
}

}  // namespace svc
