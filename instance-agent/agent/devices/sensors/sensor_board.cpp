#include "instance-agent/agent/devices/sensors/sensor_board.h"

#include <algorithm>

namespace svc::agent {

void SensorBoard::switch_on(std::size_t sensor, const GuestSessionPtr& session,
                            std::chrono::milliseconds delay) {
    users_[sensor][session->id()] = {session, delay};
}

void SensorBoard::switch_off(std::size_t sensor, std::uint64_t session) {
    users_[sensor].erase(session);
}

std::chrono::milliseconds SensorBoard::smallest_delay(std::size_t sensor) const {
    const auto& users = users_.at(sensor);
    return std::min_element(users.begin(), users.end(),
                            [](const auto& a, const auto& b) { return a.second.delay < b.second.delay; })
        ->second.delay;
}

Json SensorBoard::active() const {
    Json list = Json::array();
    for (std::size_t sensor = 0; sensor < sensor_count; ++sensor)
        if (is_active(sensor))
            list.push_back(Json::object(
                {{"type", sensor_types[sensor].name}, {"delay", smallest_delay(sensor).count()}}));
    return list;
}

}  // namespace svc::agent
