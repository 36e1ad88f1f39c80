#include "libsvc/services/common/measured_archive.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::size_t read_size = std::size_t{256} << 10;

class CopiedArchive final : public ArchiveStream {
  public:
    CopiedArchive(ScratchFile copy, std::string format)
        : copy_(std::move(copy)), format_(std::move(format)) {}
    std::string read(std::size_t at_most) override { return copy_.read(at_most); }
    std::string format() const override { return format_; }

  private:
    ScratchFile copy_;
    std::string format_;
};

// Whether the disk has room for what `work` does. Throws where it has none for an archive of unknown format:
// another one may have other bytes.
bool there_is_room(const std::string& format, const std::function<void()>& work) {
    try {
        work();
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::exhausted || format.empty()) throw;
        log::info("an archive is made twice", {{"reason", e.what()}});
        return false;
    }
}

// Archives of the same content and format have the same bytes.
std::unique_ptr<ArchiveStream> made_again(const ExportRequest& request, const std::string& format,
                                          LayerStore& layers) {
    auto archive = layers.export_archive(request);
    if (archive->format() != format)
        throw Error(ErrorCode::unavailable, "the archive is made in another way since a moment ago");
    return archive;
}

}  // namespace

MeasuredArchive measure_archive(std::unique_ptr<ArchiveStream> archive, const ExportRequest& request,
                                Content& content) {
    ExportDigest digest;
    digest.format = archive->format();
    std::optional<ScratchFile> copy;
    there_is_room(digest.format, [&] { copy.emplace(content.blobs().scratch()); });
    Sha256 hash;
    for (std::string part = archive->read(read_size); !part.empty(); part = archive->read(read_size)) {
        hash.update(part);
        digest.size += part.size();
        if (copy && !there_is_room(digest.format, [&] { copy->write(part); })) copy.reset();
    }
    archive.reset();
    digest.fingerprint = hash.hex();
    if (!copy) return {digest, made_again(request, digest.format, content.layers())};
    return {digest, std::make_unique<CopiedArchive>(std::move(*copy), digest.format)};
}

}  // namespace svc
