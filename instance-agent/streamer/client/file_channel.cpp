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
        give_up(incoming_->turn, "sending files is not allowed any more");
    if (outgoing_ && !permissions_.files_from_instance)
        give_up(outgoing_->turn, "fetching files is not allowed any more");
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
    listing_ = false;
    drop_incoming();
    outgoing_.reset();
}

void FileChannel::control_lost() {
    if (incoming_) give_up(incoming_->turn, only_watches);
    if (outgoing_) give_up(outgoing_->turn, only_watches);
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
    const Turn turn = ++last_turn_;
    incoming_ = Incoming{.turn = turn, .id = id, .size = static_cast<std::uint64_t>(size)};
    on_disk(turn, [this, turn, path]() -> EventQueue::Work {
        upload_ = folder_.begin(path);
        upload_turn_ = turn;
        return [this, turn] { written(turn, 0); };
    });
}

// Bytes of a file that has failed may still be on their way.
void FileChannel::take_bytes(const std::string& data) {
    if (!incoming_) return;
    const Turn turn = incoming_->turn;
    incoming_->received += data.size();
    if (incoming_->finishing || incoming_->received > incoming_->size)
        return give_up(turn, "the file is larger than it was said to be");
    if (in_hand_ + data.size() > max_in_hand) return give_up(turn, "the client does not wait for the disk");
    on_disk(
        turn,
        [this, turn, data]() -> EventQueue::Work {
            upload(turn).write(data);
            return [this, turn, bytes = data.size()] { written(turn, bytes); };
        },
        data.size());
}

void FileChannel::written(Turn turn, std::size_t bytes) {
    if (!incoming_ || incoming_->turn != turn) return;
    const std::uint64_t on_disk_now = incoming_->written += bytes;
    const bool complete = on_disk_now == incoming_->size;
    if (complete || on_disk_now - incoming_->acked >= ack_every) {
        incoming_->acked = on_disk_now;
        Json message = message_of("ack", incoming_->id);
        message.set("bytes", static_cast<std::int64_t>(on_disk_now));
        tell(message);
    }
    if (!complete) return;
    incoming_->finishing = true;
    on_disk(turn, [this, turn]() -> EventQueue::Work {
        const std::string name = upload(turn).finish();
        upload_.reset();
        return [this, turn, name] {
            if (!incoming_ || incoming_->turn != turn) return;  // cancelled too late: it is there
            Json message = message_of("stored", incoming_->id);
            incoming_.reset();
            message.set("name", name);
            tell(message);
        };
    });
}

// Throws where it has failed or was cancelled meanwhile.
Upload& FileChannel::upload(Turn turn) {
    if (!upload_ || upload_turn_ != turn)
        throw Error(ErrorCode::cancelled, "the file is not wanted any more");
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
    on_disk(listing_turn, [this]() -> EventQueue::Work {
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
    const Turn turn = ++last_turn_;
    outgoing_ = Outgoing{.turn = turn, .id = id};
    on_disk(turn, [this, turn, name]() -> EventQueue::Work {
        auto file = std::make_shared<OpenFile>(folder_.open(name));
        return [this, turn, file] {
            if (!outgoing_ || outgoing_->turn != turn) return;
            outgoing_->left = file->size;
            outgoing_->file = file;
            Json told = message_of("file", outgoing_->id);
            told.set("size", static_cast<std::int64_t>(file->size));
            tell(told);
            send_next();
        };
    });
}

// No faster than the client reads: a chunk is read when there is room for it.
void FileChannel::send_next() {
    if (!outgoing_ || !outgoing_->file) return;
    const Turn turn = outgoing_->turn;
    if (outgoing_->left == 0) {
        tell(message_of("sent", outgoing_->id));
        return outgoing_.reset();
    }
    Peer* const peer = peer_();
    if (peer == nullptr) return outgoing_.reset();
    if (peer->buffered(label) > max_buffered)
        return queue_.after(buffer_check, [this, turn] {
            if (outgoing_ && outgoing_->turn == turn) send_next();
        });
    const std::size_t most = std::min<std::uint64_t>(chunk, outgoing_->left);
    on_disk(turn, [this, turn, file = outgoing_->file, most]() -> EventQueue::Work {
        return [this, turn, data = read_some(*file, most)] { send_chunk(turn, data); };
    });
}

void FileChannel::send_chunk(Turn turn, const std::string& data) {
    Peer* const peer = peer_();
    if (!outgoing_ || outgoing_->turn != turn || peer == nullptr) return;
    peer->send(label, true, data);
    outgoing_->left -= data.size();
    send_next();
}

// What waits for the disk counts until it is done, also when its client has gone.
void FileChannel::on_disk(Turn turn, std::function<EventQueue::Work()> work, std::size_t bytes) {
    if (asked_ == max_asked) return give_up(turn, "too many requests at a time");
    ++asked_;
    in_hand_ += bytes;
    disk_queue_.post([this, turn, bytes, client = client_, work = std::move(work)] {
        EventQueue::Work then;
        try {
            folder_.become_owner();
            then = work();
        } catch (const std::exception& e) {
            if (upload_turn_ == turn) upload_.reset();
            then = [this, turn, why = std::string(e.what())] { give_up(turn, why); };
        }
        queue_.post([this, bytes, client, then = std::move(then)] {
            --asked_;
            in_hand_ -= bytes;
            if (client == client_) then();
        });
    });
}

void FileChannel::give_up(Turn turn, const std::string& why) {
    std::int64_t id = listing_id;
    if (incoming_ && incoming_->turn == turn)
        id = incoming_->id;
    else if (outgoing_ && outgoing_->turn == turn)
        id = outgoing_->id;
    else if (turn != listing_turn)
        return;  // it has failed before, or was cancelled
    log::info("a file of the client was given up", {{"reason", why}});
    turn == listing_turn ? static_cast<void>(listing_ = false) : drop(turn);
    fail(id, why);
}

void FileChannel::drop(Turn turn) {
    if (incoming_ && incoming_->turn == turn) drop_incoming();
    if (outgoing_ && outgoing_->turn == turn) outgoing_.reset();
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
