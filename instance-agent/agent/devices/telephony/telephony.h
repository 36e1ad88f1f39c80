#pragma once
// The instance's phone for both interfaces: SIM and network, calls, messages, and the programs of the guest
// that listen. docs/telephony.md has the rules.
#include <map>
#include <mutex>

#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/telephony/call_table.h"
#include "instance-agent/agent/devices/telephony/modem_settings.h"
#include "instance-agent/agent/devices/telephony/sms_store.h"
#include "instance-agent/agent/files/state_file.h"
#include "instance-agent/agent/guest/guest_session.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// Thread-safe; never waits for a guest. Only configure() waits for the disk. All refusals are
// invalid_argument with the texts of the API.
class Telephony {
  public:
    explicit Telephony(const DeviceContext& context);

    Json info() const;  // the metadata of GET /1.0/telephony
    // Sets the fields that `body` names, all or none: they are in the file before they count. Throws Error
    // when the file cannot be written.
    void configure(const Json& body);

    // `number` must be one. Throws without service and while nobody listens.
    std::int64_t begin_call(Direction direction, const std::string& number);
    void change_call(std::int64_t id, CallState wanted, Side side);
    void hang_up(std::int64_t id, Side side);
    Json calls() const;  // of the control API; those that have ended first
    Json call(std::int64_t id) const;

    // A message with direction, number, text and parts. Of the guest: throws without service.
    std::int64_t add_sms(Sms sms);
    void take_sms(std::int64_t id);
    void clear_sms();
    Json messages() const;  // the metadata of GET /1.0/telephony/sms

    Json seen_by(const GuestSession& session) const;  // the answer to telephony.get
    // The same; then the session gets events until unsubscribe().
    Json subscribe(const GuestSessionPtr& session);
    void unsubscribe(const GuestSession& session);

  private:
    // These are called under the lock.
    Json view(const GuestSession& session) const;
    void tell(const Json& event) const;
    void tell_calls(const std::vector<PhoneCall>& calls) const;
    void apply(const ModemSettings& settings);

    struct Counts {
        Counts(MetricsRegistry& metrics, Direction direction);
        Counter &calls, &messages, &dropped;
    };
    Counts& counts_of(Direction direction) {
        return direction == Direction::incoming ? incoming_ : outgoing_;
    }
    std::int64_t now_ms() const;

    const Clock& clock_;
    const StateFile state_file_;
    Counts incoming_, outgoing_;
    Guarded<bool> configuring_;  // locked while the fields are set, so that file and memory agree
    mutable std::mutex mutex_;   // for all below
    ModemSettings settings_;
    CallTable calls_;
    SmsStore messages_;
    std::map<std::uint64_t, GuestSessionPtr> listeners_;
};

}  // namespace svc::agent
