#include "tests/support/etcd_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"

namespace svc::test {

namespace {

constexpr const char* etcd_program = "/usr/bin/etcd";
constexpr const char* control_program = "/usr/bin/etcdctl";

// Free at this moment. The kernel gives each port once before it gives one again.
std::string free_address() {
    const FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener.get(), any, size) != 0 || getsockname(listener.get(), any, &size) != 0)
        throw system_error("no free port", errno);
    return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

}  // namespace

void skip_unless_etcd() {
    if (!std::filesystem::exists(etcd_program) || !std::filesystem::exists(control_program))
        skip("needs etcd");
}

EtcdCluster::EtcdCluster(std::size_t members, std::optional<EtcdTls> tls)
    : directory_(std::filesystem::temp_directory_path(), "svc-etcd-"),
      tls_(std::move(tls)),
      members_(members) {
    constexpr int attempts = 5;
    for (int i = 0; i < attempts; ++i)
        if (form()) return;
    throw Error(ErrorCode::unavailable, "etcd does not start");
}

void EtcdCluster::choose_addresses() {
    const std::string scheme = tls_ ? "https://" : "http://";
    for (std::size_t i = 0; i < members_.size(); ++i) {
        members_[i].name = "m" + std::to_string(i);
        members_[i].client = scheme + free_address();
        members_[i].peer = "http://" + free_address();
    }
}

bool EtcdCluster::form() {
    choose_addresses();
    for (std::size_t i = 0; i < members_.size(); ++i) start(i);
    const auto ended = [](Member& member) {
        return member.process->wait_for(std::chrono::milliseconds(0)).has_value();
    };
    bool failed = false;
    eventually("etcd answers", [&] {
        failed = std::ranges::any_of(members_, ended);
        return failed || std::ranges::all_of(members_, [this](const Member& m) { return answers(m); });
    });
    if (!failed) return true;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        members_[i].process.reset();
        forget(i);
    }
    return false;
}

bool EtcdCluster::answers(const Member& member) const {
    Target target = Target::parse(member.client);
    if (tls_) {
        target.authorities = tls_->authorities;
        target.identity = tls_->server;
    }
    ClientRequest request;
    request.path = "/health";
    try {
        return call_directly(target, request).body.find("true") != std::string::npos;
    } catch (const Error&) {
        return false;
    }
}

void EtcdCluster::start(std::size_t number) {
    Member& member = members_[number];
    std::vector<std::string> all;
    for (const Member& one : members_) all.push_back(one.name + "=" + one.peer);
    SpawnOptions options;
    options.arguments = {etcd_program,
                         "--name",
                         member.name,
                         "--data-dir",
                         (directory_.path() / member.name).string(),
                         "--listen-client-urls",
                         member.client,
                         "--advertise-client-urls",
                         member.client,
                         "--listen-peer-urls",
                         member.peer,
                         "--initial-advertise-peer-urls",
                         member.peer,
                         "--initial-cluster",
                         join(all, ","),
                         "--heartbeat-interval",
                         "50",
                         "--election-timeout",
                         "500",
                         "--logger",
                         "zap",
                         "--log-level",
                         "error"};
    if (tls_)
        for (const std::string& flag :
             {"--cert-file=" + tls_->server.certificate.string(), "--key-file=" + tls_->server.key.string(),
              "--trusted-ca-file=" + tls_->authorities.string(), std::string("--client-cert-auth")})
            options.arguments.push_back(flag);
    const FileDescriptor log =
        open_file(directory_.path() / (member.name + ".log"), O_WRONLY | O_CREAT | O_APPEND);
    options.descriptors = {{log.get(), 1}, {log.get(), 2}};
    options.ends_with_us = true;
    member.process = std::make_unique<Child>(options);
}

std::vector<std::string> EtcdCluster::endpoints() const {
    std::vector<std::string> all;
    for (const Member& member : members_) all.push_back(member.client);
    return all;
}

void EtcdCluster::kill(std::size_t member) {
    members_[member].process->kill(SIGKILL);
    members_[member].process->wait();
}

void EtcdCluster::forget(std::size_t member) {
    std::filesystem::remove_all(directory_.path() / members_[member].name);
}

void EtcdCluster::pause(std::size_t member) {
    members_[member].process->kill(SIGSTOP);
}

std::string EtcdCluster::control(std::vector<std::string> arguments) const {
    std::vector<std::string> command{"/usr/bin/env", "ETCDCTL_API=3", control_program, "--endpoints",
                                     join(endpoints(), ",")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const CommandResult result = run_command(command, long_wait);
    if (result.status.code != 0) throw Error(ErrorCode::internal, "etcdctl: " + result.errors);
    return result.output;
}

}  // namespace svc::test
