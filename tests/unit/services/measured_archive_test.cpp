// Archives whose digest goes ahead of them.
#include "libsvc/services/common/measured_archive.h"

#include "libsvc/base/digest.h"
#include "tests/support/small_disk.h"
#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string incompressible(std::size_t bytes) {
    std::string result;
    while (result.size() < bytes) result += random_bytes(1U << 20);
    return result;
}

// What it makes is as long as a test needs it.
class LongArchive final : public ArchiveStream {
  public:
    LongArchive(std::string bytes, std::string format)
        : bytes_(std::move(bytes)), format_(std::move(format)) {}
    std::string read(std::size_t at_most) override {
        std::string piece = bytes_.substr(read_, at_most);
        read_ += piece.size();
        return piece;
    }
    std::string format() const override { return format_; }

  private:
    std::string bytes_, format_;
    std::size_t read_ = 0;
};

// How many files without a name this process has open that were made below the folder.
std::size_t nameless_files(const std::filesystem::path& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code closed;
        const std::string target = std::filesystem::read_symlink(entry, closed).native();
        if (target.starts_with(folder.native() + "/") && target.ends_with(" (deleted)")) ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("an archive is made twice where the disk has no room for it") {
    ApplicationFixture world;
    world.created();
    const std::string bytes = incompressible(12U << 20);
    const std::uint64_t files =
        GENERATE(0U, 2U);  // 0: plenty; 2: those of its folders, so that none can be made
    on_small_disk(
        8U << 20,
        [&](const std::filesystem::path& disk) {
            DirBlobStore small({.root = disk, .reserve_bytes = 0});
            Content content(small, world.layers);
            world.layers.next_export(std::make_unique<LongArchive>(bytes, "ours"));
            const MeasuredArchive made =
                measure_archive(std::make_unique<LongArchive>(bytes, "ours"), {}, content);
            CHECK(made.digest.fingerprint == sha256_hex(bytes));
            CHECK(made.digest.size == bytes.size());
            CHECK(nameless_files(disk) == 0);
            CHECK(free_bytes(disk) > (7U << 20));
            CHECK(read_all(*made.archive) == bytes);
        },
        files);
}

TEST_CASE("where the disk has no room, an archive that cannot be made again is refused") {
    ApplicationFixture world;
    DirBlobStore full({.root = world.directory.path() / "full", .reserve_bytes = std::uint64_t{1} << 62});
    Content content(full, world.layers);
    CHECK_THAT(message_of([&] { measure_archive(std::make_unique<OldArchive>("old"), {}, content); }),
               Catch::StartsWith("not enough space for a temporary file after 0 bytes: "));
    CHECK(code_of([&] { measure_archive(std::make_unique<OldArchive>("old"), {}, content); }) ==
          ErrorCode::exhausted);
    world.layers.next_export(std::make_unique<LongArchive>("new", "of another release"));
    CHECK(code_of([&] { measure_archive(std::make_unique<LongArchive>("new", "ours"), {}, content); }) ==
          ErrorCode::unavailable);
}

TEST_CASE("a first export that is left in the middle leaves no file") {
    ApplicationFixture world;
    world.created();
    world.layers.next_export(std::make_unique<LongArchive>(incompressible(1U << 20), "ours"));
    {
        const ApplicationExport made = world.service().exports().export_version("candy", 0);
        made.archive->read(1000);
        CHECK(nameless_files(world.directory.path()) == 1);
    }
    CHECK(nameless_files(world.directory.path()) == 0);
}
