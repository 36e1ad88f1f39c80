#include "libsvc/streaming/regions.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::chrono::seconds patience{15};  // without an answer a region is unresponsive
constexpr std::chrono::seconds first_retry{1};
constexpr std::chrono::seconds last_retry{30};
constexpr std::chrono::seconds refusal_counts{5};  // and is forgotten then

// 1, 2, 4 ... 30 s.
class Backoff {
  public:
    void reset() { next_ = first_retry; }
    Duration next() {
        const Duration now = next_;
        next_ = std::min<Duration>(next_ * 2, last_retry);
        return now;
    }

  private:
    Duration next_ = first_retry;
};

// What a region said last.
struct Knowledge {
    std::optional<SteadyTime> answered;                                  // nothing: never
    bool failing = false;                                                // the last question
    std::optional<SteadyTime> refused;                                   // a launch
    std::shared_ptr<const std::vector<StreamApplication>> applications;  // null pointer: not known
    int cpus = 0;

    const StreamApplication* application(std::string_view name) const {
        if (!applications) return nullptr;
        const auto found = std::ranges::find(*applications, name, &StreamApplication::name);
        return found == applications->end() ? nullptr : &*found;
    }
};

// One region and its two threads: one asks, one follows its events.
class Region {
  public:
    Region(Regions::Member member, Clock& clock, Duration interval)
        : name_(std::move(member.name)),
          management_(std::move(member.management)),
          clock_(clock),
          interval_(interval) {}

    void start(RegionEvents& events) {
        events_ = &events;
        threads_.emplace_back([this](const std::stop_token& stop) { ask_on(stop); });
        threads_.emplace_back([this](const std::stop_token& stop) { follow_on(stop); });
    }
    void request_stop() {
        for (auto& thread : threads_) thread.request_stop();
    }
    void stop() { threads_.clear(); }

    const std::string& name() const { return name_; }
    Management& management() const { return *management_; }
    Knowledge knowledge() const {
        return knowledge_.with([](const Knowledge& known) { return known; });
    }
    bool answers(const Knowledge& known) const {
        return known.answered && clock_.steady_now() - *known.answered <= patience;
    }
    void note_refusal() {
        knowledge_.with([this](Knowledge& known) { known.refused = clock_.steady_now(); });
    }
    bool has_just_refused(const Knowledge& known) const {
        return known.refused && clock_.steady_now() - *known.refused < refusal_counts;
    }

  private:
    void ask_on(const std::stop_token& stop);
    bool ask();  // false: no answer
    void note_answer(std::vector<StreamApplication> applications, int cpus);
    void note_failure(const std::exception& reason);
    void follow_on(const std::stop_token& stop);
    void follow(const std::stop_token& stop, Backoff& backoff);
    template <class Call>
    void tell(Call call);

    const std::string name_;
    const std::unique_ptr<Management> management_;
    Clock& clock_;
    const Duration interval_;
    RegionEvents* events_ = nullptr;
    Guarded<Knowledge> knowledge_;
    std::mutex telling_;
    std::vector<std::jthread> threads_;  // last: end before the rest goes
};

void Region::ask_on(const std::stop_token& stop) {
    Backoff backoff;
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
    const bool again = knowledge_.with([&](Knowledge& known) {
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
        knowledge_.with([](Knowledge& known) { return !std::exchange(known.failing, true); });
    if (new_to_us) log::warning("region does not answer", {{"region", name_}, {"error", reason.what()}});
}

// The threads of a region never tell two things at once, and outlive what the listener throws.
template <class Call>
void Region::tell(Call call) {
    std::lock_guard lock(telling_);
    try {
        call();
    } catch (const std::exception& e) {
        log::error("cannot take in what a region tells", {{"region", name_}, {"error", e.what()}});
    }
}

void Region::follow_on(const std::stop_token& stop) {
    Backoff backoff;
    SteadyTime next = clock_.steady_now();
    while (clock_.wait_until(stop, next)) {
        next = clock_.steady_now();  // what was followed for long is followed again at once
        follow(stop, backoff);
        next += backoff.next();
    }
}

void Region::follow(const std::stop_token& stop, Backoff& backoff) {
    try {
        management_->follow(stop, [&](const std::string& id) {
            backoff.reset();
            tell([&] { id.empty() ? events_->region_answers(name_) : events_->instance_changed(name_, id); });
        });
    } catch (const std::exception& e) {
        log::debug("a region's events have ended", {{"region", name_}, {"error", e.what()}});
    }
}

struct Candidate {
    const Region* region;
    bool failing, refusing;
    std::size_t sessions;
    std::size_t cpus;
};

// Those of which the last answer is known come first, then those that have not just refused a launch, then
// those with fewer sessions per CPU.
bool better(const Candidate& a, const Candidate& b) {
    if (a.failing != b.failing) return b.failing;
    if (a.refusing != b.refusing) return b.refusing;
    return a.sessions * b.cpus < b.sessions * a.cpus;
}

[[noreturn]] void throw_no_host() {
    throw Error(ErrorCode::not_found, "No agent available to host the session");
}

[[noreturn]] void throw_mute(const Regions::Wish& wish) {
    const std::string version = wish.version ? "version " + std::to_string(*wish.version) + " of " : "";
    throw Error(ErrorCode::invalid_argument, version + "application " + quoted(wish.app) +
                                                 " does not stream: it has no addon with a streamer");
}

}  // namespace

class Regions::Implementation {
  public:
    Implementation(std::vector<Member> members, Clock& clock, Duration interval) {
        for (auto& member : members)
            regions_.push_back(std::make_unique<Region>(std::move(member), clock, interval));
        std::ranges::sort(regions_, {}, [](const auto& region) { return region->name(); });
    }
    ~Implementation() { stop(); }

    void start(RegionEvents& events) {
        for (auto& region : regions_) region->start(events);
    }
    void stop() {
        for (auto& region : regions_) region->request_stop();
        for (auto& region : regions_) region->stop();
    }
    const Region* find(std::string_view name) const {
        const auto found =
            std::ranges::find_if(regions_, [&](const auto& region) { return region->name() == name; });
        return found == regions_.end() ? nullptr : found->get();
    }
    const std::vector<std::unique_ptr<Region>>& all() const { return regions_; }

    std::vector<Candidate> candidates(const Wish& wish) const;
    const Region& best(std::vector<Candidate> candidates) const;

  private:
    std::vector<std::unique_ptr<Region>> regions_;  // by name
    mutable Guarded<std::minstd_rand> chance_{std::minstd_rand(std::random_device()())};
};

// Throws when there is none.
std::vector<Candidate> Regions::Implementation::candidates(const Wish& wish) const {
    std::vector<Candidate> found;
    bool some_answered = false, app_is_known = false, app_streams = false;
    for (const auto& region : regions_) {
        const Knowledge known = region->knowledge();
        some_answered = some_answered || known.answered;
        const StreamApplication* application = known.application(wish.app);
        if (application == nullptr) continue;
        app_is_known = true;
        if (!application->streams(wish.version)) continue;
        app_streams = true;
        if (region->answers(known) && (wish.region.empty() || wish.region == region->name()))
            found.push_back({region.get(), known.failing, region->has_just_refused(known), 0,
                             static_cast<std::size_t>(std::max(known.cpus, 1))});
    }
    // While no region has ever answered, nobody can say that there is no such application.
    if (some_answered && !app_is_known)
        throw Error(ErrorCode::invalid_argument, "application " + quoted(wish.app) + " is unknown");
    if (app_is_known && !app_streams) throw_mute(wish);
    if (found.empty()) throw_no_host();
    return found;
}

const Region& Regions::Implementation::best(std::vector<Candidate> candidates) const {
    chance_.with([&](auto& chance) { std::shuffle(candidates.begin(), candidates.end(), chance); });
    return *std::ranges::min_element(candidates, better)->region;
}

Regions::Regions(std::vector<Member> members, Clock& clock, Duration interval)
    : implementation_(std::make_unique<Implementation>(std::move(members), clock, interval)) {}
Regions::~Regions() = default;

void Regions::start(RegionEvents& events) {
    implementation_->start(events);
}

void Regions::stop() {
    implementation_->stop();
}

std::vector<std::string> Regions::names() const {
    std::vector<std::string> names;
    for (const auto& region : implementation_->all())
        if (region->answers(region->knowledge())) names.push_back(region->name());
    return names;
}

std::vector<Regions::Offer> Regions::applications() const {
    std::map<std::string, bool> streams;
    for (const auto& region : implementation_->all()) {
        const Knowledge known = region->knowledge();
        if (!region->answers(known)) continue;
        for (const StreamApplication& application : *known.applications)
            streams[application.name] = application.streams() || streams[application.name];
    }
    std::vector<Offer> offers;
    for (const auto& [name, does] : streams) offers.push_back({name, does});
    return offers;
}

RegionCounts Regions::counts() const {
    RegionCounts counts;
    for (const auto& region : implementation_->all())
        ++(region->answers(region->knowledge()) ? counts.active : counts.unresponsive);
    return counts;
}

bool Regions::answers(std::string_view name) const {
    const Region* region = implementation_->find(name);
    return region != nullptr && region->answers(region->knowledge());
}

bool Regions::all_asked() const {
    return std::ranges::all_of(implementation_->all(), [](const auto& region) {
        const Knowledge known = region->knowledge();
        return known.answered || known.failing;
    });
}

std::string Regions::choose(const Wish& wish, const std::function<std::size_t(const std::string&)>& sessions,
                            const std::set<std::string>& refused) const {
    auto candidates = implementation_->candidates(wish);
    std::erase_if(candidates,
                  [&](const auto& candidate) { return refused.contains(candidate.region->name()); });
    if (candidates.empty()) throw_no_host();
    for (auto& candidate : candidates) candidate.sessions = sessions(candidate.region->name());
    return implementation_->best(std::move(candidates)).name();
}

void Regions::note_refusal(std::string_view name) {
    for (const auto& region : implementation_->all())
        if (region->name() == name) region->note_refusal();
}

Management& Regions::management(std::string_view name) const {
    const Region* region = implementation_->find(name);
    if (region == nullptr) throw Error(ErrorCode::not_found, "region " + quoted(name) + " is not configured");
    return region->management();
}

}  // namespace svc
