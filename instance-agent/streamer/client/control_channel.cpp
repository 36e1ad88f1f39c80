#include "instance-agent/streamer/client/control_channel.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

ControlChannel::ControlChannel(ClientInput& input, InjectedData& data, Requests requests, Clock& clock)
    : input_(input),
      data_(data),
      requests_(std::move(requests)),
      clock_(clock),
      counted_(clock.steady_now()) {}

namespace {

constexpr double most_text_cost = 4000;  // less than the burst, so that the longest text passes

}  // namespace

bool ControlChannel::spend(double cost) {
    const SteadyTime now = clock_.steady_now();
    const std::chrono::duration<double> passed = now - counted_;
    counted_ = now;
    room_ = std::min(max_rate, room_ + passed.count() * max_rate);
    if (room_ < cost) {
        ++too_many_;
        return false;
    }
    room_ -= cost;
    return true;
}

void ControlChannel::take(const std::string& text) {
    if (!spend(1)) return;
    try {
        dispatch(text);
    } catch (const Error& e) {
        ++malformed_;
        log::debug("message of the client ignored", {{"error", e.what()}});
    }
}

void ControlChannel::dispatch(const std::string& text) {
    if (text.size() > max_message) throw Error(ErrorCode::invalid_argument, "message is too large");
    const Json message = Json::parse(text);
    const std::string type = JsonFields(message).require_string("type");
    if (type == "stream::disconnect") return requests_.disconnect();
    if (type == "input::ime-event" && !spend(std::min(most_text_cost, static_cast<double>(text.size()))))
        return;
    const Json* given = message.find("data");
    const Json data = given != nullptr && !given->is_null() ? *given : Json::object();
    if (type == "display::resize") return requests_.resize(ScreenWish::from_json(JsonFields(data, "data")));
    if (type.starts_with("input::")) return input_.apply(type, JsonFields(data, "data"));
    if (!data_.apply(type, data)) throw Error(ErrorCode::invalid_argument, "unknown type " + quoted(type));
}

void ControlChannel::client_gone() {
    if (malformed_ + too_many_ > 0)
        log::info("messages of the client were ignored",
                  {{"malformed", std::to_string(malformed_)}, {"too_many", std::to_string(too_many_)}});
    malformed_ = too_many_ = 0;
    room_ = max_rate;
}

}  // namespace svc::streamer
