#include "libsvc/formats/oci_package.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/formats/oci_tree.h"

namespace svc {

namespace {

constexpr const char* interpreter = "#!/var/lib/svc-agent/bin/svc-agent init\n";
// File systems are mounted there.
constexpr std::array<const char*, 3> mount_points{"dev", "proc", "sys"};

// The archive, and the file that takes it piece by piece.
class PackageFile {
  public:
    explicit PackageFile(const std::filesystem::path& target)
        : file_(open_file(target, O_WRONLY | O_CREAT | O_EXCL, 0600)) {}

    void begin(const ArchiveEntry& entry) {
        archive_.begin(entry);
        drain(std::size_t{1} << 20);
    }
    void write(std::string_view bytes) {
        archive_.write(bytes);
        drain(std::size_t{1} << 20);
    }
    void add_file(const std::string& path, unsigned mode, const std::string& content) {
        ArchiveEntry entry;
        entry.path = path;
        entry.kind = EntryKind::file;
        entry.mode = mode;
        entry.size = content.size();
        begin(entry);
        write(content);
    }
    void add_directory(const std::string& path) {
        ArchiveEntry entry;
        entry.path = path;
        entry.kind = EntryKind::directory;
        entry.mode = 0755;
        begin(entry);
    }
    void finish() {
        archive_.finish();
        drain(0);
    }

  private:
    void drain(std::size_t keep) {
        while (archive_.ready() > keep) write_all(file_.get(), archive_.take(std::size_t{1} << 20));
    }

    FileDescriptor file_;
    ArchiveWriter archive_;
};

Json texts(const std::vector<std::string>& list) {
    return Json::array(JsonArray(list.begin(), list.end()));
}

std::string init_file(const OciImage& image) {
    const Json command = Json::object({{"arguments", texts(image.arguments)},
                                       {"environment", texts(image.environment)},
                                       {"directory", image.directory},
                                       {"user", image.user},
                                       {"stop_signal", image.stop_signal}});
    return interpreter + command.dump() + "\n";
}

// An init without arguments is the first program itself: the runtime knows the signals of some.
std::string first_program(const OciImage& image) {
    const std::string& program = image.arguments.front();
    const std::string name = std::filesystem::path(program).filename();
    const bool is_init = program.starts_with('/') && (name == "init" || name == "systemd");
    return is_init && image.arguments.size() == 1 ? program : oci_init_path;
}

// JSON is YAML.
std::string metadata(const OciImage& image) {
    return Json::object({{"architecture", image.architecture},
                         {"creation_date", image.created},
                         {"properties", Json::object({{"init", first_program(image)}})}})
               .dump() +
           "\n";
}

template <class Take>
void each_entry(const OciImage& image, const std::function<void()>& entry_seen, Take take) {
    for (std::size_t layer = 0; layer < image.layers.size(); ++layer) {
        ArchiveReader reader(image.layers[layer]);
        ArchiveEntry entry;
        for (std::size_t number = 0; reader.next(entry); ++number) {
            if (entry_seen) entry_seen();
            take(OciPlace{layer, number}, entry, reader);
        }
    }
}

OciTree tree_of(const OciImage& image, const std::function<void()>& entry_seen) {
    OciTree tree;
    std::size_t layer = 0;
    each_entry(image, entry_seen, [&](OciPlace place, const ArchiveEntry& entry, ArchiveReader&) {
        for (; layer < place.layer; ++layer) tree.finish_layer();
        tree.add(entry);
    });
    for (; layer < image.layers.size(); ++layer) tree.finish_layer();
    tree.finish();
    return tree;
}

// Holes of a sparse file become zeros.
void copy_content(ArchiveReader& reader, std::uint64_t size, PackageFile& package) {
    static const std::string zeros(std::size_t{1} << 16, '\0');
    std::uint64_t at = 0;
    const auto fill_to = [&](std::uint64_t end) {
        while (at < end) {
            const auto piece =
                std::string_view(zeros).substr(0, std::min<std::uint64_t>(zeros.size(), end - at));
            package.write(piece);
            at += piece.size();
        }
    };
    while (const auto block = reader.next_block()) {
        fill_to(block->offset);
        package.write(block->bytes);
        at += block->bytes.size();
    }
    fill_to(size);
}

void write_entry(const ArchiveEntry& seen, ArchiveReader& reader, PackageFile& package) {
    ArchiveEntry entry = seen;
    entry.path = "rootfs/" + entry.path;
    if (entry.kind == EntryKind::hard_link) entry.link_target = "rootfs/" + entry.link_target;
    package.begin(entry);
    if (entry.kind == EntryKind::file) copy_content(reader, entry.size, package);
}

void add_mount_points(const OciTree& tree, PackageFile& package) {
    for (const char* path : mount_points)
        if (!tree.has(path)) package.add_directory(std::string("rootfs/") + path);
}

}  // namespace

void write_oci_package(const OciImage& image, const std::filesystem::path& target,
                       const std::function<void()>& entry) {
    if (image.arguments.empty())
        throw Error(ErrorCode::invalid_argument, "the OCI image has neither an entry point nor a command");
    const OciTree tree = tree_of(image, entry);
    PackageFile package(target);
    package.add_file("metadata.yaml", 0644, metadata(image));
    package.add_directory("rootfs");
    each_entry(image, entry, [&](OciPlace place, const ArchiveEntry& original, ArchiveReader& reader) {
        if (const auto seen = tree.output(place, original)) write_entry(*seen, reader, package);
    });
    add_mount_points(tree, package);
    package.add_file(std::string("rootfs") + oci_init_path, 0755, init_file(image));
    package.finish();
}

}  // namespace svc
