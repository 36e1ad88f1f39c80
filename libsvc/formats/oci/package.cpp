#include "libsvc/formats/oci/package.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/formats/block_compressor.h"
#include "libsvc/formats/oci/tree.h"

namespace svc {

namespace {

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
    ArchiveWriter archive_{std::make_unique<BlockCompressor>(Compression::gzip)};
};

// Android's init is the first program itself, and gets further arguments at the start (docs/android.md).
bool is_android(const OciImage& image, const OciTree& tree) {
    return tree.has("system/build.prop") && image.command.arguments.front() == "/init";
}

std::string android_init(const OciImage& image) {
    for (const std::string& word : image.command.arguments)
        if (word.find_first_of(" \t\n\"'\\") != std::string::npos)
            throw Error(ErrorCode::invalid_argument, "the OCI image gives Android's init the argument " +
                                                         quoted(word) + ", which is no plain word");
    return join(image.command.arguments, " ");
}

// JSON is YAML.
std::string metadata(const OciImage& image, bool android) {
    return Json::object({{"architecture", image.architecture},
                         {"creation_date", image.created},
                         {"properties", Json::object({{"init", android ? android_init(image) : oci_init_path},
                                                      {"profile", android ? "android" : "linux"}})}})
               .dump() +
           "\n";
}

// Counts what the layers of one image hold together.
class Count {
  public:
    explicit Count(const ArchiveLimits& limits) : limits_(limits) {}

    void begin_layer() { layer_bytes_ = 0; }
    void add(const ArchiveEntry& entry, const ArchiveReader& reader) {
        if (++entries_ > limits_.max_entries)
            refuse("has more than " + std::to_string(limits_.max_entries) + " entries");
        if (entry.kind != EntryKind::file) return;
        if (entry.size > limits_.max_bytes - bytes_)
            refuse("unpacks to more than " + std::to_string(limits_.max_bytes) + " bytes");
        bytes_ += entry.size;
        layer_bytes_ += entry.size;
        reader.check_expansion(layer_bytes_);
    }

  private:
    [[noreturn]] static void refuse(const std::string& reason) {
        throw Error(ErrorCode::invalid_argument, "the OCI image " + reason);
    }

    const ArchiveLimits limits_;
    std::uint64_t entries_ = 0, bytes_ = 0;
    std::uint64_t layer_bytes_ = 0;
};

// Goes through the entries of all layers, lowest first.
class Layers {
  public:
    Layers(const OciImage& image, const std::function<void()>& entry_seen, const ArchiveLimits& limits)
        : image_(image), entry_seen_(entry_seen), limits_(limits) {}

    template <class Take>
    void each_entry(Take take) const {
        Count count(limits_);
        for (std::size_t layer = 0; layer < image_.layers.size(); ++layer) {
            ArchiveReader reader(image_.layers[layer], ArchiveFormat::tar, limits_.expansion);
            count.begin_layer();
            ArchiveEntry entry;
            for (std::size_t number = 0; reader.next(entry); ++number) {
                if (entry_seen_) entry_seen_();
                count.add(entry, reader);
                take(OciPlace{layer, number}, entry, reader);
            }
        }
    }
    std::size_t size() const { return image_.layers.size(); }

  private:
    const OciImage& image_;
    const std::function<void()>& entry_seen_;
    const ArchiveLimits limits_;
};

OciTree tree_of(const Layers& layers) {
    OciTree tree;
    std::size_t layer = 0;
    layers.each_entry([&](OciPlace place, const ArchiveEntry& entry, ArchiveReader&) {
        for (; layer < place.layer; ++layer) tree.finish_layer();
        tree.add(entry);
    });
    for (; layer < layers.size(); ++layer) tree.finish_layer();
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
                       const std::function<void()>& entry, const ArchiveLimits& limits) {
    if (image.command.arguments.empty())
        throw Error(ErrorCode::invalid_argument, "the OCI image has neither an entry point nor a command");
    const Layers layers(image, entry, limits);
    const OciTree tree = tree_of(layers);
    const bool android = is_android(image, tree);
    PackageFile package(target);
    package.add_file("metadata.yaml", 0644, metadata(image, android));
    package.add_directory("rootfs");
    layers.each_entry([&](OciPlace place, const ArchiveEntry& original, ArchiveReader& reader) {
        const auto seen = tree.output(place, original);
        const bool is_ours = seen && "/" + seen->path == oci_init_path;  // of an image that was made here
        if (seen && !is_ours) write_entry(*seen, reader, package);
    });
    add_mount_points(tree, package);
    if (!android) package.add_file(std::string("rootfs") + oci_init_path, 0755, image.command.text());
    package.finish();
}

}  // namespace svc
