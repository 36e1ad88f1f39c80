#include "libsvc/streaming/regions/regions.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

struct Regions::Candidate {
    const Region* region;
    bool failing, refusing;
    std::size_t sessions;
    std::size_t cpus;

    // The better one comes first: its last request was answered, then it has not just refused a launch, then
    // it has fewer sessions per CPU.
    bool operator<(const Candidate& other) const {
        if (failing != other.failing) return other.failing;
        if (refusing != other.refusing) return other.refusing;
        return sessions * other.cpus < other.sessions * cpus;
    }
};

namespace {

[[noreturn]] void throw_no_host() {
    throw Error(ErrorCode::not_found, "No agent available to host the session");
}

[[noreturn]] void throw_does_not_stream(const Regions::Wish& wish) {
    const std::string version = wish.version ? "version " + std::to_string(*wish.version) + " of " : "";
    throw Error(ErrorCode::invalid_argument, version + "application " + quoted(wish.app) +
                                                 " does not stream: it has no addon with a streamer");
}

}  // namespace

Regions::Regions(std::vector<Member> members, Clock& clock, Duration interval) {
    for (auto& member : members)
        regions_.push_back(
            std::make_unique<Region>(std::move(member.name), std::move(member.management), clock, interval));
    std::ranges::sort(regions_, {}, [](const auto& region) { return region->name(); });
}

Regions::~Regions() {
    stop();
}

void Regions::start(RegionEvents& events) {
    for (auto& region : regions_) region->start(events);
}

void Regions::stop() {
    for (auto& region : regions_) region->request_stop();
    for (auto& region : regions_) region->stop();
}

const Region* Regions::find(std::string_view name) const {
    const auto found =
        std::ranges::find_if(regions_, [&](const auto& region) { return region->name() == name; });
    return found == regions_.end() ? nullptr : found->get();
}

// Throws when there is none.
std::vector<Regions::Candidate> Regions::candidates(const Wish& wish) const {
    std::vector<Candidate> found;
    bool some_answered = false, app_is_known = false, app_streams = false;
    for (const auto& region : regions_) {
        const RegionKnowledge known = region->knowledge();
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
    if (app_is_known && !app_streams) throw_does_not_stream(wish);
    if (found.empty()) throw_no_host();
    return found;
}

const Region& Regions::best(std::vector<Candidate> candidates) const {
    chance_.with([&](auto& chance) { std::shuffle(candidates.begin(), candidates.end(), chance); });
    return *std::min_element(candidates.begin(), candidates.end())->region;
}

std::vector<std::string> Regions::names() const {
    std::vector<std::string> names;
    for (const auto& region : regions_)
        if (region->answers(region->knowledge())) names.push_back(region->name());
    return names;
}

std::vector<Regions::Offer> Regions::applications() const {
    std::map<std::string, bool> streams;
    for (const auto& region : regions_) {
        const RegionKnowledge known = region->knowledge();
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
    for (const auto& region : regions_)
        ++(region->answers(region->knowledge()) ? counts.active : counts.unresponsive);
    return counts;
}

bool Regions::answers(std::string_view name) const {
    const Region* region = find(name);
    return region != nullptr && region->answers(region->knowledge());
}

bool Regions::all_asked() const {
    return std::ranges::all_of(regions_, [](const auto& region) {
        const RegionKnowledge known = region->knowledge();
        return known.answered || known.failing;
    });
}

std::string Regions::choose(const Wish& wish, const std::function<std::size_t(const std::string&)>& sessions,
                            const std::set<std::string>& refused) const {
    auto found = candidates(wish);
    std::erase_if(found, [&](const auto& candidate) { return refused.contains(candidate.region->name()); });
    if (found.empty()) throw_no_host();
    for (auto& candidate : found) candidate.sessions = sessions(candidate.region->name());
    return best(std::move(found)).name();
}

void Regions::note_refusal(std::string_view name) {
    for (const auto& region : regions_)
        if (region->name() == name) region->note_refusal();
}

Management& Regions::management(std::string_view name) const {
    const Region* region = find(name);
    if (region == nullptr) throw Error(ErrorCode::not_found, "region " + quoted(name) + " is not configured");
    return region->management();
}

}  // namespace svc
