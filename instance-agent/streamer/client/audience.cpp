#include "instance-agent/streamer/client/audience.h"

#include <algorithm>

#include "instance-agent/streamer/client/audience_member.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

Audience::Audience(SignallingHost& host, PeerFactory make_peer, EventQueue& queue,
                   std::function<void()> changed, SocketPeerFactory make_socket_peer)
    : host_(host),
      make_peer_(std::move(make_peer)),
      queue_(queue),
      changed_(std::move(changed)),
      make_socket_peer_(std::move(make_socket_peer)) {}

Audience::~Audience() = default;

void Audience::from_gateway(const std::string& text) {
    try {
        if (text.size() > Signalling::max_message) throw Error(ErrorCode::invalid_argument, "too large");
        const Json message = Json::parse(text);
        dispatch(text, JsonFields(message));
    } catch (const Error& e) {
        log::info("message of the gateway ignored", {{"error", e.what()}});
    }
}

void Audience::dispatch(const std::string& text, const JsonFields& fields) {
    const std::string client = fields.string("client_id").value_or("");
    AudienceMember* const member = find(client);
    const Json* const given = fields.raw("type");
    const std::string type = given != nullptr && given->is_string() ? given->as_string() : "";
    if (type == "ctl:ping") return host_.to_gateway(Json::object({{"type", "ctl:pong"}}));
    if (type == "ctl:terminate") return terminate(text, fields);
    if (type == "ctl:client-joined") return joined(text, fields);
    if (type == "ctl:media-joined") return media_joined(fields);
    if (type == "ctl:client-left") return left(text, fields);
    if (member != nullptr && !type.starts_with("ctl:")) member->signalling().from_gateway(text);
}

void Audience::terminate(const std::string& text, const JsonFields& fields) {
    for (const Member& member : members_) member->signalling().from_gateway(text);
    host_.terminate(fields.string("reason").value_or(""));
}

// Who comes to steer takes the place of the one that does; who comes to watch has a place of its own.
void Audience::joined(const std::string& text, const JsonFields& fields) {
    const std::string client = fields.require_string("client_id");
    const bool watches = fields.string("role").value_or("control") == "watch";
    const std::size_t here = members_.size() - (steers_ != nullptr ? 1 : 0);
    if (watches && here >= most_watchers)
        return refuse(client, std::to_string(most_watchers) + " clients watch already");
    AudienceMember& member = watches || steers_ == nullptr ? add() : *steers_;
    if (!watches) steers_ = &member;
    member.is_client(client);
    member.signalling().from_gateway(text);
    if (!watches) announce();
}

// The gateway takes the one that came last to steer for the one that does. It may watch by now: then it
// stays.
void Audience::left(const std::string& text, const JsonFields& fields) {
    AudienceMember* const member = find(fields.string("client_id").value_or(""));
    if (member == nullptr) return;
    const bool stays = member != steers_ && fields.string("reason") == "replaced";
    stays ? member->signalling().forget_client() : member->signalling().from_gateway(text);
    sweep_later();
}

// While the gateway was away, nobody told who left. The one that steers keeps its place for the next one.
void Audience::gateway_is_back() {
    for (const Member& member : members_)
        if (member.get() != steers_) member->signalling().forget_client();
    sweep_later();
}

// The client may have left the signalling already, or may never have been there.
void Audience::media_joined(const JsonFields& fields) {
    const std::string client = fields.require_string("client_id");
    if (!make_socket_peer_) return;
    if (find(client) == nullptr)
        joined(Json::object({{"type", "ctl:client-joined"}, {"client_id", client}}).dump(), fields);
    AudienceMember* const member = find(client);
    if (member == nullptr) return;
    log::info("media goes through the gateway", {{"client", client}});
    member->signalling().use([&](PeerSetup setup, PeerEvents& events) {
        return make_socket_peer_(std::move(setup), client, events);
    });
    sweep_later();
}

void Audience::refuse(const std::string& client, const std::string& why) {
    log::info("client refused", {{"client", client}, {"reason", why}});
    JsonMembers members = {{"client_id", client}};
    const Json error = StreamEnd(why, end_code::refused).error();
    members.insert(members.end(), error.as_object().begin(), error.as_object().end());
    host_.to_gateway(Json::object(std::move(members)));
}

AudienceMember& Audience::add() {
    return *members_.emplace_back(
        std::make_unique<AudienceMember>(*this, ++last_number_, make_peer_, queue_));
}

AudienceMember* Audience::find(const std::string& client) const {
    if (client.empty()) return nullptr;
    const auto found =
        std::ranges::find_if(members_, [&](const Member& one) { return one->client() == client; });
    return found == members_.end() ? nullptr : found->get();
}

AudienceMember* Audience::find(unsigned number) const {
    const auto found =
        std::ranges::find_if(members_, [&](const Member& one) { return one->number() == number; });
    return found == members_.end() ? nullptr : found->get();
}

bool Audience::has_others(const AudienceMember& member) const {
    return std::ranges::any_of(
        members_, [&](const Member& one) { return one.get() != &member && one->signalling().is_active(); });
}

void Audience::end(const StreamEnd& end) {
    for (const Member& member : members_) member->signalling().end(end);
}

void Audience::say_goodbye(const StreamEnd& end) {
    for (const Member& member : members_) member->signalling().say_goodbye(end);
}

void Audience::end_all_media() {
    for (const Member& member : members_) member->signalling().end_media();
}

bool Audience::is_active() const {
    return std::ranges::any_of(members_, [](const Member& one) { return one->signalling().is_active(); });
}

std::size_t Audience::watchers() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        members_, [&](const Member& one) { return one.get() != steers_ && one->signalling().is_active(); }));
}

Peer* Audience::peer() const {
    return steers_ != nullptr ? steers_->signalling().peer() : nullptr;
}

const ClientSettings& Audience::settings() const {
    static const ClientSettings defaults;
    return steers_ != nullptr ? steers_->signalling().settings() : defaults;
}

unsigned Audience::steering() const {
    return steers_ != nullptr ? steers_->number() : 0;
}

void Audience::end_media() {
    if (steers_ != nullptr) steers_->signalling().end_media();
}

void Audience::end_steering(unsigned number, const StreamEnd& end) {
    if (number != 0 && steering() == number) steers_->signalling().end(end);
}

std::vector<Peer*> Audience::peers() const {
    std::vector<Peer*> peers;
    for (const Member& member : members_)
        if (Peer* const peer = member->signalling().peer()) peers.push_back(peer);
    return peers;
}

void Audience::steer(AudienceMember* next) {
    if (steers_ == next) return;
    if (steers_ != nullptr) steers_->hand_over();
    steers_ = next;
    if (steers_ != nullptr) steers_->take_over();
    log::info("another client steers", {{"number", std::to_string(steering())}});
    changed_();
    announce();
}

void Audience::announce() {
    for (const Member& member : members_) member->tell_audience();
}

// Later: a member may be in the middle of a call.
void Audience::sweep_later() {
    queue_.post([this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) sweep();
    });
}

void Audience::sweep() {
    const std::size_t before = members_.size();
    if (steers_ != nullptr && steers_->signalling().is_idle()) steers_ = nullptr;
    std::erase_if(members_, [](const Member& member) { return member->signalling().is_idle(); });
    if (members_.size() != before) announce();
}

}  // namespace svc::streamer
