#include "libsvc/remote/https_catalogue.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/remote/catalogue_key.h"
#include "libsvc/remote/proxy_choice.h"
#include "libsvc/remote/verified_bytes.h"

namespace svc {

namespace {

constexpr std::uint16_t default_port = 3000;
constexpr std::size_t max_list_bytes = 16U << 20, max_record_bytes = 32U << 10;
constexpr std::chrono::minutes store_limit{2};  // the registry syncs what it got before it answers
constexpr const char* fingerprint_header = "X-SVC-Fingerprint";
constexpr const char* manifest_header = "X-SVC-ManifestSha256";

bool names_port(std::string_view url) {
    const auto authority = url.substr(url.find("//") + 2);
    return authority.find(':', authority.starts_with('[') ? authority.find(']') : 0) !=
           std::string_view::npos;
}

Target make_target(const CatalogueOptions& options) {
    if (!is_sha256_hex(options.fingerprint))
        throw Error(ErrorCode::invalid_argument, "registry.fingerprint is required");
    make_directories(options.key.parent_path());
    // The subject is unique: registries may look certificates up by it.
    const std::string name = "svc-registry-" + to_hex(random_bytes(6));
    ensure_key_pair({options.certificate, options.key}, name, {}, {}, SystemClock());
    Target target = Target::parse(options.url);
    if (!names_port(options.url)) target.port = default_port;
    target.server_fingerprint = options.fingerprint;
    target.identity = KeyPair{options.certificate, options.key};
    return by_proxy(std::move(target), options.proxy_http, options.proxy_https, options.proxy_ignore_hosts);
}

std::string url_path(const CatalogueKey& key) {
    return "/1.0/applications/" + key.path();
}

[[noreturn]] void throw_invalid_answer(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "answer of the registry makes no sense: " + why);
}

std::vector<CatalogueApplication> read_list(const std::string& body) {
    const Json envelope = Json::parse(body);
    const Json& items = envelope.at("metadata");
    if (items.is_null()) return {};
    if (items.as_array().size() > max_catalogue_applications) throw_invalid_answer("too many applications");
    std::vector<CatalogueApplication> list;
    for (const Json& item : items.as_array()) list.push_back(CatalogueApplication::from_json(item));
    return list;
}

}  // namespace

HttpsCatalogue::HttpsCatalogue(const CatalogueOptions& options) : server_("registry", make_target(options)) {}

std::vector<CatalogueApplication> HttpsCatalogue::list() {
    const std::string body = server_.get("/1.0/applications", max_list_bytes);
    try {
        return read_list(body);
    } catch (const Error& e) {
        throw_invalid_answer(e.what());
    }
}

bool HttpsCatalogue::has(std::string_view name, int version, std::string_view architecture) {
    const CatalogueKey key(name, version, architecture);
    try {
        server_.get(url_path(key) + "/manifest", max_catalogue_manifest);
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return false;
    }
}

void HttpsCatalogue::upload(const CatalogueUpload& upload) {
    const CatalogueKey key(upload.application.name, upload.version, upload.architecture);
    const std::string record = upload.application.to_json().dump();
    if (record.size() > max_record_bytes)
        throw Error(ErrorCode::invalid_argument,
                    "record of application " + quoted(key.name) + " is too large for a registry");
    ClientRequest manifest;
    manifest.method = Method::put;
    manifest.path = url_path(key) + "/manifest";
    manifest.headers.set("Content-Type", "application/yaml");
    manifest.body = upload.manifest;
    server_.call(std::move(manifest));

    VerifiedBytes checked(upload.fingerprint, upload.size);
    ClientRequest archive;
    archive.method = Method::put;
    archive.path = url_path(key);
    archive.headers.set("Content-Type", "application/octet-stream");
    archive.headers.set("X-SVC-Request", record);
    archive.headers.set(fingerprint_header, upload.fingerprint);
    archive.headers.set(manifest_header, sha256_hex(upload.manifest));
    archive.length = upload.size;
    archive.timeout = store_limit;
    archive.source = [&](std::size_t at_most) {
        std::string piece = upload.read(at_most);
        checked.add(piece);
        return piece;
    };
    server_.call(std::move(archive));
}

CatalogueDownload HttpsCatalogue::download(std::string_view name, int version, std::string_view architecture,
                                           const std::function<void(std::string_view)>& write) {
    const CatalogueKey key(name, version, architecture);
    CatalogueDownload result;
    result.manifest = server_.get(url_path(key) + "/manifest", max_catalogue_manifest);
    Sha256 hash;
    const ClientReply reply = server_.get(url_path(key), [&](std::string_view piece) {
        hash.update(piece);
        write(piece);
    });
    result.fingerprint = to_lower(reply.headers.get(fingerprint_header));
    if (!is_sha256_hex(result.fingerprint)) throw_invalid_answer("the archive has no fingerprint");
    if (const auto found = hash.hex(); found != result.fingerprint)
        throw Error(ErrorCode::invalid_argument,
                    "fingerprint don't match, got " + found + " but expected " + result.fingerprint);
    const std::string announced = reply.headers.get(manifest_header);
    if (!announced.empty() && !iequals(announced, sha256_hex(result.manifest)))
        throw_invalid_answer("the manifest is not that of the archive");
    return result;
}

void HttpsCatalogue::remove(std::string_view name) {
    check_catalogue_name(name);
    ClientRequest request;
    request.method = Method::delete_;
    request.path = "/1.0/applications/" + std::string(name);
    server_.call(std::move(request));
}

}  // namespace svc
