#include "libsvc/runtime/lxd/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/http/response.h"

namespace svc::lxd {

namespace {

using namespace std::chrono_literals;

constexpr int busy_attempts = 100;
constexpr Duration busy_pause = 100ms;
constexpr Duration wait_step = 30s;  // below the time that a call may be silent
constexpr Duration quorum_pause = 5s;
constexpr std::string_view no_quorum = "no available dqlite leader";
constexpr std::int64_t succeeded = 200, running = 103, failed_from = 400;

// What a text of LXD means, where its status says no more than that something is wrong.
struct Meaning {
    std::string_view part;
    ErrorCode code;
};
constexpr std::array<Meaning, 11> meanings{{{"dqlite", ErrorCode::unavailable},
                                            {"is evacuated", ErrorCode::unavailable},
                                            {"is busy running", ErrorCode::busy},
                                            {"already exists", ErrorCode::conflict},
                                            {"already running", ErrorCode::conflict},
                                            {"already defined on another NIC", ErrorCode::conflict},
                                            {"No space left", ErrorCode::exhausted},
                                            {"no space left", ErrorCode::exhausted},
                                            {"uota exceeded", ErrorCode::exhausted},
                                            {"is not running", ErrorCode::conflict},
                                            {"not found", ErrorCode::not_found}}};

ErrorCode code_of_refusal(int status, std::string_view text) {
    for (const Meaning& meaning : meanings)
        if (text.find(meaning.part) != std::string_view::npos) return meaning.code;
    // What is asked of LXD is not the client's: a refusal of it is no fault of the client.
    const ErrorCode code = error_code_of_status(status);
    return code == ErrorCode::invalid_argument ? ErrorCode::internal : code;
}

// Clients may see the message.
std::string without_paths(std::string_view text) {
    std::vector<std::string> words = split(text, ' ');
    for (std::string& word : words)
        if (const std::size_t slash = word.find('/'); slash != std::string::npos && word.size() > 1)
            word = word.substr(0, slash) + "..." + word.substr(word.rfind('/'));
    return join(words, " ");
}

Json parse_answer(const ClientReply& reply) {
    try {
        return Json::parse(reply.body);
    } catch (const Error&) {
        throw Error(ErrorCode::unavailable, fmt::format("LXD answers with status {}", reply.status));
    }
}

ClientRequest request_of(Method method, const std::string& path, const Json& body) {
    ClientRequest request;
    request.method = method;
    request.path = path;
    if (!body.is_null()) request.body = body.dump();
    request.headers.set("Content-Type", "application/json");
    return request;
}

}  // namespace

Error refusal(int status, std::string_view text) {
    return {code_of_refusal(status, text), "LXD: " + without_paths(text)};
}

std::string text_of(const Json& object, std::string_view key) {
    const Json* found = object.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : "";
}

void check_operation(const Json& operation) {
    const std::int64_t code = operation.at("status_code").as_int();
    if (code >= failed_from) throw refusal(400, text_of(operation, "err"));
    if (code != succeeded)
        throw Error(ErrorCode::internal, fmt::format("an operation of LXD ended with {}", code));
}

ClientReply Connection::call(const ClientRequest& request) {
    if (clock_.steady_now() < no_quorum_until_.with([](SteadyTime until) { return until; }))
        throw Error(ErrorCode::unavailable, "LXD: too few members of its cluster can be reached");
    ClientReply reply = client_.call(request);
    if (reply.status == 503 && reply.body.find(no_quorum) != std::string::npos)
        no_quorum_until_.with([&](SteadyTime& until) { until = clock_.steady_now() + quorum_pause; });
    return reply;
}

ClientReply Connection::send(const ClientRequest& request) {
    ClientReply reply = call(request);
    if (reply.status >= 300) throw refusal(reply.status, text_of(parse_answer(reply), "error"));
    return reply;
}

Json Connection::get(const std::string& path) {
    return parse_answer(send(request_of(Method::get, path, nullptr))).at("metadata");
}

Json Connection::get_own(const std::string& path) {
    ClientRequest request = request_of(Method::get, path, nullptr);
    // Over HTTPS LXD refuses this to all but members.
    if (!target().unix_path.empty()) request.headers.set("User-Agent", "lxd-cluster-notifier");
    return parse_answer(send(request)).at("metadata");
}

std::optional<Json> Connection::find(const std::string& path) {
    const ClientReply reply = call(request_of(Method::get, path, nullptr));
    if (reply.status == 404) return std::nullopt;
    if (reply.status >= 300) throw refusal(reply.status, text_of(parse_answer(reply), "error"));
    return parse_answer(reply).at("metadata");
}

Json Connection::begin(Method method, const std::string& path, const Json& body) {
    return parse_answer(send(request_of(method, path, body))).at("metadata");
}

Json Connection::settle(const Json& answer) {
    if (text_of(answer, "type") != "async") return answer.at("metadata");
    std::optional<Json> done;
    while (!done) done = wait(text_of(answer.at("metadata"), "id"), wait_step);
    check_operation(*done);
    return done->at("metadata");
}

Json Connection::change(Method method, const std::string& path, const Json& body) {
    for (int attempt = 1;; ++attempt) {
        try {
            return settle(parse_answer(send(request_of(method, path, body))));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::busy || attempt == busy_attempts) throw;
        }
        clock_.wait({}, busy_pause);
    }
}

void Connection::upload(const ClientRequest& request) {
    settle(parse_answer(send(request)));
}

void Connection::remove(const std::string& path) {
    try {
        change(Method::delete_, path, nullptr);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
    }
}

std::optional<Json> Connection::wait(const std::string& operation, Duration limit) {
    const SteadyTime end = clock_.steady_now() + limit;
    for (;;) {
        const Duration left = std::clamp(end - clock_.steady_now(), Duration::zero(), wait_step);
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
        Json record = get(fmt::format("/1.0/operations/{}/wait?timeout={}", operation, seconds));
        if (record.at("status_code").as_int() != running) return record;
        if (clock_.steady_now() >= end) return std::nullopt;
    }
}

}  // namespace svc::lxd
