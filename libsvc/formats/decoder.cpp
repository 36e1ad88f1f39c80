#include "libsvc/formats/decoder.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>

#include "libsvc/base/error.h"

namespace svc {

namespace {

// Of the decoder of xz, which an archive could make allocate 4 GiB; `xz -9` needs 65 MiB.
constexpr std::uint64_t max_xz_memory = std::uint64_t{128} << 20;
// Likewise: a frame may ask for 2 GiB to look back; all levels of `zstd` keep to 128 MiB.
constexpr int max_zstd_window_bits = 27;

unsigned at_most_int(std::size_t size) {
    return static_cast<unsigned>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

void check_started(bool started) {
    if (!started) throw Error(ErrorCode::internal, "cannot start reading an archive");
}

class GzipDecoder final : public Decoder {
  public:
    GzipDecoder() { check_started(::inflateInit2(&state_, window_bits | gzip_only) == Z_OK); }
    ~GzipDecoder() override { ::inflateEnd(&state_); }
    GzipDecoder(const GzipDecoder&) = delete;
    GzipDecoder& operator=(const GzipDecoder&) = delete;

    Step decode(std::string_view in, std::span<char> out) override {
        state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
        state_.avail_in = at_most_int(in.size());
        state_.next_out = reinterpret_cast<Bytef*>(out.data());
        state_.avail_out = at_most_int(out.size());
        const unsigned given = state_.avail_in;
        const unsigned room = state_.avail_out;
        const int result = ::inflate(&state_, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            throw_malformed_archive(state_.msg == nullptr ? "gzip is damaged" : state_.msg);
        return {given - state_.avail_in, room - state_.avail_out, result == Z_STREAM_END};
    }
    void restart() override { check_started(::inflateReset(&state_) == Z_OK); }

  private:
    static constexpr int window_bits = 15;
    static constexpr int gzip_only = 16;
    z_stream state_{};
};

class Bzip2Decoder final : public Decoder {
  public:
    Bzip2Decoder() { start(); }
    ~Bzip2Decoder() override { ::BZ2_bzDecompressEnd(&state_); }
    Bzip2Decoder(const Bzip2Decoder&) = delete;
    Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;

    Step decode(std::string_view in, std::span<char> out) override {
        state_.next_in = const_cast<char*>(in.data());
        state_.avail_in = at_most_int(in.size());
        state_.next_out = out.data();
        state_.avail_out = at_most_int(out.size());
        const unsigned given = state_.avail_in;
        const unsigned room = state_.avail_out;
        const int result = ::BZ2_bzDecompress(&state_);
        if (result == BZ_MEM_ERROR) throw Error(ErrorCode::exhausted, "not enough memory for bzip2");
        if (result != BZ_OK && result != BZ_STREAM_END) throw_malformed_archive("bzip2 is damaged");
        return {given - state_.avail_in, room - state_.avail_out, result == BZ_STREAM_END};
    }
    void restart() override {
        ::BZ2_bzDecompressEnd(&state_);
        state_ = {};
        start();
    }

  private:
    void start() { check_started(::BZ2_bzDecompressInit(&state_, 0, 0) == BZ_OK); }
    bz_stream state_{};
};

class XzDecoder final : public Decoder {
  public:
    XzDecoder() { restart(); }
    ~XzDecoder() override { ::lzma_end(&state_); }
    XzDecoder(const XzDecoder&) = delete;
    XzDecoder& operator=(const XzDecoder&) = delete;

    Step decode(std::string_view in, std::span<char> out) override {
        state_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        state_.avail_in = in.size();
        state_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
        state_.avail_out = out.size();
        const lzma_ret result = ::lzma_code(&state_, LZMA_RUN);
        if (result == LZMA_MEMLIMIT_ERROR)
            throw_malformed_archive("xz needs more than " + std::to_string(max_xz_memory >> 20) +
                                    " MiB of memory");
        if (result == LZMA_MEM_ERROR) throw Error(ErrorCode::exhausted, "not enough memory for xz");
        if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR)
            throw_malformed_archive("xz is damaged");
        return {in.size() - state_.avail_in, out.size() - state_.avail_out, result == LZMA_STREAM_END};
    }
    // A decoder that is there is used again, with its memory.
    void restart() override {
        check_started(::lzma_stream_decoder(&state_, max_xz_memory, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK);
    }

  private:
    lzma_stream state_ = LZMA_STREAM_INIT;
};

// A frame is a stream here, also one that is to be skipped.
class ZstdDecoder final : public Decoder {
  public:
    ZstdDecoder() : state_(::ZSTD_createDCtx()) {
        check_started(state_ != nullptr &&
                      ::ZSTD_isError(::ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax,
                                                              max_zstd_window_bits)) == 0);
    }

    Step decode(std::string_view in, std::span<char> out) override {
        ZSTD_inBuffer input{in.data(), in.size(), 0};
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        const std::size_t left = ::ZSTD_decompressStream(state_.get(), &output, &input);
        if (::ZSTD_isError(left) != 0) refuse(::ZSTD_getErrorCode(left));
        return {input.pos, output.pos, left == 0};
    }
    void restart() override {
        check_started(::ZSTD_isError(::ZSTD_DCtx_reset(state_.get(), ZSTD_reset_session_only)) == 0);
    }

  private:
    struct Free {
        void operator()(ZSTD_DCtx* state) const { ::ZSTD_freeDCtx(state); }
    };
    [[noreturn]] static void refuse(ZSTD_ErrorCode code) {
        if (code == ZSTD_error_memory_allocation)
            throw Error(ErrorCode::exhausted, "not enough memory for zstd");
        if (code == ZSTD_error_frameParameter_windowTooLarge)
            throw_malformed_archive("zstd needs more than " +
                                    std::to_string(1U << (max_zstd_window_bits - 20)) + " MiB of memory");
        throw_malformed_archive("zstd is damaged");
    }
    std::unique_ptr<ZSTD_DCtx, Free> state_;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(Compression compression) {
    switch (compression) {
        case Compression::none:
            return nullptr;
        case Compression::gzip:
            return std::make_unique<GzipDecoder>();
        case Compression::bzip2:
            return std::make_unique<Bzip2Decoder>();
        case Compression::xz:
            return std::make_unique<XzDecoder>();
        case Compression::zstd:
            return std::make_unique<ZstdDecoder>();
        case Compression::unknown:
            break;
    }
    throw_malformed_archive("it is no tarball, or its compression is unknown");
}

}  // namespace svc
