#pragma once
// The sensors that guests have switched on, and the last values of each sensor.
#include <array>
#include <map>
#include <optional>

#include "instance-agent/agent/devices/sensors/sensor_types.h"
#include "instance-agent/agent/guest/guest_session.h"

namespace svc::agent {

// One thread at a time.
class SensorBoard {
  public:
    void switch_on(std::size_t sensor, const GuestSessionPtr& session, std::chrono::milliseconds delay);
    void switch_off(std::size_t sensor, std::uint64_t session);
    bool is_active(std::size_t sensor) const { return !users_[sensor].empty(); }
    std::chrono::milliseconds smallest_delay(std::size_t sensor) const;  // of an active sensor
    Json active() const;                                                 // [{"type","delay"}]

    void set(const SensorReading& reading) { last_[reading.sensor] = reading.values; }
    const std::optional<SensorValues>& last(std::size_t sensor) const { return last_[sensor]; }

    struct User {
        GuestSessionPtr session;
        std::chrono::milliseconds delay;
    };
    const std::map<std::uint64_t, User>& users(std::size_t sensor) const { return users_[sensor]; }

  private:
    std::array<std::map<std::uint64_t, User>, sensor_count> users_;
    std::array<std::optional<SensorValues>, sensor_count> last_;
};

}  // namespace svc::agent
