#include "instance-agent/streamer/media/meters/meters.h"

namespace svc::streamer {

void EncodeMeter::begun(Moment now) {
    state_.with([&](State& state) { state.begun = now; });
}

void EncodeMeter::done(bool key_frame, Moment now) {
    state_.with([&](State& state) {
        ++state.frames;
        state.key_frames += key_frame ? 1 : 0;
        if (state.begun) state.time += now - *state.begun;
        state.begun.reset();
    });
}

void EncodeMeter::add_to(StreamStats& stats) const {
    state_.with([&](const State& state) {
        stats.frames_encoded = state.frames;
        stats.key_frames_encoded = state.key_frames;
        stats.total_encode_time = state.time.count();
    });
}

void SendMeter::payloaded(std::uint16_t sequence, Moment now) {
    state_.with([&](State& state) { state.pending[sequence % window] = {now, sequence, true}; });
}

void SendMeter::sent(std::uint16_t sequence, std::size_t payload, Moment now) {
    state_.with([&](State& state) {
        ++state.packets;
        state.bytes += payload;
        Pending& pending = state.pending[sequence % window];
        if (!pending.waits || pending.sequence != sequence) return;
        state.delay += now - pending.when;
        pending.waits = false;
    });
}

void SendMeter::sent_again(std::size_t payload) {
    state_.with([&](State& state) {
        ++state.packets_again;
        state.bytes_again += payload;
    });
}

void SendMeter::add_to(StreamStats& stats) const {
    state_.with([&](const State& state) {
        stats.ssrc = ssrc_;
        stats.packets_sent = state.packets + state.packets_again;
        stats.bytes_sent = state.bytes + state.bytes_again;
        stats.retransmitted_packets_sent = state.packets_again;
        stats.retransmitted_bytes_sent = state.bytes_again;
        stats.total_packet_send_delay = state.delay.count();
    });
}

}  // namespace svc::streamer
