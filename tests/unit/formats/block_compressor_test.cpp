#include "libsvc/formats/block_compressor.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/formats/decoder.h"

using namespace svc;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::string compress_by(Compression compression, std::string_view bytes, std::size_t step) {
    BlockCompressor compressor(compression);
    std::string out;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size())))
        compressor.write(bytes.substr(0, step), out);
    compressor.finish(out);
    return out;
}

std::string decompress_all(Compression compression, std::string_view bytes) {
    const auto decoder = make_decoder(compression);
    std::string out, piece(mebibyte, '\0');
    while (!bytes.empty()) {
        const Decoder::Step step = decoder->decode(bytes, piece);
        bytes.remove_prefix(step.taken);
        out.append(piece, 0, step.made);
        if (step.ended) decoder->restart();
        REQUIRE(step.taken + step.made > 0);
    }
    return out;
}

// Text, what cannot be compressed, and zeros, not at the borders of blocks.
std::string mixed_content() {
    std::string text;
    while (text.size() < mebibyte * 3 / 2) text += "line " + std::to_string(text.size()) + "\n";
    return text + random_bytes(3 * mebibyte) + std::string(2 * mebibyte + 7, '\0');
}

}  // namespace

TEST_CASE("blocks are read as one stream, whatever the compression") {
    const std::string content = mixed_content();
    for (const Compression compression : {Compression::gzip, Compression::zstd})
        CHECK(decompress_all(compression, compress_by(compression, content, 10'240)) == content);
}

TEST_CASE("the compressed bytes depend on the content alone") {
    const std::string content = mixed_content();
    for (const Compression compression : {Compression::gzip, Compression::zstd})
        CHECK(compress_by(compression, content, 10'240) == compress_by(compression, content, 3 * mebibyte));
}

TEST_CASE("text becomes smaller, and what cannot hardly larger") {
    const std::string noise = random_bytes(3 * mebibyte);
    for (const Compression compression : {Compression::gzip, Compression::zstd}) {
        CHECK(compress_by(compression, std::string(3 * mebibyte, 'a'), mebibyte).size() < mebibyte / 10);
        CHECK(compress_by(compression, noise, mebibyte).size() < noise.size() + noise.size() / 1000);
    }
}

TEST_CASE("nothing is compressed to nothing, and a compressor may be left in the middle") {
    CHECK(compress_by(Compression::gzip, "", 1).empty());
    BlockCompressor left(Compression::zstd);
    std::string out;
    left.write(random_bytes(20 * mebibyte), out);
}

TEST_CASE("only gzip and zstd are made") {
    CHECK_THROWS_AS(BlockCompressor(Compression::xz), Error);
    CHECK(BlockCompressor(Compression::gzip).format().starts_with("gzip "));
    CHECK(BlockCompressor(Compression::zstd).format().starts_with("zstd "));
    CHECK(written_compression("zstd") == Compression::zstd);
    CHECK_THROWS_WITH(written_compression("rar"),
                      "argument compression is invalid: 'rar' is not one of gzip, zstd");
}
