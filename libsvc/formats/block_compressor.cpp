#include "libsvc/formats/block_compressor.h"

#include <pthread.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t compressed_block_bytes = std::size_t{1} << 20;
constexpr unsigned most_cores = 8;  // so many blocks are more than a connection takes
constexpr std::size_t sample_bytes = std::size_t{4} << 10;
constexpr std::size_t sample_count = 4;
constexpr int gzip_format = 15 | 16;  // the largest window; a header and a checksum of gzip

[[noreturn]] void throw_not_compressed(const char* reason) {
    throw Error(ErrorCode::internal, std::string("cannot compress: ") + reason);
}

struct EndDeflate {
    void operator()(z_stream* state) const { ::deflateEnd(state); }
};

// The header names no time, so that the same block always gives the same member.
std::string deflated(std::string_view bytes, int level) {
    z_stream state{};
    if (::deflateInit2(&state, level, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw_not_compressed("out of memory");
    const std::unique_ptr<z_stream, EndDeflate> end(&state);
    std::string out(::deflateBound(&state, static_cast<uLong>(bytes.size())), '\0');
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    state.avail_in = static_cast<uInt>(bytes.size());
    state.next_out = reinterpret_cast<Bytef*>(out.data());
    state.avail_out = static_cast<uInt>(out.size());
    if (::deflate(&state, Z_FINISH) != Z_STREAM_END) throw_not_compressed("gzip is stuck");
    out.resize(state.total_out);
    return out;
}

// gzip is slowest with what is compressed already, as pictures and packages are, and makes it no smaller. A
// few samples tell.
bool can_be_deflated(std::string_view block) {
    if (block.size() < 2 * sample_count * sample_bytes) return true;
    std::string samples;
    for (std::size_t i = 0; i < sample_count; ++i)
        samples += block.substr(i * (block.size() / sample_count), sample_bytes);
    return deflated(samples, 1).size() < samples.size() / 100 * 97;
}

std::string gzip_member(std::string_view block) {
    return deflated(block, can_be_deflated(block) ? 1 : 0);
}

struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ::ZSTD_freeCCtx(context); }
};

std::size_t checked(std::size_t result) {
    if (::ZSTD_isError(result) != 0) throw_not_compressed(::ZSTD_getErrorName(result));
    return result;
}

std::string zstd_frame(std::string_view block) {
    const std::unique_ptr<ZSTD_CCtx, FreeContext> context(::ZSTD_createCCtx());
    if (!context) throw_not_compressed("out of memory");
    checked(::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, 1));
    checked(::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1));
    std::string out(::ZSTD_compressBound(block.size()), '\0');
    out.resize(checked(::ZSTD_compress2(context.get(), out.data(), out.size(), block.data(), block.size())));
    return out;
}

std::string compressed(const std::string& block, Compression compression) {
    return compression == Compression::zstd ? zstd_frame(block) : gzip_member(block);
}

// On a thread of its own; by the caller, later, where the machine has no more threads.
std::future<std::string> begin_compressing(std::string block, Compression compression) {
    auto work = [block = std::make_shared<const std::string>(std::move(block)), compression] {
        return compressed(*block, compression);
    };
    try {
        return std::async(std::launch::async, [work] {
            ::pthread_setname_np(::pthread_self(), "compress");
            return work();
        });
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, work);
    }
}

}  // namespace

BlockCompressor::BlockCompressor(Compression compression)
    : compression_(compression), cores_(std::clamp(std::thread::hardware_concurrency(), 1U, most_cores)) {
    if (compression != Compression::gzip && compression != Compression::zstd)
        throw_not_compressed("only by gzip and zstd");
}

BlockCompressor::~BlockCompressor() = default;

std::string BlockCompressor::format() const {
    const char* const release = compression_ == Compression::zstd ? ::ZSTD_versionString() : ::zlibVersion();
    return std::string(to_text(compression_)) + " " + release + " in MiB";
}

void BlockCompressor::write(std::string_view bytes, std::string& out) {
    while (!bytes.empty()) {
        const std::string_view part = bytes.substr(0, compressed_block_bytes - block_.size());
        block_ += part;
        bytes.remove_prefix(part.size());
        if (block_.size() == compressed_block_bytes) begin_block(out);
    }
}

void BlockCompressor::begin_block(std::string& out) {
    if (blocks_.size() == cores_) {
        out += blocks_.front().get();
        blocks_.pop_front();
    }
    blocks_.push_back(begin_compressing(std::exchange(block_, {}), compression_));
}

// What is smaller than a block needs no thread.
void BlockCompressor::finish(std::string& out) {
    for (; !blocks_.empty(); blocks_.pop_front()) out += blocks_.front().get();
    if (!block_.empty()) out += compressed(std::exchange(block_, {}), compression_);
}

}  // namespace svc
