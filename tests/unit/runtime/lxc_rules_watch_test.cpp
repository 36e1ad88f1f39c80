#include "libsvc/runtime/lxc/network/rules_watch.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <catch2/catch.hpp>

using namespace svc::lxc;

namespace {

template <class T>
std::string raw_bytes(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string attribute(std::uint16_t type, std::string value) {
    nlattr header{};
    header.nla_type = type;
    header.nla_len = static_cast<std::uint16_t>(sizeof header + value.size());
    value.resize((value.size() + 3) / 4 * 4);
    return raw_bytes(header) + value;
}

std::string rules_message(int kind, const std::string& table, int subsystem = NFNL_SUBSYS_NFTABLES) {
    using namespace std::string_literals;
    const std::string body = raw_bytes(nfgenmsg{}) + attribute(NFTA_RULE_HANDLE, std::string(8, '\0')) +
                             attribute(NFTA_RULE_TABLE, table + "\0"s);
    nlmsghdr header{};
    header.nlmsg_type = static_cast<std::uint16_t>(subsystem << 8 | kind);
    header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + body.size());
    return raw_bytes(header) + body;
}

}  // namespace

TEST_CASE("removed tables, chains and rules are told, by the name of their table") {
    for (const int kind : {NFT_MSG_DELTABLE, NFT_MSG_DELCHAIN, NFT_MSG_DELRULE}) {
        CHECK(tells_removal(rules_message(kind, "svc_a"), "svc_a"));
        CHECK_FALSE(tells_removal(rules_message(kind, "svc_ab"), "svc_a"));
        CHECK_FALSE(tells_removal(rules_message(kind, "svc_"), "svc_a"));
    }
    for (const int kind : {NFT_MSG_NEWTABLE, NFT_MSG_NEWRULE, NFT_MSG_NEWSETELEM, NFT_MSG_DELSETELEM})
        CHECK_FALSE(tells_removal(rules_message(kind, "svc_a"), "svc_a"));
    CHECK_FALSE(tells_removal(rules_message(NFT_MSG_DELTABLE, "svc_a", NFNL_SUBSYS_CTNETLINK), "svc_a"));
    CHECK(tells_removal(rules_message(NFT_MSG_DELRULE, "other") + rules_message(NFT_MSG_NEWRULE, "svc_a") +
                            rules_message(NFT_MSG_DELTABLE, "svc_a"),
                        "svc_a"));
}

TEST_CASE("cut and damaged messages about rules are read to their end and no further") {
    const std::string whole = rules_message(NFT_MSG_DELTABLE, "svc_a");
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK_FALSE(tells_removal(std::string_view(whole).substr(0, size), "svc_a"));
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const char damage : {'\0', '\1', '\xff'}) {
            std::string text = whole;
            text[at] = damage;
            CHECK_NOTHROW(tells_removal(text, "svc_a"));
        }
}
