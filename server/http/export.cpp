#include "server/http/export.h"

#include "libsvc/base/digest.h"

namespace svc::server {

namespace {

class ExportSource final : public BodySource {
  public:
    ExportSource(std::unique_ptr<ArchiveStream> archive, std::optional<std::uint64_t> size)
        : archive_(std::move(archive)), size_(size) {}
    std::string read(std::size_t at_most) override { return archive_->read(at_most); }
    std::optional<std::uint64_t> length() const override { return size_; }

  private:
    std::unique_ptr<ArchiveStream> archive_;
    std::optional<std::uint64_t> size_;
};

Response octet_stream() {
    Response response;
    response.headers.set("Content-Type", "application/octet-stream");
    return response;
}

}  // namespace

Response send_archive(std::unique_ptr<ArchiveStream> archive, std::optional<std::uint64_t> size,
                      const std::string& file_name) {
    Response response = octet_stream();
    response.headers.set("Content-Disposition", attachment(file_name));
    response.source = std::make_unique<ExportSource>(std::move(archive), size);
    return response;
}

Response send_export(ApplicationExport prepared) {
    Response response = send_archive(std::move(prepared.archive), prepared.size, prepared.file_name);
    response.headers.set("X-SVC-Fingerprint", prepared.fingerprint);
    response.headers.set("X-SVC-ManifestSha256", prepared.manifest_sha256);
    return response;
}

Response send_manifest(std::string yaml) {
    Response response = octet_stream();
    response.headers.set("X-SVC-ManifestSha256", sha256_hex(yaml));
    response.body = std::move(yaml);
    return response;
}

std::string attachment(const std::string& file_name) {
    return "attachment; filename=\"" + file_name + "\"";
}

}  // namespace svc::server
