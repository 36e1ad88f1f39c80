#include "libsvc/cluster/remote_node.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/strings.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/cluster/node/layer_holds.h"
#include "libsvc/cluster/node/remote_exec.h"
#include "libsvc/cluster/node/remote_stream.h"
#include "libsvc/cluster/node_api.h"
#include "libsvc/net/client/direct_call.h"

namespace svc {

using node::LinkCall;

namespace {

constexpr std::size_t package_name_bytes = 16;

Json with_id(std::string_view id) {
    return Json::object({{"id", id}});
}

Json with_name(std::string_view name) {
    return Json::object({{"name", name}});
}

// A log that lies in memory: the descriptor is all that there is of it.
LogFile log_from_json(const JsonFields& fields) {
    LogFile log;
    log.name = fields.require_string("name");
    FileDescriptor file(::memfd_create("log", MFD_CLOEXEC));
    if (!file) throw system_error("cannot keep a log", errno);
    write_all(file.get(), base64_decode(fields.require_string("content")));
    log.file = std::make_shared<const FileDescriptor>(std::move(file));
    return log;
}

}  // namespace

// What both seams share.
struct RemoteNode::State {
    explicit State(RemoteNodeOptions given);
    RemoteNodeOptions options;
    Guarded<std::function<void(const RuntimeEvent&)>> listener;
    std::unique_ptr<Containers> containers;
    std::unique_ptr<Layers> layers;
    std::unique_ptr<node::LinkClient> link;  // last: its thread uses all of the above

    Json call(const LinkCall& call) const {
        try {
            Json answer = link->call(call);
            tell_called(true);
            return answer;
        } catch (const Error& e) {
            tell_called(e.code() != ErrorCode::unavailable);
            throw;
        }
    }
    void tell_called(bool answered) const {
        if (options.called) options.called(answered);
    }
    // A call for which a node that works needs no time: one that reads, or changes a setting.
    LinkCall quick(std::string name, Json arguments = Json::object()) const {
        LinkCall call{std::move(name), std::move(arguments)};
        call.limit = options.times.answer;
        return call;
    }
    void begin() const {
        if (options.may_begin) options.may_begin();
    }
    Json change(const LinkCall& change) const {
        begin();
        return call(change);
    }
    Json change(std::string name, Json arguments) const {
        return change({std::move(name), std::move(arguments)});
    }
    Headers headers() const {
        Headers all;
        all.add(std::string(term_header), std::to_string(options.term()));
        return all;
    }
};

class RemoteNode::Containers final : public Runtime {
  public:
    explicit Containers(State& state) : node_(state) {}

    void create(const ContainerSpec& spec) override {
        node_.change("create", Json::object({{"spec", node::to_json(spec)}}));
    }
    void recreate_spec(const ContainerSpec& spec) override {
        node_.change("recreate_spec", Json::object({{"spec", node::to_json(spec)}}));
    }
    void start(std::string_view id) override { node_.change("start", with_id(id)); }
    void stop(std::string_view id, Duration grace) override {
        node_.change("stop", Json::object({{"id", id}, {"grace", grace.count()}}));
    }
    void freeze(std::string_view id) override { node_.change("freeze", with_id(id)); }
    void thaw(std::string_view id) override { node_.change("thaw", with_id(id)); }
    void remove(std::string_view id) override { node_.change("remove", with_id(id)); }
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override {
        LinkCall call{
            "run_once",
            Json::object({{"id", id}, {"command", node::to_json(command)}, {"limit", limit.count()}})};
        call.stop = std::move(stop);
        return static_cast<int>(node_.change(call).as_int());
    }
    std::optional<ContainerInfo> inspect(std::string_view id) override {
        const Json info = node_.call(node_.quick("inspect", with_id(id)));
        if (info.is_null()) return std::nullopt;
        return node::info_from_json(info);
    }
    std::vector<ContainerInfo> list() override {
        std::vector<ContainerInfo> all;
        const Json answer = node_.call(node_.quick("list"));
        for (const Json& each : answer.as_array()) all.push_back(node::info_from_json(each));
        return all;
    }
    std::optional<ContainerSpec> specification(std::string_view id) override {
        const Json spec = node_.call(node_.quick("specification", with_id(id)));
        if (spec.is_null()) return std::nullopt;
        return node::spec_from_json(spec);
    }
    std::vector<ContainerUsage> usage() override {
        std::vector<ContainerUsage> all;
        const Json answer = node_.call(node_.quick("usage"));
        for (const Json& each : answer.as_array()) all.push_back(node::usage_from_json(each));
        return all;
    }
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override {
        node_.begin();
        return node::exec_remotely(node_.options.target, node_.options.term(), std::string(id), spec);
    }
    std::vector<LogFile> logs(std::string_view id) override {
        std::vector<LogFile> all;
        const Json answer = node_.call(node_.quick("logs", with_id(id)));
        for (const Json& each : answer.as_array()) all.push_back(log_from_json(JsonFields(each)));
        return all;
    }
    Capacity capacity() override { return node::capacity_from_json(node_.call(node_.quick("capacity"))); }
    std::vector<RuntimeNode> nodes() override {
        std::vector<RuntimeNode> all;
        const Json answer = node_.call(node_.quick("nodes"));
        for (const Json& each : answer.as_array()) all.push_back(node::runtime_node_from_json(each));
        return all;
    }
    void forward_from(std::string_view node, const std::string& public_address) override {
        node_.change(
            node_.quick("forward_from", Json::object({{"node", node}, {"public_address", public_address}})));
    }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override {
        node_.listener.with([&](auto& now) { now = std::move(listener); });
    }

  private:
    State& node_;
};

class RemoteNode::Layers final : public LayerStore {
  public:
    explicit Layers(State& state) : node_(state) {}

    // The file goes first, so that the call itself can be cancelled, repeated and tells its progress.
    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override {
        if (progress.stop.stop_requested()) throw Error(ErrorCode::cancelled, "unpacking was cancelled");
        if (contains(name)) return;
        node_.begin();
        const std::string waiting = to_hex(random_bytes(package_name_bytes));
        send_package(waiting, package, progress.stop);
        LinkCall call{"add_layer", Json::object({{"name", name}, {"package", waiting}})};
        call.stop = progress.stop;
        call.progress = progress.report;
        node_.change(call);
    }
    void remove(std::string_view name) override {
        holds_.check_free(name);
        node_.change("remove_layer", with_name(name));
    }
    void capture(std::string_view name, std::string_view container,
                 const std::vector<std::string>& leave_out) override {
        node_.change("capture", disk_arguments(name, container, leave_out));
    }
    void snapshot(std::string_view name, std::string_view container,
                  const std::vector<std::string>& leave_out, std::stop_token stop) override {
        LinkCall call{"snapshot", disk_arguments(name, container, leave_out)};
        call.stop = std::move(stop);
        node_.change(call);
    }
    void restore(std::string_view name, std::string_view container, std::stop_token stop) override {
        LinkCall call{"restore", Json::object({{"name", name}, {"id", container}})};
        call.stop = std::move(stop);
        node_.change(call);
    }
    std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) override {
        ClientRequest asked;
        asked.method = Method::post;
        asked.path = std::string(node_path) + "export";
        asked.headers = node_.headers();
        asked.headers.add("Content-Type", "application/json");
        asked.body = Json::object({{"layers", node::to_json(request.layers)},
                                   {"metadata", request.metadata},
                                   {"compression", std::string(to_text(request.compression))}})
                         .dump();
        auto archive = stream_of(request.layers, asked);
        // Nodes of earlier versions make gzip whatever they are asked for.
        if (archive->format().empty() && request.compression != Compression::gzip)
            throw Error(ErrorCode::unsupported, "node '" + node_.options.name + "' compresses by gzip alone");
        return archive;
    }
    std::unique_ptr<ArchiveStream> pack(std::string_view name) override {
        ClientRequest asked;
        asked.path = std::string(node_path) + "layers/" + percent_encode(name);
        asked.headers = node_.headers();
        return stream_of({std::string(name)}, asked);
    }
    bool contains(std::string_view name) override {
        return node_.call(node_.quick("has_layer", with_name(name))).as_bool();
    }
    std::uint64_t size(std::string_view name) override {
        return static_cast<std::uint64_t>(node_.call(node_.quick("layer_size", with_name(name))).as_int());
    }
    std::vector<std::string> list() override {
        std::vector<std::string> all;
        const Json answer = node_.call(node_.quick("list_layers"));
        for (const Json& each : answer.as_array()) all.push_back(each.as_string());
        return all;
    }

  private:
    static Json disk_arguments(std::string_view name, std::string_view container,
                               const std::vector<std::string>& leave_out) {
        return Json::object({{"name", name}, {"id", container}, {"leave_out", node::to_json(leave_out)}});
    }

    void send_package(const std::string& waiting, const std::filesystem::path& package,
                      const std::stop_token& stop);

    std::unique_ptr<ArchiveStream> stream_of(const std::vector<std::string>& layers,
                                             const ClientRequest& asked) {
        return holds_.hold(layers,
                           [&] { return std::make_unique<node::RemoteStream>(node_.options.target, asked); });
    }

    State& node_;
    node::LayerHolds holds_;
};

void RemoteNode::Layers::send_package(const std::string& waiting, const std::filesystem::path& package,
                                      const std::stop_token& stop) {
    const FileDescriptor file = open_file(package, O_RDONLY);
    ClientRequest request;
    request.method = Method::put;
    request.path = std::string(node_path) + "packages/" + waiting;
    request.headers = node_.headers();
    request.length = std::filesystem::file_size(package);
    request.source = [&](std::size_t at_most) {
        if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "sending a package was cancelled");
        std::string piece(at_most, '\0');
        const ssize_t count = ::read(file.get(), piece.data(), piece.size());
        if (count < 0) throw system_error("cannot read a package", errno);
        piece.resize(static_cast<std::size_t>(count));
        return piece;
    };
    const ClientReply reply = call_directly(node_.options.target, request);
    if (reply.status != 200) throw node::refusal_of(reply.status, reply.body);
}

RemoteNode::State::State(RemoteNodeOptions given) : options(std::move(given)) {
    containers = std::make_unique<Containers>(*this);
    layers = std::make_unique<Layers>(*this);
    const auto tell = [this](const RuntimeEvent& event) {
        const auto told = listener.with([](const auto& now) { return now; });
        if (told) told(event);
    };
    link = std::make_unique<node::LinkClient>(
        options.target, options.name, options.term,
        node::LinkListener{options.connected, options.lost, tell, options.outdated}, options.times);
}

RemoteNode::RemoteNode(RemoteNodeOptions options) : state_(std::make_unique<State>(std::move(options))) {}
RemoteNode::~RemoteNode() = default;

Runtime& RemoteNode::runtime() {
    return *state_->containers;
}

LayerStore& RemoteNode::layers() {
    return *state_->layers;
}

void RemoteNode::fetch_layer(std::string_view name, std::string_view address,
                             const LayerStore::Progress& progress) {
    LinkCall call{"fetch_layer", Json::object({{"name", name}, {"from", address}})};
    call.stop = progress.stop;
    call.progress = progress.report;
    state_->change(call);
}

bool RemoteNode::connected() const {
    return state_->link->connected();
}

std::string RemoteNode::fault() const {
    return state_->link->fault();
}

}  // namespace svc
