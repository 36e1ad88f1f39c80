#include "libsvc/cluster/node_api.h"

#include <algorithm>
#include <charconv>
#include <stop_token>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/cluster/node/calls.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/cluster/node/exec_server.h"
#include "libsvc/cluster/node/link_server.h"
#include "libsvc/cluster/node/packages.h"
#include "libsvc/cluster/node/remote_stream.h"
#include "libsvc/model/values/api.h"

namespace svc {

namespace {

constexpr std::size_t most_queued = 100'000;
constexpr std::size_t most_commands_waiting = 64;
constexpr std::size_t reads_at_once = 4;
constexpr std::uint64_t largest_package = std::uint64_t{1} << 40;

std::uint64_t term_of(const Request& request) {
    const std::string text = request.headers.get(term_header);
    std::uint64_t term = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), term);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        throw Error(ErrorCode::invalid_argument, "the leader's term is required");
    return term;
}

// The error as the other side makes it anew: both are of this folder.
Response refusal(const Error& error) {
    return json_response(http_status(error.code()), node::to_json(error).dump());
}

Handler with_errors(Handler handler) {
    return [handler = std::move(handler)](Request& request) {
        try {
            return handler(request);
        } catch (const Error& e) {
            return refusal(e);
        }
    };
}

class ArchiveSource final : public BodySource {
  public:
    explicit ArchiveSource(std::unique_ptr<ArchiveStream> stream) : stream_(std::move(stream)) {}
    // Lets the layers go before the other side learns that this is the end, and may remove them.
    std::string read(std::size_t at_most) override {
        std::string piece = stream_ ? stream_->read(at_most) : std::string();
        if (piece.empty()) stream_.reset();
        return piece;
    }
    std::optional<std::uint64_t> length() const override { return std::nullopt; }

  private:
    std::unique_ptr<ArchiveStream> stream_;
};

Response stream_of(std::unique_ptr<ArchiveStream> stream) {
    Response response;
    response.headers.set("Content-Type", "application/octet-stream");
    if (const std::string format = stream->format(); !format.empty())
        response.headers.set(node::format_header, format);
    response.source = std::make_unique<ArchiveSource>(std::move(stream));
    return response;
}

Response upgrade_to(std::shared_ptr<WebSocketHandler> handler) {
    Response response;
    response.websocket = std::move(handler);
    return response;
}

// Leaders of earlier versions name no compression. They know the digest of other bytes than are made here,
// and would tell clients of it.
ExportRequest export_from_json(const std::string& body) {
    const Json json = Json::parse(body);
    const JsonFields fields(json);
    const auto compression = fields.string("compression");
    if (!compression)
        throw Error(ErrorCode::unavailable, "exports from this node wait until the leader has its version");
    return {fields.strings("layers").value_or(std::vector<std::string>()),
            fields.string("metadata").value_or(""), written_compression(*compression)};
}

}  // namespace

class NodeApi::Implementation {
  public:
    explicit Implementation(NodeApiParts parts)
        : parts_(std::move(parts)),
          call_parts_{parts_.runtime, parts_.layers, parts_.identity, parts_.packages},
          calls_(node::make_calls(call_parts_)),
          changes_("node-call", parts_.calls_at_once, most_queued),
          reads_("node-read", reads_at_once, most_queued),
          commands_("node-exec", parts_.calls_at_once, most_commands_waiting),
          links_({calls_, parts_.guard, parts_.events, changes_, reads_}) {
        remove_tree(parts_.packages);
    }
    ~Implementation() { stop(); }

    void stop() {
        stopping_.request_stop();
        links_.end_all();
        changes_.stop();
        reads_.stop();
        commands_.stop();
    }

    std::vector<Route> routes() {
        return {
            {Method::get, path("link"), Access::admin, Dispatch::on_pool, "node_link",
             with_errors([this](Request& r) { return upgrade_to(links_.open(term_of(r))); })},
            {Method::get, path("containers/{id}/exec"), Access::admin, Dispatch::on_pool, "node_exec",
             with_errors([this](Request& r) { return exec(r); })},
            {Method::get, path("layers/{name}"), Access::admin, Dispatch::on_pool, "node_layer",
             with_errors([this](Request& r) { return stream_of(parts_.layers.pack(r.params.at("name"))); })},
            {Method::post, path("export"), Access::admin, Dispatch::on_pool, "node_export",
             with_errors([this](Request& r) {
                 return stream_of(parts_.layers.export_archive(export_from_json(r.body)));
             })},
            upload()};
    }

  private:
    static std::string path(std::string_view rest) { return std::string(node_path).append(rest); }

    Response exec(Request& request) {
        const std::uint64_t term = term_of(request);
        parts_.guard.raise(term);
        return upgrade_to(node::serve_exec({parts_.runtime, parts_.guard, commands_, stopping_.get_token()},
                                           term, request.params.at("id")));
    }

    Route upload() {
        Route route{Method::put,    path("packages/{name}"),
                    Access::admin,  Dispatch::on_pool,
                    "node_package", [](Request&) { return json_response(200, "{}"); },
                    largest_package};
        route.open_upload = [this](Request& request) {
            parts_.guard.raise(term_of(request));
            return node::receive_package(parts_.packages, request.params.at("name"));
        };
        return route;
    }

    NodeApiParts parts_;
    node::CallParts call_parts_;
    node::Calls calls_;
    std::stop_source stopping_;
    ThreadPool changes_, reads_, commands_;
    node::LinkServer links_;
};

NodeApi::NodeApi(NodeApiParts parts) : implementation_(std::make_unique<Implementation>(std::move(parts))) {}
NodeApi::~NodeApi() = default;

std::vector<Route> NodeApi::routes() {
    return implementation_->routes();
}

void NodeApi::stop() {
    implementation_->stop();
}

}  // namespace svc
