#include "libsvc/model/instances/capture.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::array<EnumName<CaptureRequest::Kind>, 2> capture_kinds{
    {{CaptureRequest::Kind::screenshot, "screenshot"}, {CaptureRequest::Kind::recording, "recording"}}};
constexpr std::size_t block_head = 5;

std::size_t most_bytes(char kind) {
    switch (static_cast<CaptureBlock>(kind)) {
        case CaptureBlock::data:
            return largest_capture_block;
        case CaptureBlock::whole:
            return 0;
        case CaptureBlock::busy:
        case CaptureBlock::failed:
            return longest_capture_error;
    }
    throw Error(ErrorCode::unavailable, "the streamer does not answer as one");
}

std::string printable(std::string text) {
    std::erase_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    return text.empty() ? "the streamer gives no reason" : text;
}

}  // namespace

std::string_view to_text(CaptureRequest::Kind kind) {
    return enum_text<CaptureRequest::Kind>(capture_kinds, kind);
}

Json CaptureRequest::to_json() const {
    Json json = Json::object({{"take", to_text(kind)}});
    if (kind == Kind::recording) json.set("seconds", length.count());
    return json;
}

CaptureRequest CaptureRequest::parse(const std::string& line) {
    const Json json = Json::parse(line);
    const JsonFields fields(json);
    CaptureRequest request;
    const auto kind = enum_value<CaptureRequest::Kind>(capture_kinds, fields.require_string("take"));
    if (!kind) throw_invalid("take", "must be screenshot or recording");
    request.kind = *kind;
    if (request.kind == Kind::screenshot) return request;
    request.length = std::chrono::seconds(fields.require_int("seconds"));
    if (request.length.count() < 1 || request.length > longest_recording)
        throw_invalid("seconds", "must be from 1 to " + std::to_string(longest_recording.count()));
    return request;
}

std::string capture_block(CaptureBlock kind, std::string_view bytes) {
    std::string block(1, static_cast<char>(kind));
    for (int shift = 0; shift < 32; shift += 8)
        block.push_back(static_cast<char>(bytes.size() >> shift & 0xff));
    return block.append(bytes);
}

std::string CaptureBlocks::take(std::string_view bytes) {
    std::string data;
    while (!bytes.empty()) {
        if (whole_) throw Error(ErrorCode::unavailable, "the streamer goes on after the end");
        std::string& into = !inside_ ? head_ : kind_ == CaptureBlock::data ? data : said_;
        const std::size_t taken = std::min(bytes.size(), inside_ ? left_ : block_head - head_.size());
        into += bytes.substr(0, taken);
        bytes.remove_prefix(taken);
        if (inside_)
            left_ -= taken;
        else if (head_.size() == block_head)
            start_block();
        if (inside_ && left_ == 0) end_block();
    }
    return data;
}

void CaptureBlocks::start_block() {
    left_ = 0;
    for (std::size_t i = block_head - 1; i > 0; --i)
        left_ = left_ << 8 | static_cast<unsigned char>(head_[i]);
    if (left_ > most_bytes(head_[0])) throw Error(ErrorCode::unavailable, "the streamer's block is too long");
    kind_ = static_cast<CaptureBlock>(head_[0]);
    head_.clear();
    inside_ = true;
}

void CaptureBlocks::end_block() {
    inside_ = false;
    whole_ = kind_ == CaptureBlock::whole;
    if (kind_ == CaptureBlock::busy) throw Error(ErrorCode::busy, printable(said_));
    if (kind_ == CaptureBlock::failed) throw Error(ErrorCode::unavailable, printable(said_));
}

}  // namespace svc
