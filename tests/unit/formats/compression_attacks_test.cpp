// Compressed archives that are cut, changed, doubled, or ask for too much.
#include <lzma.h>
#include <zstd.h>

#include <fstream>

#include "libsvc/formats/package.h"
#include "tests/support/error_code.h"
#include "tests/unit/formats/archive_fixture.h"
#include "tests/unit/formats/raw_tar.h"

using namespace svc::test;
using Catch::Contains;

namespace {

std::string unpack_bytes(ArchiveFixture& f, const std::string& bytes) {
    svc::remove_tree(f.target);
    fs::create_directory(f.target);
    svc::write_file_atomically(f.archive, bytes);
    const std::string message = message_of([&] { svc::unpack_archive(f.archive, f.target, f.options); });
    return message.empty() ? "accepted" : message;
}

constexpr const char* small_text = "some text, some text, some text";

std::string small_archive(ArchiveFixture& f, int filter) {
    build_archive(f.archive, {file("a", small_text)}, filter);
    return svc::read_file(f.archive);
}

// Nothing where the archive is refused.
std::optional<std::string> text_in(const ArchiveFixture& f) {
    try {
        return svc::read_archive_member(f.archive, "a", 100, 1 << 20, nullptr).value_or("");
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::invalid_argument);
        return std::nullopt;
    }
}

// Zeros that say they need a dictionary of `dictionary` bytes.
std::string xz_of_zeros(std::uint32_t dictionary, std::size_t size) {
    lzma_options_lzma options;
    lzma_lzma_preset(&options, 0);
    options.dict_size = dictionary;
    lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
    const std::string zeros(size, '\0');
    std::string out(lzma_stream_buffer_bound(size), '\0');
    std::size_t made = 0;
    REQUIRE(lzma_stream_buffer_encode(
                filters, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(zeros.data()), size,
                reinterpret_cast<std::uint8_t*>(out.data()), &made, out.size()) == LZMA_OK);
    out.resize(made);
    return out;
}

// Zeros that say the decoder has to look back 1 << `window_bits` bytes.
std::string zstd_of_zeros(int window_bits, std::size_t size) {
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> state(ZSTD_createCCtx(), &ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(state.get(), ZSTD_c_windowLog, window_bits);
    const std::string zeros(size, '\0');
    std::string out(ZSTD_compressBound(size), '\0');
    ZSTD_inBuffer input{zeros.data(), size, 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    // In two steps, as the size of the whole would make the window smaller.
    REQUIRE(ZSTD_isError(ZSTD_compressStream2(state.get(), &output, &input, ZSTD_e_continue)) == 0);
    REQUIRE(ZSTD_compressStream2(state.get(), &output, &input, ZSTD_e_end) == 0);
    out.resize(output.pos);
    return out;
}

// A zip archive of one entry with a method that is not decoded here.
std::string zip_with_method(unsigned method) {
    const auto number = [](std::uint64_t value, int bytes) {
        std::string text;
        for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
        return text;
    };
    const std::string name = "manifest.yaml";
    const std::string sizes =
        number(method, 2) + number(0, 4) + number(0xBD1A0BEA, 4) + number(4, 4) + number(4, 4);
    const std::string local =
        "PK\3\4" + number(63, 2) + number(0, 2) + sizes + number(name.size(), 2) + number(0, 2) + name;
    const std::string central = "PK\1\2" + number(63, 2) + number(63, 2) + number(0, 2) + sizes +
                                number(name.size(), 2) + number(0, 2) + number(0, 2) + number(0, 2) +
                                number(0, 2) + number(0, 4) + number(0, 4) + name;
    return local + "a: b" + central + "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) +
           number(central.size(), 4) + number(local.size() + 4, 4) + number(0, 2);
}

}  // namespace

TEST_CASE("an archive that is cut at any byte is refused") {
    for (const auto& [filter, compression] : compressions) {
        if (compression == svc::Compression::none) continue;
        ArchiveFixture f;
        const std::string whole = small_archive(f, filter);
        CHECK(text_in(f) == small_text);
        for (std::size_t size = whole.size(); size-- > 0;) {
            fs::resize_file(f.archive, size);
            if (text_in(f)) FAIL_CHECK(svc::to_text(compression) << " cut at " << size);
        }
    }
}

TEST_CASE("an archive with one bit changed is refused or the same as before") {
    for (const auto& [filter, compression] : compressions) {
        if (compression == svc::Compression::none) continue;
        // libarchive's writer leaves out the checksum; an OCI layer has its digest.
        if (compression == svc::Compression::zstd) continue;
        ArchiveFixture f;
        const std::string whole = small_archive(f, filter);
        for (std::size_t bit = 0; bit < whole.size() * 8; bit += 3) {
            std::string changed = whole;
            changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
            std::ofstream(f.archive) << changed;
            if (const auto text = text_in(f); text && text != small_text)
                FAIL_CHECK(svc::to_text(compression) << " with bit " << bit << " changed");
        }
    }
}

TEST_CASE("an archive of several compressed streams is one, and nothing else follows them") {
    for (const auto& [filter, compression] : compressions) {
        if (compression == svc::Compression::none) continue;
        ArchiveFixture f;
        const std::string tar =
            raw_entry({.name = "rootfs/", .type = '5'}) + raw_entry({.name = "rootfs/a"}, "x") + raw_end;
        std::string streams;
        for (const std::string& part : {tar.substr(0, 700), tar.substr(700)}) {
            svc::write_file_atomically(f.archive, part);
            compress_file(f.archive, filter);
            streams += svc::read_file(f.archive);
        }
        INFO(svc::to_text(compression));
        CHECK(unpack_bytes(f, streams) == "accepted");
        for (const std::string& rest : {std::string("x"), std::string(512, '\0'), raw_entry({.name = "b"})})
            CHECK_THAT(unpack_bytes(f, streams + rest), Catch::StartsWith("archive is malformed: "));
        CHECK_THAT(unpack_bytes(f, streams + streams), Contains("bytes follow its end"));
    }
}

TEST_CASE("an archive in two compressions is refused") {
    for (const auto& [outer, name] : compressions)
        for (const auto& [inner, inner_name] : compressions) {
            if (name == svc::Compression::none || inner_name == svc::Compression::none) continue;
            ArchiveFixture f;
            small_archive(f, inner);
            compress_file(f.archive, outer);
            INFO(svc::to_text(inner_name) << " in " << svc::to_text(name));
            CHECK_THAT(unpack_bytes(f, svc::read_file(f.archive)),
                       Catch::StartsWith("archive is malformed: "));
            CHECK(code_of([&] { svc::read_archive_member(f.archive, "rootfs/a", 100, 1 << 20, nullptr); }) ==
                  svc::ErrorCode::invalid_argument);
        }
}

TEST_CASE("xz gets no more memory than its best preset needs") {
    ArchiveFixture f;
    CHECK_THAT(unpack_bytes(f, xz_of_zeros(256U << 20, 1U << 20)),
               Contains("xz needs more than 128 MiB of memory"));
    CHECK_THAT(unpack_bytes(f, xz_of_zeros(64U << 20, 1U << 20)), !Contains("memory"));
}

TEST_CASE("zstd gets no more memory than its levels need") {
    ArchiveFixture f;
    CHECK_THAT(unpack_bytes(f, zstd_of_zeros(28, 1U << 20)),
               Contains("zstd needs more than 128 MiB of memory"));
    CHECK_THAT(unpack_bytes(f, zstd_of_zeros(27, 1U << 20)), !Contains("memory"));
}

TEST_CASE("compressed zeros end at the limit, also where they belong to no file") {
    const std::string folder = raw_entry({.name = "rootfs/", .type = '5'});
    const std::string zeros(40U << 20, '\0');
    const std::string size = octal(zeros.size());
    for (const std::string& entry :
         {raw_header({.name = "rootfs/f", .size = size}),
          raw_header({.name = "rootfs/l", .type = '1', .size = size, .link = "rootfs/f"}),
          raw_header({.name = "other", .type = 'Z', .size = size})}) {
        ArchiveFixture f;
        f.options.limits.expansion = {.always = 1U << 20, .max_times = 10};
        svc::write_file_atomically(f.archive, folder + entry + zeros + raw_end);
        compress_file(f.archive, GENERATE(ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD));
        CHECK(code_of([&] { svc::unpack_archive(f.archive, f.target, f.options); }) ==
              svc::ErrorCode::invalid_argument);
        CHECK(!fs::exists(f.target / "f"));
    }
}

TEST_CASE("streams without content do not go on for ever") {
    for (const auto& [filter, compression] : compressions) {
        if (compression == svc::Compression::none) continue;
        ArchiveFixture f;
        svc::write_file_atomically(f.archive, "");
        compress_file(f.archive, filter);
        const std::string empty = svc::read_file(f.archive);
        std::string many;
        for (int i = 0; i < 1100; ++i) many += empty;
        CHECK_THAT(unpack_bytes(f, many), Contains("too many empty streams"));
    }
}

TEST_CASE("a zip archive with other compressions than deflate is refused") {
    svc::test::ArchiveFixture f;
    svc::write_file_atomically(f.archive, zip_with_method(0));
    CHECK(svc::list_package(f.archive).manifest == "a: b");
    for (const unsigned method : {9U, 12U, 14U, 93U, 95U, 98U}) {
        svc::write_file_atomically(f.archive, zip_with_method(method));
        CHECK_THROWS_WITH(svc::list_package(f.archive), Contains("is malformed"));
    }
}

TEST_CASE("the directory of a zip archive is limited") {
    svc::test::ArchiveFixture f;
    const std::string one = zip_with_method(0);
    const std::size_t central = one.find("PK\1\2");
    const std::size_t end = one.find("PK\5\6");
    std::string many = one.substr(0, central);
    while (many.size() < (34U << 20)) many += one.substr(central, end - central);
    svc::write_file_atomically(f.archive, many + one.substr(end));
    CHECK(code_of([&] { svc::list_package(f.archive); }) == svc::ErrorCode::invalid_argument);
}

TEST_CASE("a file that is several formats at once is one of them to every reader, or refused") {
    svc::test::ArchiveFixture f;
    build_archive(f.archive, {file("manifest.yaml", "of: tar")}, ARCHIVE_FILTER_BZIP2);
    const std::string tar = svc::read_file(f.archive);
    const std::string zip = zip_with_method(0);
    svc::write_file_atomically(f.archive, tar + zip);
    CHECK(code_of([&] { svc::list_package(f.archive); }) == svc::ErrorCode::invalid_argument);
    svc::write_file_atomically(f.archive, zip + tar);
    const auto code = code_of([&] { CHECK(svc::list_package(f.archive).manifest == "a: b"); });
    CHECK((!code || code == svc::ErrorCode::invalid_argument));
}
