#include "instance-agent/agent/devices/vehicle/vehicle_service.h"

#include <set>

#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "instance-agent/agent/devices/vehicle/status_code.h"
#include "libsvc/base/error.h"

namespace svc::agent {

namespace {

VehicleOutcome failed_with(StatusCode code) {
    try {
        throw_status(code);
    } catch (...) {
        return {{}, std::current_exception()};
    }
}

Duration interval_for(const PropertyConfig& config, double rate) {
    const bool is_sampled = config.change_mode == ChangeMode::continuous;
    return is_sampled ? sample_interval(config, rate) : Duration::zero();
}

PropertyTable table_of(std::vector<PropertyConfig> configs) {
    std::vector<PropertyDeclaration> declarations;
    declarations.reserve(configs.size());
    for (PropertyConfig& config : configs) declarations.push_back({std::move(config), {}});
    return PropertyTable(std::move(declarations));
}

}  // namespace

VehicleService::VehicleService(std::optional<PropertyTable> own, Clock& clock, BootTime boot_time)
    : clock_(clock), boot_time_(std::move(boot_time)), own_(std::move(own)), timer_(clock, "vehicle") {}

const PropertyTable& VehicleService::table() const {
    if (provided_) return *provided_;
    if (!own_) throw Error(ErrorCode::unavailable, "VHAL is not available");
    return *own_;
}

PropertyTable& VehicleService::table() {
    return const_cast<PropertyTable&>(std::as_const(*this).table());
}

bool VehicleService::is_provider(const GuestSessionPtr& session) const {
    return provider_ && session && session->id() == provider_->id();
}

bool VehicleService::answers_here(const GuestSessionPtr& asker) const {
    return !provider_ || is_provider(asker);
}

std::vector<PropertyConfig> VehicleService::configs() const {
    std::lock_guard lock(mutex_);
    return table().configs();
}

std::vector<PropertyConfig> VehicleService::configs(const std::vector<PropertyId>& props) const {
    std::lock_guard lock(mutex_);
    std::vector<PropertyConfig> found;
    std::set<PropertyId> told;  // each id once: a request may name one id many times
    for (const PropertyId prop : props) {
        const PropertyConfig& config = table().config(prop);
        if (told.insert(prop).second) found.push_back(config);
    }
    return found;
}

VehicleService::Answer VehicleService::get(const GuestSessionPtr& asker, PropertyId prop, AreaId area,
                                           const PropertyValues& with) {
    std::lock_guard lock(mutex_);
    table().check_place(prop, area);
    check_freeze_frame_request(prop, with);
    if (answers_here(asker)) return {table().get(prop, area, with), {}};
    return {std::nullopt, [this, prop, area, with](VehicleDone done) {
                forward({false, {prop, area, {}, 0, {}}, {}, std::move(done)}, with);
            }};
}

VehicleService::Answer VehicleService::set(const GuestSessionPtr& asker, PropertyValue value) {
    std::lock_guard lock(mutex_);
    table().check_value(value);
    if (answers_here(asker)) return {store(std::move(value)), {}};
    return {std::nullopt, [this, value](VehicleDone done) {
                forward({true, value, {}, std::move(done)}, {});
            }};
}

// The provider may have detached after the check; then the agent's own table answers.
void VehicleService::forward(Pending request, const PropertyValues& with) {
    VehicleDone done = request.done;
    VehicleOutcome outcome;
    try {
        std::lock_guard lock(mutex_);
        if (provider_) {
            request.deadline = clock_.steady_now() + ProviderRequests::limit;
            const Pending asked = request;
            const std::uint64_t id = requests_.add(std::move(request));
            provider_->send_event(request_event(id, asked, with));
            arm();
            return;
        }
        outcome.value = answer_here(request, with);
    } catch (...) {
        outcome.error = std::current_exception();
    }
    done(std::move(outcome));
}

PropertyValue VehicleService::answer_here(const Pending& request, const PropertyValues& with) {
    if (request.is_set) return store(request.value);
    return table().get(request.value.prop, request.value.area, with);
}

PropertyValue VehicleService::store(PropertyValue value) {
    value.timestamp = boot_time_();
    if (!table().set(value)) return value;
    for (const auto& session : subscriptions_.told_of_changes({value.prop, value.area})) tell(session, value);
    return value;
}

void VehicleService::tell(const GuestSessionPtr& session, const PropertyValue& value) const {
    session->send_event(Json::object({{"event", "vhal.changed"}, {"value", to_json(value)}}));
}

void VehicleService::subscribe(const GuestSessionPtr& session, const std::vector<Wish>& wishes) {
    std::lock_guard lock(mutex_);
    std::map<Subscriptions::Place, Duration> places;
    for (const Wish& wish : wishes) {
        const PropertyConfig& config = table().config(wish.prop);
        for (const AreaId area : wish.areas.empty() ? config.area_ids() : wish.areas) {
            check_area(config, area);
            places[{wish.prop, area}] = interval_for(config, wish.rate);
        }
    }
    if (subscriptions_.count(session->id()) + places.size() > Subscriptions::max_per_session)
        throw Error(ErrorCode::exhausted, "too many subscriptions");
    for (const auto& [place, interval] : places)
        subscriptions_.add(session, place, interval, clock_.steady_now());
    arm();
}

void VehicleService::unsubscribe(const GuestSessionPtr& session, const std::vector<PropertyId>& props) {
    std::lock_guard lock(mutex_);
    for (const PropertyId prop : props) subscriptions_.remove(session->id(), prop);
}

void VehicleService::provide(const GuestSessionPtr& session, std::vector<PropertyConfig> configs) {
    PropertyTable told = table_of(std::move(configs));
    std::lock_guard lock(mutex_);
    if (provider_ && provider_->open() && !is_provider(session))
        throw Error(ErrorCode::busy, "another provider is attached");
    provided_ = std::move(told);
    provider_ = session;
}

void VehicleService::reply(const GuestSessionPtr& session, std::uint64_t request, std::int64_t status,
                           const Json* value) {
    std::optional<Pending> pending;
    VehicleOutcome outcome;
    {
        std::lock_guard lock(mutex_);
        if (!is_provider(session)) throw Error(ErrorCode::forbidden, "not the provider");
        pending = requests_.take(request);
        if (!pending) throw Error(ErrorCode::invalid_argument, "unknown request " + std::to_string(request));
        try {
            if (status != 0) throw_status(status);
            outcome.value = take_reply(*pending, value);
        } catch (...) {
            outcome.error = std::current_exception();
        }
    }
    pending->done(std::move(outcome));
}

// A wrong answer of the provider is an error of the provider, not of the client.
PropertyValue VehicleService::take_reply(Pending& request, const Json* value) {
    try {
        if (request.is_set) return store(request.value);
        if (value == nullptr) throw_status(StatusCode::internal);
        PropertyValue read = read_value(*value, request.value.prop, request.value.area, boot_time_());
        table().check_value(read);
        if (read.prop != obd2_freeze_frame && table().set(read))
            for (const auto& session : subscriptions_.told_of_changes({read.prop, read.area}))
                tell(session, read);
        return read;
    } catch (const Error&) {
        throw_status(StatusCode::internal);
    }
}

void VehicleService::closed(const GuestSessionPtr& session) {
    std::vector<Pending> unanswered;
    {
        std::lock_guard lock(mutex_);
        subscriptions_.remove(session->id());
        if (!is_provider(session)) return;
        provider_.reset();
        provided_.reset();
        unanswered = requests_.take_all();
        tell_all();
    }
    for (const Pending& request : unanswered) request.done(failed_with(StatusCode::not_available));
}

// The provider has gone: subscribers get the values of the agent's own table.
void VehicleService::tell_all() {
    for (const auto& place : subscriptions_.places_told_of_changes()) {
        if (!own_ || !own_->has_place(place.first, place.second)) continue;
        const PropertyValue value = own_->peek(place.first, place.second);
        for (const auto& session : subscriptions_.told_of_changes(place)) tell(session, value);
    }
}

void VehicleService::arm() {
    const SteadyTime next = std::min(subscriptions_.next_due().value_or(SteadyTime::max()),
                                     requests_.next_deadline().value_or(SteadyTime::max()));
    if (next == SteadyTime::max() || next >= armed_for_) return;
    if (ticket_ != 0) timer_.cancel(ticket_);
    armed_for_ = next;
    ticket_ = timer_.after(std::max(next - clock_.steady_now(), Duration::zero()), [this] { tick(); });
}

void VehicleService::tick() {
    std::vector<Pending> expired;
    {
        std::lock_guard lock(mutex_);
        const SteadyTime now = clock_.steady_now();
        armed_for_ = SteadyTime::max();
        ticket_ = 0;
        expired = requests_.take_expired(now);
        for (const auto& [place, session] : subscriptions_.take_due(now)) send_sample(place, session);
        arm();
    }
    for (const Pending& request : expired) request.done(failed_with(StatusCode::try_again));
}

// The property may have gone with its provider: nothing is sent until it comes back.
void VehicleService::send_sample(Subscriptions::Place place, const GuestSessionPtr& session) const {
    const PropertyTable* source = provided_ ? &*provided_ : own_ ? &*own_ : nullptr;
    if (source != nullptr && source->has_place(place.first, place.second))
        tell(session, source->peek(place.first, place.second));
}

}  // namespace svc::agent
