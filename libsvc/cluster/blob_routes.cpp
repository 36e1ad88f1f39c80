#include "libsvc/cluster/blob_routes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

std::uint64_t whole_number(const std::string& text, std::string_view what) {
    const bool digits = !text.empty() && text.size() < 20 &&
                        std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) throw_invalid(what, "must be a number");
    return std::stoull(text);
}

// A package from an offset on. A file that is removed meanwhile is read to its end.
class BlobSource final : public BodySource {
  public:
    BlobSource(const std::filesystem::path& path, std::uint64_t from) : file_(open_file(path, O_RDONLY)) {
        struct stat status {};
        if (::fstat(file_.get(), &status) != 0) throw system_error("cannot read a package", errno);
        const auto size = static_cast<std::uint64_t>(status.st_size);
        if (from > size) throw_invalid("from", "is beyond the end");
        at_ = from;
        length_ = left_ = size - from;
    }
    std::string read(std::size_t at_most) override {
        std::string piece(std::min<std::uint64_t>({at_most, left_, 256U << 10U}), '\0');
        if (piece.empty()) return piece;
        const ssize_t got = ::pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(at_));
        if (got <= 0) throw Error(ErrorCode::internal, "package became shorter while it was sent");
        piece.resize(static_cast<std::size_t>(got));
        at_ += piece.size();
        left_ -= piece.size();
        return piece;
    }
    std::optional<std::uint64_t> length() const override { return length_; }

  private:
    FileDescriptor file_;
    std::uint64_t at_ = 0, left_ = 0, length_ = 0;
};

// Refuses in finish() what is not the package that the path names: the writer then leaves nothing.
class PushedBlob final : public BodySink {
  public:
    PushedBlob(BlobStore& local, const Request& request)
        : digest_(request.params.at("digest")), writer_(local.create(request.content_length.value_or(0))) {}
    void write(std::string_view data) override { writer_->write(data); }
    void finish() override {
        if (writer_->finish().digest != digest_)
            throw Error(ErrorCode::invalid_argument, "the bytes are not those of blob " + quoted(digest_));
    }
    void commit() { writer_->commit(); }

  private:
    const std::string digest_;
    std::unique_ptr<BlobWriter> writer_;
};

Response listed(BlobStore& local) {
    Json blobs = Json::array();
    for (const BlobInfo& blob : local.list())
        blobs.push_back(Json::object({{"digest", blob.digest}, {"size", blob.size}}));
    return json_response(200, blobs.dump());
}

Response sent(BlobStore& local, const Request& request) {
    const std::string from = request.query_value("from");
    Response response;
    response.headers.set("Content-Type", "application/octet-stream");
    response.source = std::make_unique<BlobSource>(local.path(request.params.at("digest")),
                                                   from.empty() ? 0 : whole_number(from, "from"));
    return response;
}

Response kept(Request& request) {
    auto* blob = dynamic_cast<PushedBlob*>(request.upload.get());
    if (blob == nullptr) throw Error(ErrorCode::invalid_argument, "request has no body");
    blob->commit();
    return json_response(200, "{}");
}

// A manager that has lost its lead may not know yet what the records need now.
Response removed(BlobStore& local, TermGuard& guard, const Request& request) {
    const auto entered = guard.enter(whole_number(request.headers.get(term_header), term_header));
    local.remove(request.params.at("digest"));
    return json_response(200, "{}");
}

}  // namespace

std::vector<Route> blob_routes(BlobStore& local, TermGuard& guard) {
    const std::string all(peer_blobs_path);
    const std::string one = all + "/{digest}";
    const auto route = [](Method method, const std::string& path, Handler handler) {
        return Route{method, path, Access::admin, Dispatch::on_pool, "peer_blob", std::move(handler)};
    };
    Route put = route(Method::put, one, kept);
    put.max_body = std::numeric_limits<std::int64_t>::max();  // the store has a limit
    put.open_upload = [&local](Request& request) { return std::make_shared<PushedBlob>(local, request); };
    return {route(Method::get, all, [&local](Request&) { return listed(local); }),
            route(Method::get, one, [&local](Request& request) { return sent(local, request); }),
            std::move(put), route(Method::delete_, one, [&local, &guard](Request& request) {
                return removed(local, guard, request);
            })};
}

}  // namespace svc
