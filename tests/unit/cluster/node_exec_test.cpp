// Commands in containers of another node.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>

#include "tests/support/error_code.h"
#include "tests/unit/cluster/node_world.h"

using namespace svc;
using namespace svc::test;

namespace {

struct ExecWorld : RemoteWorld {
    ExecWorld() {
        machine.make_container("c1");
        machine.runtime.start("c1");
    }
    std::unique_ptr<ExecProcess> exec(std::vector<std::string> command, bool terminal = false) {
        return leader->runtime().exec("c1", {std::move(command), {}, terminal, 80, 24});
    }
};

std::string all_of(int fd) {
    std::string text;
    std::string block(std::size_t{64} << 10, '\0');
    for (;;) {
        pollfd waited{fd, POLLIN, 0};
        poll(&waited, 1, -1);
        const ssize_t count = read(fd, block.data(), block.size());
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (count <= 0) return text;
        text.append(block, 0, static_cast<std::size_t>(count));
    }
}

void write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
        if (count < 0 && errno != EAGAIN && errno != EINTR) throw std::runtime_error("input is closed");
        pollfd waited{fd, POLLOUT, 0};
        if (count < 0) poll(&waited, 1, -1);
    }
}

int code_at_end(ExecProcess& process) {
    pollfd ended{process.ended(), POLLIN, 0};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
    return process.exit_code();
}

// Notes the sizes that its terminal is given.
class SizedProcess final : public ExecProcess {
  public:
    SizedProcess(std::unique_ptr<ExecProcess> inner, Guarded<std::vector<std::string>>& sizes)
        : inner_(std::move(inner)), sizes_(sizes) {}
    int input() const override { return inner_->input(); }
    int output() const override { return inner_->output(); }
    int errors() const override { return inner_->errors(); }
    void close_input() override { inner_->close_input(); }
    int ended() const override { return inner_->ended(); }
    int exit_code() override { return inner_->exit_code(); }
    void kill(int signal) override { inner_->kill(signal); }
    void resize(unsigned width, unsigned height) override {
        sizes_.with([&](auto& all) { all.push_back(std::to_string(width) + "x" + std::to_string(height)); });
    }

  private:
    std::unique_ptr<ExecProcess> inner_;
    Guarded<std::vector<std::string>>& sizes_;
};

}  // namespace

TEST_CASE("large input and output pass whole, up to the end of input") {
    ExecWorld world;
    const auto cat = world.exec({"cat"});
    std::string sent;
    for (int i = 0; sent.size() < (std::size_t{16} << 20); ++i) sent += std::to_string(i) + "\n";
    std::jthread writer([&] {
        write_whole(cat->input(), sent);
        cat->close_input();
    });
    CHECK((all_of(cat->output()) == sent));
    CHECK(code_at_end(*cat) == 0);
    CHECK(all_of(cat->errors()).empty());
}

TEST_CASE("a caller that reads late holds up neither orders nor the node's other calls") {
    ExecWorld world;
    const auto cat = world.exec({"cat"});
    const std::string sent(std::size_t{3} << 20, 'x');
    std::jthread writer([&] {
        try {
            write_whole(cat->input(), sent);
        } catch (const std::runtime_error&) {
            return;  // the command was killed meanwhile
        }
    });
    CHECK(world.leader->runtime().inspect("c1").has_value());
    cat->kill(9);
    const std::string got = all_of(cat->output());
    CHECK(got.size() <= sent.size());
    CHECK(code_at_end(*cat) == 128 + 9);
    shutdown(cat->input(), SHUT_RDWR);
}

TEST_CASE("a command of which the connection is lost ends with 129, and does not run on") {
    ExecWorld world;
    const auto sleep = world.exec({"sleep", "100000"});
    const auto cat = world.exec({"cat"});
    world.machine.clock.await_waiters(2);  // the simulation's timer, and `sleep`
    world.machine.server.break_connections();
    CHECK(code_at_end(*sleep) == 129);
    CHECK_FALSE(sleep->exec_failed());
    CHECK(code_at_end(*cat) == 129);
    CHECK(all_of(cat->output()).empty());
    eventually("no command waits on the node's clock", [&] { return world.machine.clock.waiters() <= 1; });
}

TEST_CASE("a command that its caller forgets is ended") {
    ExecWorld world;
    auto sleep = world.exec({"sleep", "100000"});
    world.machine.clock.await_waiters(2);
    sleep.reset();
    eventually("no command waits on the node's clock", [&] { return world.machine.clock.waiters() <= 1; });
}

TEST_CASE("a terminal has one stream, and takes sizes") {
    Guarded<std::vector<std::string>> sizes;
    ExecWorld world;
    world.machine.runtime.wrap_exec([&](std::unique_ptr<ExecProcess> process) {
        return std::make_unique<SizedProcess>(std::move(process), sizes);
    });
    const auto cat = world.exec({"cat"}, true);
    CHECK(cat->errors() == -1);
    CHECK(cat->input() == cat->output());
    cat->resize(120, 50);
    write_whole(cat->input(), "hello");
    std::array<char, 5> text{};
    std::size_t got = 0;
    while (got < text.size()) {
        pollfd waited{cat->output(), POLLIN, 0};
        poll(&waited, 1, -1);
        const ssize_t count = read(cat->output(), text.data() + got, text.size() - got);
        if (count > 0) got += static_cast<std::size_t>(count);
    }
    CHECK(std::string(text.data(), text.size()) == "hello");
    CHECK(sizes.with([](const auto& all) { return all; }) == std::vector<std::string>{"120x50"});
    cat->kill(15);
    CHECK(code_at_end(*cat) == 128 + 15);
}

TEST_CASE("errors of a command's start keep their code") {
    ExecWorld world;
    CHECK(code_of([&] {
              world.leader->runtime().exec("unknown", {{"true"}, {}, false, 80, 24});
          }) == ErrorCode::not_found);
    CHECK(code_of([&] { world.exec({}); }) == ErrorCode::invalid_argument);
}
