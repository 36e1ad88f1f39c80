#include "instance-agent/agent/devices/telephony/telephony.h"

#include "instance-agent/agent/devices/telephony/telephony_json.h"
#include "libsvc/base/error.h"

namespace svc::agent {

Telephony::Counts::Counts(MetricsRegistry& metrics, Direction direction)
    : calls(metrics.counter("runtime_telephony_calls_total", "Calls that have begun so far",
                            {{"direction", std::string(to_text(direction))}})),
      messages(metrics.counter("runtime_telephony_sms_total", "Short messages so far",
                               {{"direction", std::string(to_text(direction))}})),
      dropped(metrics.counter("runtime_telephony_sms_dropped_total",
                              "Short messages that newer ones have pushed out",
                              {{"direction", std::string(to_text(direction))}})) {}

Telephony::Telephony(const DeviceContext& context)
    : clock_(context.clock),
      state_file_(context.state() / "telephony.json"),
      incoming_(context.metrics, Direction::incoming),
      outgoing_(context.metrics, Direction::outgoing),
      settings_(restored_settings(state_file_.load())) {}

std::int64_t Telephony::now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch()).count();
}

Json Telephony::info() const {
    const std::lock_guard lock(mutex_);
    Json info = Json::object(
        {{"status", listeners_.empty() ? "inactive" : "active"}, {"service", settings_.has_service()}});
    const Json fields = to_json(settings_);
    for (const auto& [name, value] : fields.as_object()) info.set(name, value);
    return info;
}

void Telephony::configure(const Json& body) {
    configuring_.with([&](bool&) {
        ModemSettings settings;
        {
            const std::lock_guard lock(mutex_);
            settings = settings_;
        }
        settings = changed_settings(std::move(settings), body);
        state_file_.save(to_json(settings));
        const std::lock_guard lock(mutex_);
        apply(settings);
    });
}

void Telephony::apply(const ModemSettings& settings) {
    const bool had_service = settings_.has_service();
    settings_ = settings;
    tell(event_of(settings_));
    if (!settings_.has_service()) return tell_calls(calls_.end_all(EndReason::no_service));
    if (had_service) return;
    for (const Sms& sms : messages_.waiting()) tell(event_of(sms));
}

void Telephony::tell(const Json& event) const {
    for (const auto& [id, session] : listeners_) session->send_event(event);
}

void Telephony::tell_calls(const std::vector<PhoneCall>& calls) const {
    for (const PhoneCall& call : calls) tell(event_of(call));
}

std::int64_t Telephony::begin_call(Direction direction, const std::string& number) {
    const std::lock_guard lock(mutex_);
    if (listeners_.empty()) throw Error(ErrorCode::invalid_argument, "Telephony is not active");
    require_service(settings_);
    const PhoneCall call = calls_.begin(direction, number, now_ms());
    counts_of(direction).calls.add();
    tell_calls({call});
    return call.id;
}

void Telephony::change_call(std::int64_t id, CallState wanted, Side side) {
    const std::lock_guard lock(mutex_);
    tell_calls(calls_.change(id, wanted, side));
}

void Telephony::hang_up(std::int64_t id, Side side) {
    const std::lock_guard lock(mutex_);
    tell_calls({calls_.end(id, side == Side::guest ? EndReason::guest : EndReason::remote)});
}

Json Telephony::calls() const {
    const std::lock_guard lock(mutex_);
    Json calls = Json::array();
    for (const PhoneCall& call : calls_.ended()) calls.push_back(record_of(call));
    for (const PhoneCall& call : calls_.present()) calls.push_back(record_of(call));
    return calls;
}

Json Telephony::call(std::int64_t id) const {
    const std::lock_guard lock(mutex_);
    return record_of(calls_.find(id));
}

std::int64_t Telephony::add_sms(Sms sms) {
    const std::lock_guard lock(mutex_);
    const bool of_guest = sms.direction == Direction::outgoing;
    if (of_guest) require_service(settings_);
    sms.time = now_ms();
    const auto [added, dropped] = messages_.add(std::move(sms));
    Counts& counts = counts_of(added.direction);
    counts.messages.add();
    if (dropped) counts.dropped.add();
    if (!of_guest && settings_.has_service()) tell(event_of(added));
    return added.id;
}

void Telephony::take_sms(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    messages_.deliver(id);
}

void Telephony::clear_sms() {
    const std::lock_guard lock(mutex_);
    messages_.clear();
}

Json Telephony::messages() const {
    const std::lock_guard lock(mutex_);
    Json messages = Json::array();
    for (const Sms& sms : messages_.all()) messages.push_back(sms.to_json());
    return Json::object({{"messages", std::move(messages)}, {"dropped", messages_.dropped()}});
}

Json Telephony::view(const GuestSession& session) const {
    Json seen = seen_by_phone(settings_);
    if (!session.may_control()) {
        for (const char* identity : {"number", "iccid", "imsi"}) seen.erase(identity);
        return seen;
    }
    Json calls = Json::array();
    for (const PhoneCall& call : calls_.present()) calls.push_back(guest_record_of(call));
    seen.set("calls", std::move(calls));
    return seen;
}

Json Telephony::seen_by(const GuestSession& session) const {
    const std::lock_guard lock(mutex_);
    return view(session);
}

Json Telephony::subscribe(const GuestSessionPtr& session) {
    const std::lock_guard lock(mutex_);
    listeners_[session->id()] = session;
    for (const PhoneCall& call : calls_.present()) session->send_event(event_of(call));
    if (settings_.has_service())
        for (const Sms& sms : messages_.waiting()) session->send_event(event_of(sms));
    return view(*session);
}

void Telephony::unsubscribe(const GuestSession& session) {
    const std::lock_guard lock(mutex_);
    if (listeners_.erase(session.id()) == 0 || !listeners_.empty()) return;
    calls_.end_all(EndReason::no_guest);
}

}  // namespace svc::agent
