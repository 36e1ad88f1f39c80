#include "libsvc/remote/image_server.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/remote/directory_tree.h"
#include "libsvc/remote/proxy_choice.h"
#include "libsvc/remote/remote_http.h"
#include "libsvc/remote/simplestreams.h"
#include "libsvc/remote/verified_bytes.h"

namespace svc {

namespace {

constexpr std::size_t max_images = 100'000;

// Files of the server by their path.
class Files {
  public:
    virtual ~Files() = default;
    virtual std::string read(const std::string& path) const = 0;  // of at most max_index_bytes
    virtual void read(const std::string& path, const std::function<void(std::string_view)>& write) const = 0;
};

class DirectoryFiles final : public Files {
  public:
    explicit DirectoryFiles(std::filesystem::path root) : tree_(std::move(root)) {}
    std::string read(const std::string& path) const override { return tree_.read(path, max_index_bytes); }
    void read(const std::string& path, const std::function<void(std::string_view)>& write) const override {
        tree_.read(path, write);
    }

  private:
    DirectoryTree tree_;
};

std::string authorization(const std::string& auth) {
    if (auth.empty()) return "";
    return auth.find(':') != std::string::npos ? "Basic " + base64_encode(auth) : "Bearer " + auth;
}

// "https://host:1/some/folder/": where the server is, and what stands before each path.
struct Address {
    Target target;
    std::string folder;  // "/some/folder/"
};

Address parse_address(const std::string& url) {
    const auto slash = url.find('/', url.find("//") + 2);
    Address address{Target::parse(url.substr(0, slash)),
                    slash == std::string::npos ? "/" : url.substr(slash)};
    if (!address.folder.ends_with('/')) address.folder += '/';
    if (address.folder.find_first_of("?# \\") != std::string::npos)
        throw Error(ErrorCode::invalid_argument, "images.url must have neither query nor fragment");
    return address;
}

std::string encode_path(const std::string& path) {
    std::vector<std::string> parts;
    for (const auto& part : split(path, '/')) parts.push_back(percent_encode(part));
    return join(parts, "/");
}

class HttpFiles final : public Files {
  public:
    HttpFiles(Address address, const std::string& auth)
        : server_("image server", std::move(address.target), authorization(auth)), folder_(address.folder) {}
    std::string read(const std::string& path) const override {
        return server_.get(folder_ + encode_path(path), max_index_bytes);
    }
    void read(const std::string& path, const std::function<void(std::string_view)>& write) const override {
        server_.get(folder_ + encode_path(path), write);
    }

  private:
    RemoteHttp server_;
    std::string folder_;
};

// Names the server in errors about its files.
template <class Work>
auto blaming_server(Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found)
            throw Error(ErrorCode::unavailable, std::string("image server lacks a file: ") + e.what());
        if (e.code() != ErrorCode::invalid_argument) throw;
        throw Error(e.code(), std::string("index of the image server makes no sense: ") + e.what());
    }
}

class SimplestreamsServer final : public ImageServer {
  public:
    explicit SimplestreamsServer(std::unique_ptr<Files> files) : files_(std::move(files)) {}

    std::vector<OfferedImage> list() override {
        std::vector<OfferedImage> images;
        for (const auto& path : blaming_server([&] { return read_index(files_->read(index_path)); })) {
            auto found = blaming_server([&] { return read_products(files_->read(path)); });
            if (found.size() > max_images - images.size())
                throw Error(ErrorCode::invalid_argument, "image server offers too many images");
            std::move(found.begin(), found.end(), std::back_inserter(images));
        }
        return images;
    }

    void download(const OfferedImage& image, const std::function<void(std::string_view)>& write) override {
        check_server_path(image.path);
        VerifiedBytes checked(image.fingerprint, image.size);
        try {
            files_->read(image.path, [&](std::string_view piece) {
                checked.add(piece);
                write(piece);
            });
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;
            throw Error(ErrorCode::unavailable, std::string("image server lacks a package: ") + e.what());
        }
        checked.finish();
    }

  private:
    std::unique_ptr<Files> files_;
};

std::unique_ptr<Files> open_files(const ImageServerOptions& options) {
    if (options.url.starts_with("file:///")) return std::make_unique<DirectoryFiles>(options.url.substr(7));
    const bool plain = options.url.starts_with("http://");
    if (!plain && !options.url.starts_with("https://"))
        throw Error(ErrorCode::invalid_argument, "images.url must begin with https://, http:// or file:///");
    if (plain && !options.allow_insecure)
        throw Error(ErrorCode::invalid_argument, "images.url without TLS needs images.allow_insecure");
    Address address = parse_address(options.url);
    address.target.unverified = options.allow_insecure;
    address.target = by_proxy(std::move(address.target), options.proxy_http, options.proxy_https,
                              options.proxy_ignore_hosts);
    return std::make_unique<HttpFiles>(std::move(address), options.auth);
}

}  // namespace

std::unique_ptr<ImageServer> open_image_server(const ImageServerOptions& options) {
    return std::make_unique<SimplestreamsServer>(open_files(options));
}

}  // namespace svc
