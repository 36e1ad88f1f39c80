#include "instance-agent/streamer/client/clipboard_channel.h"

#include <algorithm>
#include <utility>

#include "instance-agent/streamer/client/watcher_answers.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

ClipboardChannel::ClipboardChannel(EventQueue& queue, FindPeer peer, const MakeClipboard& make)
    : queue_(queue), peer_(std::move(peer)) {
    if (!make) return;
    clipboard_ = make({[this](ClipboardContent content) {
                           queue_.post([this, content = std::move(content)] { copied(content); });
                       },
                       [this] { queue_.post([this] {
                                    tell(Json::object({{"type", "taken"}}));
                                }); }});
}

void ClipboardChannel::allow(const Permissions& permissions) {
    permissions_ = permissions;
    if (!permissions_.clipboard_to_instance) incoming_.reset();
    if (!permissions_.clipboard_from_instance) {
        outgoing_.reset();
        next_.reset();
    }
    follow();
    tell_allowed();
}

void ClipboardChannel::opened() {
    open_ = true;
    tell_allowed();
}

void ClipboardChannel::closed() {
    open_ = wants_copies_ = false;
    incoming_.reset();
    outgoing_.reset();
    next_.reset();
    follow();
}

void ClipboardChannel::control_lost() {
    if (incoming_) refuse(only_watches);
    tell(nothing_allowed());
    closed();
}

void ClipboardChannel::take(bool binary, const std::string& data) try {
    if (!clipboard_ || !open_) return;
    if (binary) return take_bytes(data);
    const Json message = Json::parse(data);
    take_message(JsonFields(message));
} catch (const Error& e) {
    log::debug("message of the client about its clipboard ignored", {{"error", e.what()}});
}

void ClipboardChannel::take_message(const JsonFields& message) {
    const std::string type = message.require_string("type");
    if (type == "paste") return begin_paste(message);
    if (type != "follow") throw Error(ErrorCode::invalid_argument, "unknown type " + quoted(type));
    wants_copies_ = message.boolean("on").value_or(false);
    follow();
}

void ClipboardChannel::begin_paste(const JsonFields& message) {
    incoming_.reset();
    if (!permissions_.clipboard_to_instance) return refuse("pasting into this instance is not allowed");
    const auto format = parse_clipboard_format(message.require_string("format"));
    if (!format) return refuse("the clipboard takes text/plain and image/png");
    const std::int64_t size = message.require_int("size");
    if (size <= 0 || static_cast<std::uint64_t>(size) > max_clipboard)
        return refuse("the clipboard takes 8 MiB at most");
    incoming_ = Incoming{*format, static_cast<std::size_t>(size)};
}

// Bytes of a content that was refused may still be on their way.
void ClipboardChannel::take_bytes(const std::string& data) {
    if (!incoming_) return;
    if (data.size() > incoming_->size - incoming_->data.size()) {
        incoming_.reset();
        return refuse("the content is larger than it was said to be");
    }
    incoming_->data += data;
    const std::size_t got = incoming_->data.size();
    const bool complete_now = got == incoming_->size;
    if (complete_now || got - incoming_->acked >= ack_every) {
        incoming_->acked = got;
        tell(Json::object({{"type", "ack"}, {"bytes", static_cast<std::int64_t>(got)}}));
    }
    if (complete_now) complete();
}

void ClipboardChannel::complete() {
    Incoming whole = std::move(*incoming_);
    incoming_.reset();
    ClipboardContent content{whole.format, std::make_shared<const std::string>(std::move(whole.data))};
    if (!is_sound(content)) return refuse("the content is no picture in the format PNG");
    clipboard_->give(std::move(content));
}

void ClipboardChannel::refuse(const std::string& why) {
    tell(Json::object({{"type", "refused"}, {"message", why}}));
}

void ClipboardChannel::follow() {
    if (clipboard_) clipboard_->follow(open_ && wants_copies_ && permissions_.clipboard_from_instance);
}

// Of several that come while one is sent, the newest goes next.
void ClipboardChannel::copied(ClipboardContent content) {
    if (!open_ || !wants_copies_ || !permissions_.clipboard_from_instance) return;
    next_ = std::move(content);
    if (outgoing_) return;
    begin_next();
    if (!checks_) send_more();
}

void ClipboardChannel::begin_next() {
    outgoing_ = std::exchange(next_, std::nullopt);
    sent_ = 0;
    if (!outgoing_) return;
    tell(Json::object({{"type", "copied"},
                       {"format", std::string(to_text(outgoing_->format))},
                       {"size", static_cast<std::int64_t>(outgoing_->data->size())}}));
}

// No faster than the client reads.
void ClipboardChannel::send_more() {
    checks_ = false;
    while (outgoing_) {
        Peer* const peer = peer_();
        if (peer == nullptr) return outgoing_.reset();
        if (peer->buffered(std::string(clipboard_label)) > max_buffered) {
            checks_ = true;
            return queue_.after(buffer_check, [this] { send_more(); });
        }
        const std::string_view rest = std::string_view(*outgoing_->data).substr(sent_, chunk);
        peer->send(std::string(clipboard_label), true, rest);
        sent_ += rest.size();
        if (sent_ == outgoing_->data->size()) begin_next();
    }
}

void ClipboardChannel::tell(const Json& message) {
    Peer* const peer = open_ ? peer_() : nullptr;
    if (peer != nullptr) peer->send(std::string(clipboard_label), false, message.dump());
}

void ClipboardChannel::tell_allowed() {
    tell(Json::object({{"type", "allowed"},
                       {"to_instance", permissions_.clipboard_to_instance},
                       {"from_instance", permissions_.clipboard_from_instance}}));
}

}  // namespace svc::streamer
