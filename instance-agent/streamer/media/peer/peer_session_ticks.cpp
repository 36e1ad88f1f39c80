// Periodic work of a session while its client is connected.
#include <chrono>

#include "instance-agent/streamer/media/peer/path_stats.h"
#include "instance-agent/streamer/media/peer/peer_session.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
constexpr auto tick_interval = 500ms;
constexpr int ticks_a_look = 4;  // ticks between two checks which path is in use
constexpr auto early_interval = 100ms;
constexpr int most_early_ticks = 8;
constexpr int most_beginnings = 16;
constexpr int most_quiet_ticks = 10, most_silent_ticks = 30;

}  // namespace

void PeerSession::run_ticks(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (int tick = 0; !stop.stop_requested(); ++tick) {
        const auto interval = connected_ && early_ticks_ < most_early_ticks ? early_interval : tick_interval;
        tick_.wait_for(lock, stop, interval, [&] { return std::exchange(woken_, false); });
        if (stop.stop_requested() || !connected_) continue;
        repeat_beginning();
        adapt();
        const bool silent = is_silent(), quiet = silent_ticks_ == most_quiet_ticks;
        const bool look = tick % ticks_a_look == 0;
        lock.unlock();
        if (latency_changed_.exchange(false)) gst_bin_recalculate_latency(GST_BIN(pipeline_->pipeline()));
        if (quiet) gate_->tell([](PeerEvents& events) { events.fell_silent(); });
        if (silent) fail("the client has fallen silent");
        if (look) look_for_relay();
        lock.lock();
    }
}

// The client may derive its keys later than this side and lose the first key frame. Sends further ones until
// the client reports on the display, and one more then. Called with the lock held.
void PeerSession::repeat_beginning() {
    if (early_ticks_ >= most_beginnings || ++early_ticks_ == 1 || begun_ || !display_) return;
    begun_ = feedback_->has_heard_of(meters_->video->ssrc());
    display_->request_key_frame();
}

// Players send RTCP reports at intervals of up to a few seconds; a crashed one stops. Called with the lock
// held.
bool PeerSession::is_silent() {
    if (!meters_->video && !meters_->audio) return false;
    const std::uint64_t heard = feedback_->packets();
    silent_ticks_ = heard == std::exchange(reports_heard_, heard) ? silent_ticks_ + 1 : 0;
    return silent_ticks_ >= most_silent_ticks;
}

// Called with the lock held.
void PeerSession::adapt() {
    const auto report = meters_->video ? feedback_->take_report(meters_->video->ssrc()) : std::nullopt;
    if (!report) return;
    ReceiverReport told{report->loss, std::nullopt, std::nullopt, report->packets};
    if (report->rtt) told.rtt = std::chrono::duration<double>(*report->rtt);
    if (const auto transport = transport_feedback(pipeline_->webrtc()))
        told.received_kbps = transport->received_kbps;
    const std::uint32_t before = congestion_.target_kbps();
    if (congestion_.heed(told, std::chrono::steady_clock::now()) && display_) use_target(before);
}

// Who only watches gets what is encoded for the others, or nothing for a while. Called with the lock held.
void PeerSession::use_target(std::uint32_t before) {
    const std::uint32_t target = congestion_.target_kbps();
    if (!watches_) return display_->set_kbps(target);
    if (target < before && target < display_->kbps()) display_->skip();
}

void PeerSession::look_for_relay() {
    find_relay(pipeline_->webrtc(), [weak = weak_from_this()](bool relay) {
        const auto session = weak.lock();
        if (!session) return;
        std::lock_guard lock(session->mutex_);
        session->relay_in_use_ = relay;
    });
}

}  // namespace svc::streamer
