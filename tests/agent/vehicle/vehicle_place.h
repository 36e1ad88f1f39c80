#pragma once
// A vehicle with a clock turned by hand, reached as the two servers reach it.
#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/vehicle/config_file.h"
#include "instance-agent/agent/devices/vehicle/vehicle.h"
#include "libsvc/base/error.h"
#include "tests/agent/vehicle/vehicle_guest.h"
#include "tests/support/manual_clock.h"

namespace svc::test {

// One answer of the control API; it may come later.
class PendingReply {
  public:
    void come(Response response) {
        {
            std::lock_guard lock(mutex_);
            response_ = std::move(response);
        }
        changed_.notify_all();
    }
    bool is_there() const {
        std::lock_guard lock(mutex_);
        return response_.has_value();
    }
    int status() { return wait().status; }
    Json body() { return Json::parse(wait().body); }
    std::string error() { return body().at("error").as_string(); }

  private:
    const Response& wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return response_.has_value(); });
        return *response_;
    }
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Response> response_;
};

class VehiclePlace {
  public:
    explicit VehiclePlace(std::string_view config = agent::default_properties())
        : VehiclePlace(agent::PropertyTable(agent::parse_vehicle_config(config).properties)) {}
    // Nothing: the configuration is faulty.
    explicit VehiclePlace(std::optional<agent::PropertyTable> table)
        : vehicle(std::make_unique<agent::VehicleService>(std::move(table), clock,
                                                          [this] { return boot_time.load(); })),
          router(vehicle.routes()),
          feature(vehicle.guest_feature()) {}

    std::shared_ptr<PendingReply> ask(Method method, const std::string& path, std::string body = "") {
        auto reply = std::make_shared<PendingReply>();
        try {
            const auto match = router.match(method, path);
            if (match.route == nullptr)
                throw Error(ErrorCode::invalid_argument, "API endpoint does not exist");
            Request request;
            request.method = method;
            request.params = match.params;
            request.body = std::move(body);
            Response response = match.route->handler(request);
            if (response.later)
                response.later([reply](Response late) { reply->come(std::move(late)); });
            else
                reply->come(std::move(response));
        } catch (const std::exception& e) {
            reply->come(agent::failure(e));
        }
        return reply;
    }
    Json value(const std::string& path, std::string body = "") {
        return ask(Method::get, path, std::move(body))->body().at("metadata").at("value");
    }
    // "400 No value provided"; "200" when it succeeds.
    std::string outcome(Method method, const std::string& path, std::string body = "") {
        const auto reply = ask(method, path, std::move(body));
        std::string text = std::to_string(reply->status());
        return reply->status() == 200 ? text : text + " " + reply->error();
    }
    // What the op answers, or {"error": text}. Nothing when it answers later.
    std::optional<Json> op(const std::shared_ptr<VehicleGuest>& guest, const std::string& text) {
        const Json request = Json::parse(text);
        try {
            const auto answer = feature.ops.at(request.at("op").as_string())(guest, JsonFields(request));
            if (answer.later) return std::nullopt;
            return Json::parse(answer.members.dump());
        } catch (const Error& e) {
            return Json::object({{"error", e.what()}});
        }
    }

    ManualClock clock;
    std::atomic<std::int64_t> boot_time{1000};
    agent::Vehicle vehicle;
    Router router;
    agent::GuestFeature feature;
};

}  // namespace svc::test
