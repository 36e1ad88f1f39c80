#include "tests/model/random_client.h"

#include <numeric>
#include <utility>

namespace svc::test {

namespace {

const std::vector<CallKind>& all_calls() {
    static const std::vector<CallKind> all = [] {
        std::vector<CallKind> made = instance_calls();
        for (const auto& more : {package_calls(), cluster_calls()})
            made.insert(made.end(), more.begin(), more.end());
        return made;
    }();
    return all;
}

const CallKind& chosen(int place) {
    for (const CallKind& kind : all_calls()) {
        if (place < kind.weight) return kind;
        place -= kind.weight;
    }
    return all_calls().back();
}

std::string text_of(Method method) {
    switch (method) {
        case Method::get:
            return "GET";
        case Method::post:
            return "POST";
        case Method::patch:
            return "PATCH";
        case Method::delete_:
            return "DELETE";
        default:
            return "?";
    }
}

}  // namespace

RandomClient::RandomClient(Target target, const ModelMaterial& material, History& history, std::uint64_t seed)
    : api_(std::move(target)), material_(material), history_(history), random_(seed) {}

// Each call draws from a generator of its own: how much one draws does not move the others.
void RandomClient::run(int calls) {
    const auto& kinds = all_calls();
    const int sum = std::accumulate(kinds.begin(), kinds.end(), 0,
                                    [](int total, const CallKind& kind) { return total + kind.weight; });
    std::mt19937_64 seeds(random_());
    for (int i = 0; i < calls; ++i) {
        random_.seed(seeds());
        chosen(pick(sum)).make(*this);
    }
}

ApiReply RandomClient::call(const std::string& kind, const std::string& name, Method method,
                            const std::string& path, const Json& body) {
    ModelCall made{.kind = kind, .name = name, .method = text_of(method), .path = path};
    if (!body.is_null()) made.body = body.dump();
    const Tick begun = history_.now();
    Headers headers;
    if (method == Method::patch) headers.set("Content-Type", "application/json");
    return written_down(made, begun, api_.call(method, path, made.body, headers));
}

ApiReply RandomClient::upload(const std::string& kind, const std::string& name, Method method,
                              const std::string& path, const std::string& request,
                              const std::string& package) {
    const ModelCall made{.kind = kind, .name = name, .method = text_of(method), .path = path};
    const Tick begun = history_.now();
    return written_down(made, begun, api_.upload(method, path, request, package));
}

ApiReply RandomClient::written_down(ModelCall call, Tick begun, ApiReply reply) {
    call.begun = begun;
    call.ended = history_.now();
    call.reply = reply;
    if (reply.status == 202 && reply.json().find("operation") &&
        !reply.json().at("operation").as_string().empty()) {
        call.operation = reply.operation_id();
        operations_.push_back(call.operation);
    }
    history_.add(std::move(call));
    return reply;
}

std::string RandomClient::recent(int back) const {
    const auto count = static_cast<int>(operations_.size());
    return count == 0 ? "" : operations_[static_cast<std::size_t>(count - 1 - back % count)];
}

void RandomClient::cancel_recent(int back) {
    const std::string id = recent(back);
    if (!id.empty()) call("operations.cancel", id, Method::delete_, "/1.0/operations/" + id);
}

void RandomClient::wait_recent(int back, const std::string& timeout) {
    const std::string id = recent(back);
    if (id.empty()) return;
    const ApiReply reply =
        call("operations.wait", id, Method::get, "/1.0/operations/" + id + "/wait?timeout=" + timeout);
    if (reply.status == 200 && reply.metadata().at("status_code").as_int() >= 200)
        history_.note_final(id, history_.now());
}

}  // namespace svc::test
