#include "instance-agent/streamer/guest_display/shared_buffer.h"

#include <linux/udmabuf.h>
#include <sys/ioctl.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/streamer/guest_display/display_packets.h"
#include "tests/support/skip.h"

namespace svc::streamer {
namespace {

constexpr std::uint32_t rgba = SVCGUEST_RGBA;
const BufferShape good{16, 8, 64, 0, rgba, 0};
constexpr std::size_t good_size = std::size_t{64} * 8;

std::string refusal(const BufferShape& shape, FileDescriptor memory) {
    try {
        SharedBuffer buffer(shape, std::move(memory));
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

TEST_CASE("shapes of shared buffers that are refused") {
    struct Row {
        BufferShape shape;
        std::string why;
    };
    const std::vector<Row> rows{
        {{1, 8, 64, 0, rgba, 0}, "width"},
        {{16, 0, 64, 0, rgba, 0}, "height"},
        {{4097, 8, 4097 * 4, 0, rgba, 0}, "width"},
        {{16, 4097, 64, 0, rgba, 0}, "height"},
        {{0x40000001, 8, 4, 0, rgba, 0}, "width"},
        {{16, 8, 60, 0, rgba, 0}, "rows"},
        {{16, 8, 66, 0, rgba, 0}, "rows"},
        {{16, 8, 32772, 0, rgba, 0}, "rows"},
        {{16, 8, 0xfffffffc, 0, rgba, 0}, "rows"},
        {{16, 8, 64, 2, rgba, 0}, "offset"},
        {{16, 8, 64, 0xfffffffc, rgba, 0}, "offset"},
        {{16, 8, 64, 4, rgba, 0}, "smaller than its pixels"},
        {{16, 9, 64, 0, rgba, 0}, "smaller than its pixels"},
        {{16, 8, 64, 0, 0, 0}, "format"},
        {{16, 8, 64, 0, 0x32315659, 0}, "format"},  // YV12
        {{16, 8, 64, 0, rgba, 1}, "modifier"},
        {{16, 8, 64, 0, rgba, 0x00ffffffffffffff}, "modifier"},
    };
    for (const Row& row : rows) {
        INFO(row.why);
        CHECK_THAT(refusal(row.shape, memory_of(good_size)), Catch::Contains(row.why));
    }
    CHECK(refusal(good, memory_of(good_size)).empty());
}

TEST_CASE("memory that could be taken away is refused") {
    CHECK_THAT(refusal(good, memory_of(good_size, 0)), Catch::Contains("F_SEAL_SHRINK"));
    CHECK_THAT(refusal(good, memory_of(good_size, F_SEAL_GROW)), Catch::Contains("F_SEAL_SHRINK"));
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-display-");
    FileDescriptor file = open_file(folder.path() / "file", O_RDWR | O_CREAT);
    write_all(file.get(), std::string(good_size, 'x'));
    CHECK_THAT(refusal(good, std::move(file)), Catch::Contains("neither a memfd nor a dmabuf"));
    CHECK_THAT(refusal(good, open_file("/dev/shm", O_RDONLY)), Catch::Contains("neither"));
    CHECK_THAT(refusal(good, open_file("/dev/zero", O_RDWR)), Catch::Contains("neither"));
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const FileDescriptor other(ends[1]);
    CHECK_THAT(refusal(good, FileDescriptor(ends[0])), Catch::Contains("neither"));
    CHECK_THAT(refusal(good, FileDescriptor()), Catch::Contains("neither"));
}

TEST_CASE("memory of huge pages is refused") {
    FileDescriptor memory(memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    if (!memory) test::skip("needs a kernel with huge pages");
    REQUIRE(ftruncate(memory.get(), 2U << 20) == 0);
    REQUIRE(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    CHECK_THAT(refusal(good, std::move(memory)), Catch::Contains("neither a memfd nor a dmabuf"));
}

TEST_CASE("frame shows the memory itself, and tells when the last of its holders is gone") {
    FileDescriptor memory = memory_of(good_size + 64);
    const FileDescriptor same(dup(memory.get()));
    int returned = 0;
    auto buffer =
        std::make_shared<const SharedBuffer>(BufferShape{16, 8, 64, 64, SVCGUEST_BGRX, 0}, std::move(memory));
    CHECK(buffer->size() == good_size + 64);
    auto frame = SharedBuffer::frame_of(buffer, [&] { ++returned; });
    buffer.reset();
    CHECK(frame->width == 16);
    CHECK(frame->height == 8);
    CHECK(frame->stride == 64);
    CHECK(frame->format == PixelFormat::bgrx);
    REQUIRE(pwrite(same.get(), "\x2a", 1, 64) == 1);
    CHECK(frame->pixels[0] == 0x2a);
    CHECK(ftruncate(same.get(), 0) != 0);  // the seal
    REQUIRE(fallocate(same.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, good_size + 64) == 0);
    CHECK(frame->pixels[good_size - 1] == 0);
    auto other = frame;
    frame.reset();
    CHECK(returned == 0);
    other.reset();
    CHECK(returned == 1);
}

TEST_CASE("a dmabuf is read where it lies") {
    if (access("/dev/udmabuf", F_OK) != 0) test::skip("needs a kernel with /dev/udmabuf");
    const FileDescriptor device = open_file("/dev/udmabuf", O_RDWR);
    const std::size_t size = 4096;
    const FileDescriptor memory = memory_of(size);
    udmabuf_create create{};
    create.memfd = static_cast<__u32>(memory.get());
    create.size = size;
    FileDescriptor dmabuf(ioctl(device.get(), UDMABUF_CREATE, &create));
    REQUIRE(dmabuf);
    const auto buffer = std::make_shared<const SharedBuffer>(good, std::move(dmabuf));
    REQUIRE(pwrite(memory.get(), "\x2a", 1, 0) == 1);
    int returned = 0;
    auto frame = SharedBuffer::frame_of(buffer, [&] { ++returned; });
    CHECK(frame->pixels[0] == 0x2a);
    frame.reset();
    CHECK(returned == 1);
}

}  // namespace
}  // namespace svc::streamer
