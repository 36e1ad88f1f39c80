#include "instance-agent/streamer/client/file_channel.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "instance-agent/streamer/client/watcher_answers.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

namespace {

const std::string label(files_label);
constexpr std::int64_t listing_id = 0;  // of no file
constexpr std::size_t max_unread =
    8U << 20;  // bytes in the channel; a client that reads nothing is told nothing

Json message_of(const char* type, std::int64_t id) {
    return Json::object({{"type", type}, {"id", id}});
}

Json to_json(const std::vector<FolderFile>& files) {
    Json all = Json::array();
    for (const FolderFile& file : files)
        all.push_back(Json::object(
            {{"name", file.name}, {"size", static_cast<std::int64_t>(file.size)}, {"time", file.time}}));
    return all;
}

std::string read_some(const OpenFile& file, std::size_t most) {
    std::string data(most, '\0');
    ssize_t count = 0;
    do count = read(file.file.get(), data.data(), data.size());
    while (count < 0 && errno == EINTR);
    if (count < 0) throw system_error("read the file", errno);
    if (count == 0) throw Error(ErrorCode::conflict, "the file has become shorter meanwhile");
    data.resize(static_cast<std::size_t>(count));
    return data;
}

}  // namespace

FileChannel::FileChannel(EventQueue& queue, FindPeer peer, const std::filesystem::path& folder, Clock& clock)
    : queue_(queue), peer_(std::move(peer)), exists_(!folder.empty()), folder_(folder), disk_queue_(clock) {
    if (!exists_) return;
    disk_ = std::jthread([this] {
        pthread_setname_np(pthread_self(), "files");
        disk_queue_.run();
    });
}

FileChannel::~FileChannel() {
    disk_queue_.stop();
}

void FileChannel::allow(const Permissions& permissions) {
    permissions_ = permissions;
    if (incoming_ && !permissions_.files_to_instance)
        give_up(incoming_->id, "sending files is not allowed any more");
    if (outgoing_ && !permissions_.files_from_instance)
        give_up(outgoing_->id, "fetching files is not allowed any more");
    tell_allowed();
}

void FileChannel::opened() {
    open_ = exists_;
    tell_allowed();
}

void FileChannel::closed() {
    if (!exists_) return;
    open_ = false;
    ++client_;
    asked_ = 0;
    listing_ = false;
    drop_incoming();
    outgoing_.reset();
}

void FileChannel::control_lost() {
    if (incoming_) give_up(incoming_->id, only_watches);
    if (outgoing_) give_up(outgoing_->id, only_watches);
    tell(nothing_allowed());
    closed();
}

void FileChannel::take(bool binary, const std::string& data) try {
    if (!open_) return;
    if (binary) return take_bytes(data);
    const Json message = Json::parse(data);
    take_message(JsonFields(message));
} catch (const Error& e) {
    log::debug("message of the client about files ignored", {{"error", e.what()}});
}

void FileChannel::take_message(const JsonFields& message) {
    const std::string type = message.require_string("type");
    if (type == "put") return put(message);
    if (type == "cancel") return cancel(message.require_int("id"));
    if (type == "list") return list();
    if (type == "get") return get(message);
    throw Error(ErrorCode::invalid_argument, "unknown type " + quoted(type));
}

void FileChannel::put(const JsonFields& message) {
    const std::int64_t id = message.require_int("id"), size = message.require_int("size");
    const std::string path = message.require_string("path");
    if (id == listing_id) throw_invalid("id", "must not be 0");
    if (!permissions_.files_to_instance) return fail(id, "sending files to this instance is not allowed");
    if (incoming_) return fail(id, "another file is being sent");
    if (size < 0 || static_cast<std::uint64_t>(size) > max_file)
        return fail(id, "a file may have 2 GiB at most");
    incoming_ = Incoming{.id = id, .size = static_cast<std::uint64_t>(size)};
    on_disk(id, [this, id, path]() -> EventQueue::Work {
        upload_ = folder_.begin(path);
        upload_id_ = id;
        return [this, id] { written(id, 0); };
    });
}

// Bytes of a file that has failed may still be on their way.
void FileChannel::take_bytes(const std::string& data) {
    if (!incoming_) return;
    const std::int64_t id = incoming_->id;
    incoming_->received += data.size();
    incoming_->in_hand += data.size();
    if (incoming_->finishing || incoming_->received > incoming_->size)
        return give_up(id, "the file is larger than it was said to be");
    if (incoming_->in_hand > max_in_hand) return give_up(id, "the client does not wait for the disk");
    on_disk(id, [this, id, data]() -> EventQueue::Work {
        upload(id).write(data);
        return [this, id, bytes = data.size()] { written(id, bytes); };
    });
}

void FileChannel::written(std::int64_t id, std::size_t bytes) {
    if (!incoming_ || incoming_->id != id) return;
    incoming_->in_hand -= bytes;
    const std::uint64_t on_disk_now = incoming_->received - incoming_->in_hand;
    const bool complete = on_disk_now == incoming_->size;
    if (complete || on_disk_now - incoming_->acked >= ack_every) {
        incoming_->acked = on_disk_now;
        Json message = message_of("ack", id);
        message.set("bytes", static_cast<std::int64_t>(on_disk_now));
        tell(message);
    }
    if (!complete) return;
    incoming_->finishing = true;
    on_disk(id, [this, id]() -> EventQueue::Work {
        const std::string name = upload(id).finish();
        upload_.reset();
        return [this, id, name] {
            if (!incoming_ || incoming_->id != id) return;  // cancelled too late: it is there
            incoming_.reset();
            Json message = message_of("stored", id);
            message.set("name", name);
            tell(message);
        };
    });
}

// Throws where it has failed or was cancelled meanwhile.
Upload& FileChannel::upload(std::int64_t id) {
    if (!upload_ || upload_id_ != id) throw Error(ErrorCode::cancelled, "the file is not wanted any more");
    return *upload_;
}

void FileChannel::cancel(std::int64_t id) {
    if (incoming_ && incoming_->id == id) drop_incoming();
    if (outgoing_ && outgoing_->id == id) outgoing_.reset();
}

void FileChannel::drop_incoming() {
    incoming_.reset();
    disk_queue_.post([this] { upload_.reset(); });
}

void FileChannel::list() {
    if (!permissions_.files_from_instance || std::exchange(listing_, true)) return;
    on_disk(listing_id, [this]() -> EventQueue::Work {
        return [this, files = folder_.list()] {
            listing_ = false;
            tell(Json::object({{"type", "files"}, {"files", to_json(files)}}));
        };
    });
}

void FileChannel::get(const JsonFields& message) {
    const std::int64_t id = message.require_int("id");
    const std::string name = message.require_string("name");
    if (id == listing_id) throw_invalid("id", "must not be 0");
    if (!permissions_.files_from_instance) return fail(id, "fetching files of this instance is not allowed");
    if (outgoing_) return fail(id, "another file is being fetched");
    outgoing_ = Outgoing{.id = id};
    on_disk(id, [this, id, name]() -> EventQueue::Work {
        auto file = std::make_shared<OpenFile>(folder_.open(name));
        return [this, id, file] {
            if (!outgoing_ || outgoing_->id != id) return;
            outgoing_->left = file->size;
            outgoing_->file = file;
            Json told = message_of("file", id);
            told.set("size", static_cast<std::int64_t>(file->size));
            tell(told);
            send_next();
        };
    });
}

// No faster than the client reads: a chunk is read when there is room for it.
void FileChannel::send_next() {
    if (!outgoing_ || !outgoing_->file) return;
    const std::int64_t id = outgoing_->id;
    if (outgoing_->left == 0) {
        outgoing_.reset();
        return tell(message_of("sent", id));
    }
    Peer* const peer = peer_();
    if (peer == nullptr) return outgoing_.reset();
    if (peer->buffered(label) > max_buffered)
        return queue_.after(buffer_check, [this, client = client_] {
            if (client == client_) send_next();
        });
    const std::size_t most = std::min<std::uint64_t>(chunk, outgoing_->left);
    on_disk(id, [this, id, file = outgoing_->file, most]() -> EventQueue::Work {
        return [this, id, data = read_some(*file, most)] { send_chunk(id, data); };
    });
}

void FileChannel::send_chunk(std::int64_t id, const std::string& data) {
    Peer* const peer = peer_();
    if (!outgoing_ || outgoing_->id != id || peer == nullptr) return;
    peer->send(label, true, data);
    outgoing_->left -= data.size();
    send_next();
}

void FileChannel::on_disk(std::int64_t id, std::function<EventQueue::Work()> work) {
    if (asked_ == max_asked) return give_up(id, "too many requests at a time");
    ++asked_;
    disk_queue_.post([this, id, client = client_, work = std::move(work)] {
        EventQueue::Work then;
        try {
            folder_.become_owner();
            then = work();
        } catch (const std::exception& e) {
            if (upload_id_ == id) upload_.reset();
            then = [this, id, why = std::string(e.what())] { give_up(id, why); };
        }
        queue_.post([this, client, then = std::move(then)] {
            if (client != client_) return;
            --asked_;
            then();
        });
    });
}

void FileChannel::give_up(std::int64_t id, const std::string& why) {
    const bool is_known =
        id == listing_id || (incoming_ && incoming_->id == id) || (outgoing_ && outgoing_->id == id);
    if (!is_known) return;  // it has failed before
    log::info("a file of the client was given up", {{"reason", why}});
    cancel(id);
    if (id == listing_id) listing_ = false;
    fail(id, why);
}

void FileChannel::fail(std::int64_t id, const std::string& why) {
    Json message = message_of("failed", id);
    message.set("message", why);
    tell(message);
}

void FileChannel::tell(const Json& message) {
    Peer* const peer = open_ ? peer_() : nullptr;
    if (peer != nullptr && peer->buffered(label) <= max_unread) peer->send(label, false, message.dump());
}

void FileChannel::tell_allowed() {
    tell(Json::object({{"type", "allowed"},
                       {"to_instance", permissions_.files_to_instance},
                       {"from_instance", permissions_.files_from_instance},
                       {"largest", static_cast<std::int64_t>(max_file)}}));
}

}  // namespace svc::streamer
