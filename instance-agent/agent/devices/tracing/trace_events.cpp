#include "instance-agent/agent/devices/tracing/trace_events.h"

#include "instance-agent/agent/devices/tracing/proto_writer.h"

namespace svc::agent {
namespace {

constexpr std::uint32_t trace_packet_field = 1;
constexpr std::uint64_t boot_clock = 6;
constexpr std::uint64_t sequence = 1;  // all packets are of one
constexpr std::uint64_t state_cleared = 1;

namespace packet {
constexpr std::uint32_t timestamp = 8, sequence_id = 10, track_event = 11, sequence_flags = 13, clock = 58,
                        track_descriptor = 60;
}
namespace track_event {
constexpr std::uint32_t type = 9, track = 11, category = 22, name = 23, counter_value = 30;
}
namespace track {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8;
}

std::string wrap(const ProtoWriter& content) {
    ProtoWriter whole;
    whole.message(trace_packet_field, content);
    return whole.bytes();
}

std::string descriptor_packet(const ProtoWriter& descriptor, bool first) {
    ProtoWriter out;
    out.number(packet::sequence_id, sequence);
    if (first) out.number(packet::sequence_flags, state_cleared);
    out.message(packet::track_descriptor, descriptor);
    return wrap(out);
}

ProtoWriter descriptor_of(std::uint64_t id, std::uint64_t parent, std::string_view name) {
    ProtoWriter out;
    out.number(track::uuid, id);
    out.number(track::parent, parent);
    if (!name.empty()) out.text(track::name, name);
    return out;
}

}  // namespace

std::string trace_packet(const TraceEvent& event) {
    ProtoWriter content;
    content.number(track_event::type, static_cast<std::uint64_t>(event.phase));
    content.number(track_event::track, event.track);
    if (!event.category.empty()) content.text(track_event::category, event.category);
    if (!event.name.empty()) content.text(track_event::name, event.name);
    if (event.phase == TracePhase::counter)
        content.number(track_event::counter_value, static_cast<std::uint64_t>(event.value));
    ProtoWriter out;
    out.number(packet::timestamp, static_cast<std::uint64_t>(event.time));
    out.number(packet::clock, boot_clock);
    out.number(packet::sequence_id, sequence);
    out.message(packet::track_event, content);
    return wrap(out);
}

std::string process_track_packet(std::uint64_t id, pid_t pid, std::string_view name) {
    ProtoWriter process;
    process.number(1, static_cast<std::uint64_t>(pid));
    process.text(6, name);
    ProtoWriter descriptor;
    descriptor.number(track::uuid, id);
    descriptor.message(track::process, process);
    return descriptor_packet(descriptor, true);
}

std::string thread_track_packet(std::uint64_t id, std::uint64_t parent, pid_t pid, pid_t tid,
                                std::string_view name) {
    ProtoWriter thread;
    thread.number(1, static_cast<std::uint64_t>(pid));
    thread.number(2, static_cast<std::uint64_t>(tid));
    thread.text(5, name);
    ProtoWriter descriptor = descriptor_of(id, parent, "");
    descriptor.message(track::thread, thread);
    return descriptor_packet(descriptor, false);
}

std::string named_track_packet(std::uint64_t id, std::uint64_t parent, std::string_view name) {
    return descriptor_packet(descriptor_of(id, parent, name), false);
}

std::string counter_track_packet(std::uint64_t id, std::uint64_t parent, std::string_view name) {
    ProtoWriter descriptor = descriptor_of(id, parent, name);
    descriptor.message(track::counter, ProtoWriter());
    return descriptor_packet(descriptor, false);
}

}  // namespace svc::agent
