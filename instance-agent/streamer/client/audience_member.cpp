#include "instance-agent/streamer/client/audience_member.h"

#include "instance-agent/streamer/client/watcher_answers.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr std::size_t most_text = 1024;  // bytes of a message about the audience
constexpr int most_messages = 20;        // of these and of a watcher's requests, in a second

bool is_exchange(std::string_view label) {
    return label == clipboard_label || label == files_label;
}

}  // namespace

void AudienceMember::hand_over() {
    if (signalling_.peer() == nullptr) return;
    signalling_.peer()->set_watching(true);
    audience_.host_.control_lost();
}

// To the streamer it looks as if the client had come.
void AudienceMember::take_over() {
    if (signalling_.peer() == nullptr) return;
    signalling_.peer()->set_watching(false);
    for (const std::string& label : channels_) audience_.host_.channel_opened(label);
}

void AudienceMember::tell_audience() {
    if (!wants_audience_ || !signalling_.is_active()) return;
    Json clients = Json::array();
    for (const auto& member : audience_.members_)
        if (member->signalling().is_active())
            clients.push_back(
                Json::object({{"number", member->number()}, {"steers", member.get() == audience_.steers_}}));
    tell_client("audience", Json::object({{"you", number_}, {"clients", std::move(clients)}}));
}

void AudienceMember::tell_client(const std::string& type, const Json& data) {
    send(control_label, Json::object({{"type", type}, {"data", data.dump()}}));
}

void AudienceMember::send(std::string_view label, const Json& message) {
    Peer* const peer = signalling_.peer();
    const std::string channel(label);
    if (peer == nullptr || peer->buffered(channel) > Audience::most_buffered) return;
    peer->send(channel, false, message.dump());
}

void AudienceMember::show_screen(const ScreenWish& wish) {
    if (steers()) audience_.host_.show_screen(wish);
}

PeerSetup AudienceMember::peer_setup() {
    PeerSetup setup = audience_.host_.peer_setup();
    setup.watches = !steers();
    return setup;
}

std::vector<std::string> AudienceMember::capabilities() const {
    std::vector<std::string> names = audience_.host_.capabilities();
    names.emplace_back("audience");
    return names;
}

void AudienceMember::stream_began() {
    audience_.has_others(*this) ? audience_.changed_() : audience_.host_.stream_began();
    audience_.announce();
}

void AudienceMember::stream_ended() {
    audience_.has_others(*this) ? audience_.changed_() : audience_.host_.stream_ended();
    audience_.announce();
}

void AudienceMember::client_silent() {
    if (steers()) audience_.host_.client_silent();
}

void AudienceMember::peer_ended() {
    channels_.clear();
    wants_audience_ = false;
    if (steers()) audience_.host_.peer_ended();
    audience_.sweep_later();
}

void AudienceMember::channel_opened(const std::string& label) {
    channels_.insert(label);
    if (steers()) return audience_.host_.channel_opened(label);
    if (is_exchange(label)) send(label, nothing_allowed());
}

void AudienceMember::channel_closed(const std::string& label) {
    channels_.erase(label);
    if (steers()) audience_.host_.channel_closed(label);
}

void AudienceMember::channel_message(const std::string& label, bool binary, const std::string& data) {
    const bool control = label == control_label;
    if (control && data.size() <= most_text && data.find("\"audience::") != std::string::npos)
        return audience_message(data);
    if (steers()) return audience_.host_.channel_message(label, binary, data);
    if (!binary && data.size() <= most_text) watcher_message(label, data);
}

// Nothing of it reaches the guest.
void AudienceMember::watcher_message(const std::string& label, const std::string& text) {
    if (label == control_label && text.find("\"stream::disconnect\"") != std::string::npos)
        return signalling_.end_media();
    if (!is_exchange(label) || !has_patience()) return;
    if (const auto answer = answer_to_watcher(label, text)) send(label, *answer);
}

bool AudienceMember::has_patience() {
    const SteadyTime now = audience_.queue_.now();
    if (now - second_ >= std::chrono::seconds(1)) second_ = now, messages_ = 0;
    return ++messages_ <= most_messages;
}

void AudienceMember::audience_message(const std::string& text) try {
    if (!has_patience()) return;
    const Json message = Json::parse(text);
    const JsonFields fields(message);
    const std::string type = fields.require_string("type");
    if (type == "audience::list") {
        wants_audience_ = true;
        return tell_audience();
    }
    if (type == "audience::take") return audience_.steer(this);
    if (type == "audience::release" && steers()) return audience_.steer(nullptr);
    if (type == "audience::give" && steers()) return give_control(fields);
} catch (const Error& e) {
    log::debug("message of a client about the audience ignored", {{"error", e.what()}});
}

void AudienceMember::give_control(const JsonFields& fields) {
    const auto data = fields.object("data");
    const std::int64_t number = data ? data->integer("number").value_or(0) : 0;
    if (number <= 0 || number > UINT32_MAX) return;
    AudienceMember* const next = audience_.find(static_cast<unsigned>(number));
    if (next != nullptr && next->signalling().is_active()) audience_.steer(next);
}

}  // namespace svc::streamer
