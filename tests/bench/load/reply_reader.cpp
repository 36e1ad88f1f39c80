#include "tests/bench/load/reply_reader.h"

#include <algorithm>
#include <charconv>

#include "libsvc/base/error.h"

namespace svc::bench {

namespace {

constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::size_t max_head = 64U << 10;

// The value of a header field, as Go and we write its name.
std::string_view field(std::string_view head, std::string_view name) {
    const auto at = head.find(name);
    if (at == std::string_view::npos) return {};
    const auto begin = at + name.size();
    return head.substr(begin, head.find('\r', begin) - begin);
}

std::uint64_t number(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (end.ec != std::errc()) throw Error(ErrorCode::invalid_argument, "reply is malformed");
    return value;
}

}  // namespace

// What belongs to the head goes there, even when its end is split between two reads.
bool ReplyReader::take_head(std::string_view& data) {
    const std::size_t before = head_.size();
    const std::size_t look_back = std::min(before, head_end.size() - 1);
    head_.append(data);
    const auto end = head_.find(head_end, before - look_back);
    if (end == std::string::npos) {
        if (head_.size() > max_head) throw Error(ErrorCode::invalid_argument, "reply's head has no end");
        data = {};
        return false;
    }
    head_.resize(end + head_end.size());
    data.remove_prefix(head_.size() - before);
    return true;
}

void ReplyReader::begin_body() {
    if (!head_.starts_with("HTTP/1.1 ")) throw Error(ErrorCode::invalid_argument, "reply is malformed");
    status_ = static_cast<int>(number(std::string_view(head_).substr(9, 3), 10));
    if (head_.find("\r\nTransfer-Encoding: chunked") != std::string::npos) {
        state_ = State::chunk_size;
        return;
    }
    const auto length = field(head_, "\r\nContent-Length: ");
    left_ = length.empty() ? 0 : number(length, 10);
    state_ = State::body;
}

bool ReplyReader::skip(std::string_view& data) {
    const auto now = std::min<std::uint64_t>(left_, data.size());
    data.remove_prefix(now);
    left_ -= now;
    return left_ == 0;
}

bool ReplyReader::take_line(std::string_view& data) {
    const auto end = data.find('\n');
    line_.append(data.substr(0, end));
    data.remove_prefix(end == std::string_view::npos ? data.size() : end + 1);
    return end != std::string_view::npos;
}

void ReplyReader::take_chunk_size() {
    left_ = number(line_, 16);
    state_ = left_ > 0 ? State::chunk : State::trailer;
    line_.clear();
}

bool ReplyReader::feed(std::string_view& data) {
    while (!data.empty() || (state_ == State::body && left_ == 0)) {
        switch (state_) {
            case State::head:
                if (status_ != 0) head_.clear(), status_ = 0;
                if (take_head(data)) begin_body();
                break;
            case State::body:
                if (!skip(data)) break;
                state_ = State::head;
                return true;
            case State::chunk_size:
                if (take_line(data)) take_chunk_size();
                break;
            case State::chunk:
                if (skip(data)) state_ = State::chunk_end;
                break;
            case State::chunk_end:
                if (take_line(data)) line_.clear(), state_ = State::chunk_size;
                break;
            case State::trailer: {
                if (!take_line(data)) break;
                const bool last = line_ == "\r" || line_.empty();
                line_.clear();
                if (!last) break;
                state_ = State::head;
                return true;
            }
        }
    }
    return false;
}

}  // namespace svc::bench
