#include "libsvc/runtime/lxc/network/rules_watch.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::lxc {

namespace {

constexpr std::size_t largest_datagram = std::size_t{64} << 10;
constexpr std::uint16_t table_attribute = NFTA_TABLE_NAME;  // of all kinds of messages
static_assert(NFTA_CHAIN_TABLE == table_attribute && NFTA_RULE_TABLE == table_attribute);

// Two tools that undo each other's work do not take a processor.
constexpr std::chrono::milliseconds pause{100};
constexpr std::chrono::seconds retry{1};

FileDescriptor rules_socket() {
    FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER));
    sockaddr_nl own{};
    own.nl_family = AF_NETLINK;
    const int group = NFNLGRP_NFTABLES;
    if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
        ::setsockopt(socket.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
        throw system_error("cannot watch the network rules", errno);
    return socket;
}

bool is_removal(std::uint16_t type) {
    if (type >> 8 != NFNL_SUBSYS_NFTABLES) return false;
    const int kind = type & 0xff;
    return kind == NFT_MSG_DELTABLE || kind == NFT_MSG_DELCHAIN || kind == NFT_MSG_DELRULE;
}

// Cuts a part that begins with `header`, whose length is in it, off `text`; empty at the end.
template <class Header>
std::string_view cut_part(std::string_view& text, Header& header, std::size_t (*length)(const Header&)) {
    if (text.size() < sizeof header) return {};
    std::memcpy(&header, text.data(), sizeof header);
    const std::size_t size = length(header);
    if (size < sizeof header || size > text.size()) return {};
    const std::string_view part = text.substr(sizeof header, size - sizeof header);
    text.remove_prefix(std::min(text.size(), (size + 3) / 4 * 4));
    return part;
}

bool names_table(std::string_view attributes, std::string_view table) {
    nlattr header{};
    for (;;) {
        const std::size_t before = attributes.size();
        std::string_view value =
            cut_part<nlattr>(attributes, header, [](const nlattr& h) -> std::size_t { return h.nla_len; });
        if (attributes.size() == before) return false;
        if ((header.nla_type & NLA_TYPE_MASK) != table_attribute) continue;
        return value.substr(0, value.find('\0')) == table;
    }
}

}  // namespace

bool tells_removal(std::string_view messages, std::string_view table) {
    nlmsghdr header{};
    for (;;) {
        const std::size_t before = messages.size();
        const std::string_view body = cut_part<nlmsghdr>(
            messages, header, [](const nlmsghdr& h) -> std::size_t { return h.nlmsg_len; });
        if (messages.size() == before) return false;
        if (is_removal(header.nlmsg_type) && body.size() >= sizeof(nfgenmsg) &&
            names_table(body.substr(sizeof(nfgenmsg)), table))
            return true;
    }
}

RulesWatch::RulesWatch(std::string table, std::function<void()> removed)
    : table_(std::move(table)), removed_(std::move(removed)), socket_(rules_socket()) {
    await();
}

void RulesWatch::await() {
    watcher_.watch(socket_.get(), [this] { look(); });
}

void RulesWatch::look() {
    if (was_removed()) return tell();
    await();
}

void RulesWatch::tell() try {
    removed_();
    watcher_.after(pause, [this] { await(); });
} catch (const std::exception& e) {
    log::error("network rules cannot be made again", {{"error", e.what()}});
    watcher_.after(retry, [this] { tell(); });
}

// Takes all messages that are there. When the kernel had no room for more, it may have been anything.
bool RulesWatch::was_removed() {
    std::array<char, largest_datagram> buffer;
    bool removed = false;
    for (;;) {
        const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (got > 0)
            removed |= tells_removal({buffer.data(), static_cast<std::size_t>(got)}, table_);
        else if (got < 0 && errno == ENOBUFS)
            removed = true;
        else if (got >= 0 || errno != EINTR)
            return removed;
    }
}

}  // namespace svc::lxc
