#pragma once
// What a client sends besides input: its place, its sensors' values, vehicle properties. It goes through the
// control API like everybody else's. What an operator has switched on there is the operator's: places and
// values of the client are dropped then.
#include "instance-agent/streamer/event_queue.h"
#include "instance-agent/streamer/guest/control_api.h"

namespace svc::streamer {

// One thread: the queue's.
class InjectedData {
  public:
    static constexpr std::size_t max_vehicle_requests = 256;  // that wait for their answer
    // Sends to the client's control channel.
    using TellClient = std::function<void(const std::string& type, const Json& data)>;

    InjectedData(const std::filesystem::path& api_socket, EventQueue& queue, TellClient tell_client);

    // Whether `type` is one of these messages. Throws invalid_argument for malformed ones.
    bool apply(const std::string& type, const Json& data);
    void client_gone();  // what was switched on for it is switched off

  private:
    // A device of the control API that somebody has to switch on. Used by the worker alone.
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
    unsigned client_ = 0;  // its number: late answers are of another one
    std::size_t vehicle_requests_ = 0;
    Switch location_{"/1.0/location"}, sensors_{"/1.0/sensors"};
    ControlApiWorker values_, vehicle_;  // a slow vehicle holds up nothing else
};

}  // namespace svc::streamer
