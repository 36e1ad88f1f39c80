#pragma once
// The collections that more than one service reads. Each is written by one service.
#include <string>
#include <string_view>

#include "libsvc/model/cluster/certificate.h"
#include "libsvc/model/cluster/node.h"
#include "libsvc/model/cluster/operation.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/model/packages/addon.h"
#include "libsvc/model/packages/application.h"
#include "libsvc/model/packages/image.h"
#include "libsvc/store/collection.h"

namespace svc {

template <>
struct RecordTraits<Image> {
    static constexpr std::string_view noun = "image";
    static constexpr std::string_view prefix = "images/";
    static const std::string& id(const Image& i) { return i.id.str(); }
    static std::string name(const Image& i) { return i.name; }
    static Json to_store(const Image& i) { return image_to_store(i); }
    static Image from_store(const Json& j) { return image_from_store(j); }
};
using Images = Collection<Image>;

template <>
struct RecordTraits<Instance> {
    static constexpr std::string_view noun = "container";
    static constexpr std::string_view prefix = "instances/";
    static const std::string& id(const Instance& i) { return i.id.str(); }
    static std::string name(const Instance& i) { return *i.own_name; }
    static std::string_view id_in(std::string_view name) { return instance_id_in(name); }
    static Json to_store(const Instance& i) { return instance_to_store(i); }
    static Instance from_store(const Json& j) { return instance_from_store(j); }
};
using Instances = Collection<Instance>;

template <>
struct RecordTraits<Node> {
    static constexpr std::string_view noun = "node";
    static constexpr std::string_view prefix = "nodes/";
    static const std::string& id(const Node& n) { return n.name; }
    static std::string name(const Node&) { return ""; }
    static Json to_store(const Node& n) { return node_to_store(n); }
    static Node from_store(const Json& j) { return node_from_store(j); }
};
using Nodes = Collection<Node>;

// A machine that is to be no node, although its manager lives: a user has removed the node.
struct RemovedNode {
    std::string name;
    bool keeps_manager = false;  // the machine stays in the cluster; else this is forgotten when it has gone
};

template <>
struct RecordTraits<RemovedNode> {
    static constexpr std::string_view noun = "removed node";
    static constexpr std::string_view prefix = "removed_nodes/";
    static const std::string& id(const RemovedNode& n) { return n.name; }
    static std::string name(const RemovedNode&) { return ""; }
    static Json to_store(const RemovedNode& n) {
        return Json::object({{"schema", 1}, {"name", n.name}, {"keeps_manager", n.keeps_manager}});
    }
    static RemovedNode from_store(const Json& j) {
        const JsonFields fields(j);
        return {fields.require_string("name"), fields.boolean("keeps_manager").value_or(false)};
    }
};
using RemovedNodes = Collection<RemovedNode>;

template <>
struct RecordTraits<Addon> {
    static constexpr std::string_view noun = "addon";
    static constexpr std::string_view prefix = "addons/";
    static const std::string& id(const Addon& a) { return a.name; }
    static std::string name(const Addon&) { return ""; }
    static Json to_store(const Addon& a) { return addon_to_store(a); }
    static Addon from_store(const Json& j) { return addon_from_store(j); }
};
using Addons = Collection<Addon>;

template <>
struct RecordTraits<Application> {
    static constexpr std::string_view noun = "application";
    static constexpr std::string_view prefix = "applications/";
    static const std::string& id(const Application& a) { return a.id.str(); }
    static std::string name(const Application& a) { return a.name; }
    static Json to_store(const Application& a) { return application_to_store(a); }
    static Application from_store(const Json& j) { return application_from_store(j); }
};
using Applications = Collection<Application>;

template <>
struct RecordTraits<Certificate> {
    static constexpr std::string_view noun = "certificate";
    static constexpr std::string_view prefix = "certificates/";
    static const std::string& id(const Certificate& c) { return c.fingerprint; }
    static std::string name(const Certificate&) { return ""; }
    static Json to_store(const Certificate& c) { return certificate_to_store(c); }
    static Certificate from_store(const Json& j) { return certificate_from_store(j); }
};
using Certificates = Collection<Certificate>;

template <>
struct RecordTraits<JoinToken> {
    static constexpr std::string_view noun = "join token";
    static constexpr std::string_view prefix = "join_tokens/";
    static const std::string& id(const JoinToken& t) { return t.id; }
    static std::string name(const JoinToken&) { return ""; }
    static Json to_store(const JoinToken& t) { return join_token_to_store(t); }
    static JoinToken from_store(const Json& j) { return join_token_from_store(j); }
};
using JoinTokens = Collection<JoinToken>;

// A configuration key that was set. The value of core.trust_password is its hash.
struct ConfigRecord {
    std::string name;
    std::string value;
};

template <>
struct RecordTraits<ConfigRecord> {
    static constexpr std::string_view noun = "configuration item";
    static constexpr std::string_view prefix = "config/";
    static const std::string& id(const ConfigRecord& c) { return c.name; }
    static std::string name(const ConfigRecord&) { return ""; }
    static Json to_store(const ConfigRecord& c) {
        return Json::object({{"schema", 1}, {"name", c.name}, {"value", c.value}});
    }
    static ConfigRecord from_store(const Json& j) {
        const JsonFields fields(j);
        return {fields.require_string("name"), fields.require_string("value")};
    }
};
using ConfigRecords = Collection<ConfigRecord>;

// The operation that a request has started.
using Started = OperationPtr;

}  // namespace svc
