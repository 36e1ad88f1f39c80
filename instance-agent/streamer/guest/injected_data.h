#pragma once
// Data of the client besides input: location, sensor values, vehicle properties. They are sent to the agent's
// control API. While an operator has switched a device on, the client's location and sensor values are
// dropped.
#include "instance-agent/streamer/guest/control_api.h"
#include "instance-agent/streamer/threads/event_queue.h"

namespace svc::streamer {

// Used on the queue's thread alone.
class InjectedData {
  public:
    static constexpr std::size_t max_vehicle_requests = 256;  // requests that wait for an answer
    // Sends a message on the client's control channel.
    using TellClient = std::function<void(const std::string& type, const Json& data)>;

    InjectedData(const std::filesystem::path& api_socket, EventQueue& queue, TellClient tell_client);

    // Handles a message; false when `type` is none of these. Throws invalid_argument for a malformed message.
    bool apply(const std::string& type, const Json& data);
    void client_gone();  // switches off what was switched on for the client

  private:
    // A device of the control API that must be switched on before it takes values. Used by the worker alone.
    class Switch {
      public:
        explicit Switch(std::string path) : path_(std::move(path)) {}
        void update(const ControlApi& api, const Json& body);
        void release(const ControlApi& api);

      private:
        bool take(const ControlApi& api);
        std::string path_;
        bool ours_ = false;
    };

    void update_location(const Json& data);
    void update_sensor(const Json& data);
    void turn_screen(const Json& data);
    void send_sensor(const std::string& sensor, Json reading);
    void ask_vehicle(const std::string& answer_type, const std::function<Json(const ControlApi&)>& ask,
                     const Json& place);
    void get_configs();
    void get_property(const Json& data);
    void set_property(const Json& data);

    EventQueue& queue_;
    TellClient tell_client_;
    unsigned client_ = 0;  // counts clients: a late answer belongs to an earlier one
    std::size_t vehicle_requests_ = 0;
    Switch location_{"/1.0/location"}, sensors_{"/1.0/sensors"};
    ControlApiWorker values_, vehicle_;  // two workers, so that a slow vehicle delays nothing else
};

}  // namespace svc::streamer
