#include "libsvc/runtime/lxc/network/nftables.h"

#include <nftables/libnftables.h>
#include <sched.h>
#include <unistd.h>

#include <climits>
#include <future>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr std::size_t most_open_contexts = 32;  // each holds a descriptor
constexpr std::size_t most_waiting_commands = 4096;

// From here on this thread, and those that it starts, have a table of descriptors of their own.
void leave_descriptors_behind() {
    if (::unshare(CLONE_FILES) != 0) throw system_error("nftables: no table of descriptors", errno);
    ::close_range(STDERR_FILENO + 1, UINT_MAX, 0);
}

// A new context for each call: a context keeps a cache of the kernel's rules.
std::shared_ptr<nft_ctx> make_context(unsigned output_flags) {
    std::shared_ptr<nft_ctx> context(::nft_ctx_new(NFT_CTX_DEFAULT), [](nft_ctx* done) {
        if (done != nullptr) ::nft_ctx_free(done);
    });
    if (!context) throw Error(ErrorCode::internal, "nftables cannot be used");
    ::nft_ctx_buffer_error(context.get());
    ::nft_ctx_buffer_output(context.get());
    ::nft_ctx_output_set_flags(context.get(), output_flags);
    return context;
}

}  // namespace

Nftables::Nftables() {
    std::packaged_task<void()> start([this] {
        leave_descriptors_behind();
        closing_ = std::make_unique<ThreadPool>("lxc-rules", 1, most_open_contexts);
        running_ = std::make_unique<ThreadPool>("lxc-nftables", 1, most_waiting_commands);
    });
    auto started = start.get_future();
    std::thread(std::move(start)).join();
    started.get();
}

Nftables::Output Nftables::execute(const std::string& commands, unsigned output_flags) {
    std::packaged_task<Output()> task([&] {
        auto context = make_context(output_flags);
        Output output;
        output.done = ::nft_run_cmd_from_buffer(context.get(), commands.c_str()) == 0;
        output.text = ::nft_ctx_get_output_buffer(context.get());
        output.errors = ::nft_ctx_get_error_buffer(context.get());
        if (!closing_->post([closed = std::move(context)] {}))
            log::debug("a socket of nftables is closed at once: many are waiting", {});
        return output;
    });
    auto output = task.get_future();
    if (!running_->post([&task] { task(); }))
        throw Error(ErrorCode::unavailable, "too many changes of the network rules wait");
    return output.get();
}

void Nftables::run(const std::string& commands) {
    failpoint("rules.before");
    const Output output = execute(commands, 0);
    if (output.done) return failpoint("rules.changed");
    log::debug("nftables refused", {{"commands", commands}, {"error", output.errors}});
    const std::string first_line = output.errors.substr(0, output.errors.find('\n'));
    throw Error(ErrorCode::internal, "cannot change the network rules: " + std::string(trim(first_line)));
}

std::string Nftables::list_table(const std::string& family, const std::string& table) {
    const Output output = execute("list table " + family + " " + table,
                                  NFT_CTX_OUTPUT_TERSE | NFT_CTX_OUTPUT_STATELESS | NFT_CTX_OUTPUT_HANDLE);
    return output.done ? output.text : "";
}

}  // namespace svc::lxc
