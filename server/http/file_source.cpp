#include "server/http/file_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::server {

namespace {

// Gives no more bytes than length() said, although the file may grow meanwhile.
class FileSource final : public BodySource {
  public:
    FileSource(FileDescriptor file, std::uint64_t size) : file_(std::move(file)), size_(size), left_(size) {}

    std::string read(std::size_t at_most) override {
        std::string piece(std::min<std::uint64_t>({at_most, left_, 256U << 10U}), '\0');
        if (piece.empty()) return piece;
        const ssize_t got = ::read(file_.get(), piece.data(), piece.size());
        if (got <= 0) throw Error(ErrorCode::internal, "file became shorter while it was sent");
        piece.resize(static_cast<std::size_t>(got));
        left_ -= piece.size();
        return piece;
    }
    std::optional<std::uint64_t> length() const override { return size_; }

  private:
    FileDescriptor file_;
    std::uint64_t size_;
    std::uint64_t left_;
};

}  // namespace

Response stream_file(const std::filesystem::path& path, std::string_view what, std::string content_type) {
    struct stat status {};
    FileDescriptor file;
    try {
        file = open_file(path, O_RDONLY);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found) throw Error(e.code(), std::string(what) + " not found");
        throw;
    }
    if (fstat(file.get(), &status) != 0) throw system_error("cannot read " + std::string(what), errno);
    Response response;
    response.headers.set("Content-Type", std::move(content_type));
    response.source =
        std::make_unique<FileSource>(std::move(file), static_cast<std::uint64_t>(status.st_size));
    return response;
}

}  // namespace svc::server
