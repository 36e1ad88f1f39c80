#include "libsvc/store/etcd/cluster.h"

#include <fcntl.h>

#include <array>
#include <cstdio>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/store/etcd/wire.h"

namespace svc::etcd {

namespace {

constexpr std::chrono::milliseconds round_pause{100};
constexpr std::array oldest_version{3, 4};

// Codes of gRPC.
enum Code { cancelled = 1, unknown, invalid, deadline, not_found, denied = 7, exhausted, out_of_range = 11 };
constexpr int code_internal = 13, code_unavailable = 14, code_unauthenticated = 16;

Target target_of(const std::string& endpoint, const EtcdOptions& options) {
    Target target = Target::parse(endpoint);
    target.authorities = options.authorities;
    target.identity = options.identity;
    return target;
}

// What is wrong with them is told although no member answers yet.
void check_files(const EtcdOptions& options) {
    if (options.identity) TlsContext{*options.identity};
    if (options.authorities.empty()) return;
    try {
        open_file(options.authorities, O_RDONLY);
    } catch (const Error& e) {
        throw Error(ErrorCode::invalid_argument, std::string("the authorities of etcd: ") + e.what());
    }
}

// Empty where it is no JSON object.
Json object_in(const std::string& text) {
    try {
        Json parsed = Json::parse(text);
        if (parsed.is_object()) return parsed;
    } catch (const Error&) {
        // told by the caller
    }
    return {};
}

std::string not_etcd(const Target& target) {
    return target.describe() + " does not answer as etcd does";
}

struct NotEtcd : Error {
    explicit NotEtcd(const Target& target) : Error(ErrorCode::unsupported, not_etcd(target)) {}
};

[[noreturn]] void throw_not_etcd(const Target& target) {
    throw Error(ErrorCode::unavailable, not_etcd(target));
}

// Of etcd ("too many operations in txn request", "request is too large"), and of its gRPC before that.
bool tells_of_size(const std::string& reason) {
    for (const char* const words : {"too many operations", "too large", "larger than max"})
        if (reason.find(words) != std::string::npos) return true;
    return false;
}

Refusal refusal_of(int code, const std::string& reason) {
    if (tells_of_size(reason)) return Refusal::too_large;
    switch (code) {
        case not_found:
            return Refusal::no_lease;
        case exhausted:
            return Refusal::no_space;
        case out_of_range:
            return Refusal::compacted;
        case denied:
        case code_unauthenticated:
            return Refusal::forbidden;
        default:
            return Refusal::other;
    }
}

// Of this member, or of this moment.
bool passes(int code, const std::string& reason) {
    return code == code_unavailable || code == deadline || code == cancelled || code == unknown ||
           code == code_internal ||
           (code == exhausted && reason.find("too many requests") != std::string::npos);
}

Reply read_refusal(const Target& target, const Json& body) {
    const Json* const code = body.find("code");
    const Json* const reason = body.find("error");
    if (code == nullptr || !code->is_integer() || reason == nullptr || !reason->is_string())
        throw_not_etcd(target);
    const int number = static_cast<int>(code->as_int());
    if (passes(number, reason->as_string()))
        throw Error(ErrorCode::unavailable, target.describe() + ": " + reason->as_string());
    return {{}, refusal_of(number, reason->as_string()), reason->as_string()};
}

// Of TLS, what no waiting mends: a certificate that one side does not accept, or a server without TLS.
bool is_refusal(const std::string& fault, const Target& target) {
    if (!target.tls) return false;
    for (const char* const words : {" alert ", "its certificate is not", "wrong version number"})
        if (fault.find(words) != std::string::npos) return true;
    return false;
}

// A server refuses a client's certificate by an alert of TLS, whose words depend on the server.
std::string explained(const std::string& fault, const Target& target) {
    if (!target.tls || fault.find(" alert ") == std::string::npos) return fault;
    return fault + (target.identity ? " (it does not accept the client certificate)"
                                    : " (it wants a client certificate)");
}

// A gateway before etcd says so where nothing is behind it yet.
Json version_of(KeptClient& member, std::chrono::milliseconds timeout) {
    ClientRequest request;
    request.path = "/version";
    request.timeout = timeout;
    const ClientReply reply = member.call(request);
    if (reply.status >= 500)
        throw Error(ErrorCode::unavailable,
                    member.target().describe() + " answers with status " + std::to_string(reply.status));
    return object_in(reply.body);
}

void check_version(KeptClient& member, std::chrono::milliseconds timeout) {
    const Json body = version_of(member, timeout);
    const Json* const version = body.find("etcdserver");
    std::array<int, 2> found{};
    if (version == nullptr || !version->is_string() ||
        std::sscanf(version->as_string().c_str(), "%d.%d", &found[0], &found[1]) != 2)
        throw NotEtcd(member.target());
    if (found < oldest_version)
        throw Error(ErrorCode::unsupported, member.target().describe() + " is etcd " + version->as_string() +
                                                ", which is too old: 3.4 is needed");
}

}  // namespace

Cluster::Cluster(const EtcdOptions& options, Clock& clock)
    : attempt_(options.attempt), patience_(options.patience), clock_(clock), on_answer_(options.on_answer) {
    for (const std::string& endpoint : options.endpoints)
        members_.push_back(std::make_unique<KeptClient>(target_of(endpoint, options)));
    check_files(options);
    if (members_.empty()) throw Error(ErrorCode::invalid_argument, "etcd has no endpoint");
    find_member();
}

void Cluster::find_member() {
    std::vector<std::string> faults;
    bool usable = true;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        try {
            check_version(*members_[i], attempt_);
            preferred_ = i;
            return;
        } catch (const NotEtcd& e) {
            usable = false;
            faults.emplace_back(e.what());
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable) throw;
            usable = usable && !is_refusal(e.what(), member(i));
            faults.push_back(explained(e.what(), member(i)));
        }
    }
    throw Error(usable ? ErrorCode::unavailable : ErrorCode::unsupported, "etcd: " + join(faults, "; "));
}

Reply Cluster::ask(const std::string& path, const Json& body) {
    const std::string text = body.dump();
    const SteadyTime end = clock_.steady_now() + patience_;
    for (std::size_t attempts = 1;; ++attempts) {
        const std::size_t number = preferred();
        try {
            Reply reply = ask_member(number, path, text);
            reply.after_loss = attempts > 1;
            return reply;
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable) throw;
            ++failures_;
            if (clock_.steady_now() >= end) throw Error(e.code(), std::string("etcd: ") + e.what());
        }
        avoid(number);
        const bool round = attempts % members_.size() == 0;
        if (round && !clock_.wait(closing(), round_pause))
            throw Error(ErrorCode::unavailable, "the connection to etcd is closed");
    }
}

Reply Cluster::ask_member(std::size_t number, const std::string& path, const std::string& body) {
    KeptClient& member = *members_[number];
    ClientRequest request;
    request.method = Method::post;
    request.path = path;
    request.headers.add(wants_leader, "true");
    request.body = body;
    request.timeout = attempt_;
    const SteadyTime sent = clock_.steady_now();
    const ClientReply reply = member.call(std::move(request));
    if (on_answer_) on_answer_(clock_.steady_now() - sent);
    Json read = object_in(reply.body);
    if (!read.is_object()) throw_not_etcd(member.target());
    if (reply.status != 200) return read_refusal(member.target(), read);
    note_revision(read);
    return {std::move(read), Refusal::none, ""};
}

// Streams have their answer in a frame.
void Cluster::note_revision(const Json& answer) {
    const Json* const frame = answer.find("result");
    const Json* const header = (frame == nullptr ? answer : *frame).find("header");
    if (header == nullptr) return;
    const std::uint64_t revision = number(*header, "revision");
    std::uint64_t known = newest_;
    while (known < revision && !newest_.compare_exchange_weak(known, revision)) continue;
}

// Unless another call has done so already.
void Cluster::avoid(std::size_t number) {
    std::size_t seen = number;
    preferred_.compare_exchange_strong(seen, (number + 1) % members_.size());
}

Json Cluster::call(const std::string& path, const Json& body) {
    Reply reply = ask(path, body);
    if (reply.refusal != Refusal::none) throw_refusal(reply);
    return std::move(reply.body);
}

void Cluster::close() {
    closing_.request_stop();
}

void throw_refusal(const Reply& reply) {
    switch (reply.refusal) {
        case Refusal::no_space:
            throw Error(ErrorCode::exhausted, "etcd has no space: " + reply.reason);
        case Refusal::forbidden:
            throw Error(ErrorCode::forbidden, "etcd refuses this manager: " + reply.reason);
        case Refusal::too_large:
            throw Error(ErrorCode::unsupported, "too large for etcd: " + reply.reason);
        default:
            throw Error(ErrorCode::internal, "etcd: " + reply.reason);
    }
}

}  // namespace svc::etcd
