#include "instance-agent/streamer/client/signalling.h"

#include <charconv>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

namespace {

constexpr int api_version = 2;
constexpr std::int64_t max_media_line = 64;

[[noreturn]] void wrong(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

std::string decode(const JsonFields& fields, std::string_view key) {
    try {
        return base64_decode(fields.require_string(key));
    } catch (const Error& e) {
        wrong("'" + std::string(key) + "' of the message is missing or is not base64");
    }
}

std::vector<std::string> urls_of(const JsonFields& server) {
    if (const Json* urls = server.raw("urls"); urls != nullptr && urls->is_string())
        return {urls->as_string()};
    return server.strings("urls").value_or(std::vector<std::string>());
}

std::vector<IceServer> read_ice_servers(const JsonFields& fields) {
    std::vector<IceServer> servers;
    const auto given = fields.objects("stun_servers");
    if (!given) return servers;
    for (const JsonFields& server : *given)
        servers.push_back({urls_of(server), server.string("username").value_or(""),
                           server.string("password").value_or("")});
    return servers;
}

// The names (a=mid) of the media sections, in their order.
std::vector<std::string> mids_of(std::string_view sdp) {
    std::vector<std::string> mids;
    for (const std::string& raw : split(sdp, '\n')) {
        const std::string_view line = trim(raw);
        if (line.starts_with("m=")) mids.emplace_back();
        if (line.starts_with("a=mid:") && !mids.empty()) mids.back() = line.substr(6);
    }
    return mids;
}

// The candidate's media line. Clients that leave out sdpMLineIndex give sdpMid, which is a number in most
// clients.
unsigned media_line_of(const JsonFields& fields) {
    std::int64_t line = -1;
    if (const auto index = fields.integer("sdpMLineIndex")) {
        line = *index;
    } else if (const auto mid = fields.string("sdpMid")) {
        const auto end = mid->data() + mid->size();
        if (std::from_chars(mid->data(), end, line).ptr != end) line = -1;
    }
    if (line < 0 || line > max_media_line) wrong("the candidate names no media line");
    return static_cast<unsigned>(line);
}

}  // namespace

Signalling::Signalling(SignallingHost& host, PeerFactory make_peer, EventQueue& queue)
    : host_(host), make_peer_(std::move(make_peer)), queue_(queue) {}

Signalling::~Signalling() = default;

void Signalling::from_gateway(const std::string& text) {
    if (text.size() > max_message) return refuse("the message is too large");
    try {
        const Json message = Json::parse(text);
        dispatch(JsonFields(message));
    } catch (const Error& e) {
        refuse(e.what());
    }
}

void Signalling::dispatch(const JsonFields& fields) {
    const std::string type = fields.require_string("type");
    if (type == "ctl:ping") return host_.to_gateway(Json::object({{"type", "ctl:pong"}}));
    if (type == "ctl:terminate") {
        const StreamEnd end(fields.string("reason").value_or(""),
                            fields.string("code").value_or(std::string(end_code::ended)));
        end_stream(end);
        return host_.terminate(end.message);
    }
    if (type == "ctl:client-joined") return client_joined(fields);
    if (type == "ctl:client-left") return client_left(fields);
    if (type.starts_with("ctl:")) return;  // a message of a newer gateway
    if (!client_.empty() && fields.string("client_id") == client_) client_message(type, fields);
}

void Signalling::client_joined(const JsonFields& fields) {
    const std::string client = fields.require_string("client_id");
    end_stream({"another client has taken over", end_code::replaced});
    client_ = client;
    stage_ = Stage::joined;
    early_candidates_.clear();
    ice_servers_ = read_ice_servers(fields);
    log::info("client joined", {{"client", client_}});
    if (const auto screen = fields.object("screen")) host_.show_screen(ScreenWish::from_json(*screen));
}

void Signalling::client_left(const JsonFields& fields) {
    if (client_.empty() || fields.string("client_id") != client_) return;
    const std::string reason = fields.string("reason").value_or("");
    log::info("client left the signalling", {{"client", client_}, {"reason", reason}});
    if (reason == "replaced") return end_stream({"another client has taken over", end_code::replaced});
    if (reason == "timeout") return end_stream({"the client does not read its messages", end_code::not_read});
    forget_client();
    if (reason != "disconnected") end_media();
}

void Signalling::forget_client() {
    client_.clear();
    if (stage_ != Stage::answered) return end_media();
    if (!active_) expect_connection();
}

void Signalling::expect_connection() {
    queue_.after(connect_limit, [this, peer = std::weak_ptr(media_.events)] {
        if (!peer.expired() && !active_) failed("the client did not connect");
    });
}

void Signalling::client_message(const std::string& type, const JsonFields& fields) {
    if (type == "discover") return discover();
    if (type == "settings") return begin(fields);
    if (type == "answer") return take_answer(fields);
    if (type == "candidate") return take_candidate(fields);
    if (type == "offer")
        wrong("this instance makes the offer: clients of signalling version 1 are not supported");
    log::debug("message of unknown type ignored", {{"type", quoted(type)}});
}

void Signalling::discover() {
    if (stage_ != Stage::joined && stage_ != Stage::discovered) wrong("'discover' comes too late");
    stage_ = Stage::discovered;
    Json capabilities = Json::array();
    for (const std::string& name : host_.capabilities()) capabilities.push_back(name);
    to_client(Json::object({{"type", "resp:discover"},
                            {"max_api_version", api_version},
                            {"fps", host_.peer_setup().fps},
                            {"capabilities", std::move(capabilities)}}));
}

void Signalling::begin(const JsonFields& fields) {
    if (stage_ == Stage::joined) wrong("'settings' comes before 'discover'");
    if (stage_ != Stage::discovered) wrong("'settings' comes twice");
    if (const auto version = fields.integer("api_version"); version && *version != api_version)
        wrong("signalling version " + std::to_string(*version) + " is not supported");
    settings_ = ClientSettings::from_json(fields);
    start_peer();
}

void Signalling::start_peer() {
    PeerSetup setup = host_.peer_setup();
    if (setup.watches) settings_.microphone = false;
    setup.settings = settings_;
    setup.ice_servers = ice_servers_;
    stage_ = Stage::offering;
    mids_.clear();
    try {
        media_.events = std::make_shared<QueuedPeerEvents>(queue_, static_cast<PeerEvents&>(*this));
        media_.peer = make_peer_(std::move(setup), *media_.events);
        for (const Candidate& early : std::exchange(early_candidates_, {}))
            media_.peer->add_candidate(early.text, early.media_line);
    } catch (const Error&) {
        end_media();
        throw;
    }
}

void Signalling::use(const PeerFactory& make_socket_peer) {
    end_media();
    client_.clear();  // the gateway tells of the end of this media, not of who leaves the signalling
    settings_.camera = false;
    settings_.data_channels.clear();
    PeerSetup setup = host_.peer_setup();
    if (setup.watches) settings_.microphone = false;
    setup.settings = settings_;
    stage_ = Stage::answered;
    try {
        media_.events = std::make_shared<QueuedPeerEvents>(queue_, static_cast<PeerEvents&>(*this));
        media_.peer = make_socket_peer(std::move(setup), *media_.events);
        expect_connection();
    } catch (const Error& e) {
        log::warning("media cannot go through the gateway", {{"error", e.what()}});
        end_media();
    }
}

void Signalling::take_answer(const JsonFields& fields) {
    if (stage_ != Stage::offered) wrong("'answer' does not follow an offer");
    try {
        media_.peer->set_answer(decode(fields, "sdp"));
    } catch (const Error&) {
        end_media();
        throw;
    }
    stage_ = Stage::answered;
}

void Signalling::take_candidate(const JsonFields& fields) {
    if (stage_ == Stage::joined) wrong("'candidate' comes before 'discover'");
    const std::string text = decode(fields, "candidate");
    if (text.empty()) return;  // an empty candidate ends the list
    const unsigned line = media_line_of(fields);
    if (media_.peer) return media_.peer->add_candidate(text, line);
    if (early_candidates_.size() == max_early_candidates) wrong("too many candidates before the settings");
    early_candidates_.push_back({text, line});
}

// Does not end the peer: only a bad answer does.
void Signalling::refuse(const std::string& message) {
    log::info("signalling message refused", {{"client", client_}, {"error", message}});
    to_client(StreamEnd(message, end_code::refused).error());
}

void Signalling::to_client(const Json& message) {
    if (client_.empty()) return;
    JsonMembers members = {{"client_id", client_}};
    members.insert(members.end(), message.as_object().begin(), message.as_object().end());
    host_.to_gateway(Json::object(std::move(members)));
}

void Signalling::say_goodbye(const StreamEnd& end) {
    to_client(end.error());
    if (!media_.peer) return;
    host_.tell_client("error", Json::object({{"code", end.code}, {"message", end.message}}));
    media_.peer->end();
}

void Signalling::end(const StreamEnd& end) {
    say_goodbye(end);
    end_media();
}

// The gateway has already told the client on the signalling socket.
void Signalling::end_stream(const StreamEnd& end) {
    client_.clear();
    this->end(end);
}

void Signalling::end_media() {
    stage_ = Stage::joined;
    early_candidates_.clear();
    if (!media_.events) return;
    if (active_) {
        active_ = false;
        host_.stream_ended();
    }
    media_.peer.reset();
    media_.events.reset();
    host_.peer_ended();
}

void Signalling::local_offer(const std::string& sdp) {
    if (stage_ != Stage::offering) return;
    stage_ = Stage::offered;
    mids_ = mids_of(sdp);
    to_client(Json::object({{"type", "offer"}, {"sdp", base64_encode(sdp)}}));
}

void Signalling::local_candidate(const std::string& candidate, unsigned media_line) {
    if (candidate.empty()) return;
    const std::string mid = media_line < mids_.size() ? mids_[media_line] : "";
    Json message = Json::object({{"type", "candidate"}, {"candidate", base64_encode(candidate)}});
    message.set("sdpMid", mid.empty() ? Json(nullptr) : Json(mid));
    message.set("sdpMLineIndex", media_line);
    to_client(message);
}

void Signalling::connected() {
    if (active_) return;
    active_ = true;
    host_.stream_began();
}

void Signalling::failed(const std::string& reason) {
    log::warning("connection to the client failed", {{"error", reason}});
    const bool told = active_;
    end({reason, end_code::connection_failed});
    tell_unwatched(told);
}

void Signalling::left() {
    const bool told = active_;
    end_media();
    tell_unwatched(told);
}

// Reports the end of a stream also when media never flowed.
void Signalling::tell_unwatched(bool was_told) {
    if (!was_told && !host_.is_watched())
        host_.to_gateway(Json::object({{"type", "ctl:stream"}, {"active", false}}));
}

void Signalling::fell_silent() {
    host_.client_silent();
}

void Signalling::channel_opened(const std::string& label) {
    host_.channel_opened(label);
}

void Signalling::channel_closed(const std::string& label) {
    host_.channel_closed(label);
}

void Signalling::channel_message(const std::string& label, bool binary, std::string_view data) {
    host_.channel_message(label, binary, std::string(data));
}

}  // namespace svc::streamer
