#include "instance-agent/streamer/pads/pad_server.h"

#include <pthread.h>

#include <utility>

namespace svc::streamer {
namespace {

class ServedDevice final : public VirtualDevice {
  public:
    ServedDevice(std::shared_ptr<PadServer> server, const DeviceAbilities& abilities)
        : server_(std::move(server)), pad_(server_->plug(abilities)) {}
    ~ServedDevice() override { server_->unplug(pad_); }
    ServedDevice(const ServedDevice&) = delete;
    ServedDevice& operator=(const ServedDevice&) = delete;

    void emit(int type, int code, int value) override {
        input_event event{};
        event.type = static_cast<std::uint16_t>(type);
        event.code = static_cast<std::uint16_t>(code);
        event.value = value;
        events_.push_back(event);
        if (type == EV_SYN) server_->report(pad_, std::exchange(events_, {}));
    }

  private:
    std::shared_ptr<PadServer> server_;
    int pad_;
    PadEvents events_;
};

}  // namespace

PadServer::PadServer(std::filesystem::path folder) : folder_(std::move(folder)) {
    make_directories(folder_, 0755);
    remove_stale_pads(folder_);
    thread_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "gamepads");
        run(stop);
    });
}

PadServer::~PadServer() {
    thread_.request_stop();
    wake_.wake();
}

int PadServer::plug(const DeviceAbilities& abilities) {
    auto made = std::make_unique<ServedPad>(abilities, folder_);
    const int pad = pads_.with([&](Pads& pads) {
        pads.plugged.emplace(++pads.last, std::move(made));
        return pads.last;
    });
    wake_.wake();
    return pad;
}

void PadServer::unplug(int pad) {
    pads_.with([&](Pads& pads) { pads.plugged.erase(pad); });
    wake_.wake();
}

void PadServer::report(int pad, PadEvents events) {
    if (pads_.with([&](Pads& pads) { return pads.plugged.at(pad)->report(std::move(events)); })) wake_.wake();
}

// Descriptors may be closed, and their numbers taken again, while this polls: what is ready is asked of all.
void PadServer::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::vector<pollfd> polled{{wake_.fd(), POLLIN, 0}};
        pads_.with([&](Pads& pads) {
            for (const auto& [number, pad] : pads.plugged) pad->await(polled);
        });
        poll(polled.data(), polled.size(), -1);
        wake_.drain();
        pads_.with([](Pads& pads) {
            for (const auto& [number, pad] : pads.plugged) pad->serve();
        });
    }
}

DeviceMaker served_pads(const std::filesystem::path& folder) {
    return [server = std::make_shared<PadServer>(folder)](const DeviceAbilities& abilities) {
        return std::make_unique<ServedDevice>(server, abilities);
    };
}

}  // namespace svc::streamer
