// Requests about nodes: decoding and checks.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/node.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/size.h"

namespace svc {

namespace {

constexpr double max_rate = 100;
constexpr std::int64_t min_mtu = 576;
constexpr std::int64_t max_mtu = 65535;

std::optional<int> read_count(const JsonFields& fields, std::string_view key) {
    const auto value = fields.integer(key);
    if (value && (*value < 0 || *value > std::numeric_limits<int>::max()))
        throw_invalid(fields.path_of(key), std::to_string(*value) + " is not from 0 to 2147483647");
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<double> read_rate(const JsonFields& fields, std::string_view key, bool zero_is_default) {
    const auto value = fields.number(key);
    if (value == 0.0 && zero_is_default) return std::nullopt;
    if (value && !(*value > 0 && *value <= max_rate))
        throw_invalid(fields.path_of(key), "must be above 0 and at most 100");
    return value;
}

// An array, or comma-separated text.
std::optional<std::vector<std::string>> read_tags(const JsonFields& fields) {
    const Json* const value = fields.raw("tags");
    if (value == nullptr) return std::nullopt;
    std::vector<std::string> result;
    if (value->is_string()) {
        if (trim(value->as_string()).empty()) return result;
        for (const std::string_view tag : split(value->as_string(), ',')) result.emplace_back(trim(tag));
    } else {
        result = *fields.strings("tags");
    }
    check_list_size(fields.path_of("tags"), result.size());
    for (std::size_t i = 0; i < result.size(); ++i)
        check_tag(fields.path_of("tags") + "[" + std::to_string(i) + "]", result[i]);
    return result;
}

bool is_ip(int family, const std::string& text) {
    std::array<unsigned char, sizeof(in6_addr)> parsed{};
    return text.find('\0') == std::string::npos && inet_pton(family, text.c_str(), parsed.data()) == 1;
}

bool is_label(std::string_view label) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(), allowed);
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A name, or an address of either kind.
bool is_host(const std::string& host) {
    if (is_ip(AF_INET, host) || is_ip(AF_INET6, host)) return true;
    const auto labels = split(host, '.');
    // "1.2.3" is a mistyped address, not a name.
    return host.size() <= 253 && !labels.empty() && !is_number(labels.back()) &&
           std::all_of(labels.begin(), labels.end(), is_label);
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
    return failure == std::errc() && end == text.data() + text.size() && port != 0;
}

// "10.0.0.11", "10.0.0.11:8443", "node1.example.com:8443", "fd00::1", "[fd00::1]:8443"
bool is_host_and_port(const std::string& text) {
    if (is_host(text)) return true;
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string::npos || !is_ip(AF_INET6, text.substr(1, close - 1))) return false;
        const std::string rest = text.substr(close + 1);
        return rest.empty() || (rest[0] == ':' && is_port(std::string_view(rest).substr(1)));
    }
    const std::size_t colon = text.find(':');
    return colon != std::string::npos && text.find(':', colon + 1) == std::string::npos &&
           is_host(text.substr(0, colon)) && is_port(std::string_view(text).substr(colon + 1));
}

std::string read_address(const JsonFields& fields, std::string_view key, bool with_port) {
    std::string text = fields.string(key).value_or("");
    if (!text.empty() && !(with_port ? is_host_and_port(text) : is_host(text)))
        throw_invalid(fields.path_of(key), quoted(text) + " is not an address or host name");
    return text;
}

struct PrivateBlock {
    std::uint32_t address, mask;
};
constexpr std::array<PrivateBlock, 3> private_blocks{
    {{0x0a000000, 0xff000000}, {0xac100000, 0xfff00000}, {0xc0a80000, 0xffff0000}}};

bool is_private_subnet(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return false;
    unsigned prefix = 0;
    const auto [end, failure] = std::from_chars(text.data() + slash + 1, text.data() + text.size(), prefix);
    if (failure != std::errc() || end != text.data() + text.size() || prefix < 8 || prefix > 30) return false;
    in_addr parsed{};
    const std::string host = text.substr(0, slash);
    if (!is_ip(AF_INET, host) || inet_pton(AF_INET, host.c_str(), &parsed) != 1) return false;
    const std::uint32_t number = ntohl(parsed.s_addr);
    return std::any_of(private_blocks.begin(), private_blocks.end(),
                       [number](const PrivateBlock& b) { return (number & b.mask) == b.address; });
}

std::uint32_t read_mtu(const JsonFields& fields, std::uint32_t fallback) {
    const std::int64_t mtu = fields.integer("network_bridge_mtu").value_or(0);
    if (mtu == 0) return fallback;
    if (mtu < min_mtu || mtu > max_mtu)
        throw_invalid("network_bridge_mtu", std::to_string(mtu) + " is not from 576 to 65535");
    return static_cast<std::uint32_t>(mtu);
}

void read_network(const JsonFields& fields, NodeCreate& request) {
    request.bridge_mtu = read_mtu(fields, request.bridge_mtu);
    if (const auto name = fields.string("network_name"); name && !name->empty()) {
        // The kernel takes 15 characters for an interface.
        if (name->size() > 15 || !is_label(*name))
            throw_invalid("network_name", quoted(*name) + " is not the name of an interface");
        request.network_name = *name;
    }
    if (const auto subnet = fields.string("network_subnet"); subnet && !subnet->empty()) {
        if (!is_private_subnet(*subnet))
            throw_invalid("network_subnet",
                          quoted(*subnet) + " is not a private subnet like 192.168.100.1/20");
        request.network_subnet = *subnet;
    }
}

void read_storage(const JsonFields& fields, NodeCreate& request) {
    request.storage_device = fields.string("storage_device").value_or("");
    request.storage_pool = fields.string("storage_pool").value_or("");
    if (has_control_characters(request.storage_device))
        throw_invalid("storage_device", "must not contain control characters");
    if (has_control_characters(request.storage_pool))
        throw_invalid("storage_pool", "must not contain control characters");
    if (!request.storage_device.empty() && !request.storage_pool.empty())
        throw_invalid("storage_pool", "cannot be given together with storage_device");
}

void read_capacity(const JsonFields& fields, NodeCreate& request) {
    request.cpus = read_count(fields, "cpus").value_or(0);
    request.memory = size_in(fields, "memory").value_or(0);
    request.cpu_allocation_rate =
        read_rate(fields, "cpu_allocation_rate", true).value_or(request.cpu_allocation_rate);
    request.memory_allocation_rate =
        read_rate(fields, "memory_allocation_rate", true).value_or(request.memory_allocation_rate);
    // In POST, 0 means the default of the GPU type; PATCH can set 0 slots.
    if (const auto slots = read_count(fields, "gpu_slots"); slots.value_or(0) > 0) request.gpu_slots = slots;
    if (const auto slots = read_count(fields, "gpu_encoder_slots"); slots.value_or(0) > 0)
        request.gpu_encoder_slots = slots;
}

std::vector<NodePatch::GpuSlots> read_gpus(const JsonFields& fields) {
    std::vector<NodePatch::GpuSlots> result;
    for (const JsonFields& gpu : fields.objects("gpus").value_or(std::vector<JsonFields>())) {
        NodePatch::GpuSlots change;
        if (gpu.raw("id") == nullptr)
            throw Error(ErrorCode::invalid_argument, gpu.path_of("id") + " is required");
        change.id = *read_count(gpu, "id");
        change.slots = read_count(gpu, "slots");
        change.encoder_slots = read_count(gpu, "encoder_slots|encoder-slots");
        const auto same = [&](const NodePatch::GpuSlots& other) { return other.id == change.id; };
        if (std::any_of(result.begin(), result.end(), same))
            throw_invalid(gpu.path_of("id"), std::to_string(change.id) + " appears twice");
        result.push_back(change);
    }
    return result;
}

}  // namespace

NodePatch NodePatch::from_json(const Json& body) {
    const JsonFields fields(body);
    NodePatch patch;
    if (fields.raw("public_address") != nullptr)
        patch.public_address = read_address(fields, "public_address", false);
    patch.cpus = read_count(fields, "cpus");
    patch.cpu_allocation_rate = read_rate(fields, "cpu_allocation_rate", false);
    patch.memory = size_in(fields, "memory");
    patch.memory_allocation_rate = read_rate(fields, "memory_allocation_rate", false);
    patch.gpu_slots = read_count(fields, "gpu_slots");
    patch.gpu_encoder_slots = read_count(fields, "gpu_encoder_slots");
    patch.tags = read_tags(fields);
    patch.unschedulable = fields.boolean("unscheduable|unschedulable");
    patch.gpus = read_gpus(fields);
    return patch;
}

NodeCreate NodeCreate::from_json(const Json& body) {
    const JsonFields fields(body);
    NodeCreate request;
    request.name = fields.require_string("name");
    check_node_name("name", request.name);
    request.address = read_address(fields, "address", true);
    if (request.address.empty()) throw Error(ErrorCode::invalid_argument, "address is required");
    request.public_address = read_address(fields, "public_address", false);
    request.trust_password = fields.string("trust_password|trust-password").value_or("");
    request.trust_token = fields.string("trust_token|trust-token").value_or("");
    read_network(fields, request);
    read_storage(fields, request);
    read_capacity(fields, request);
    request.tags = read_tags(fields).value_or(std::vector<std::string>());
    request.unmanaged = fields.boolean("unmanaged").value_or(false);
    return request;
}

NodeRemoval NodeRemoval::from_json(const Json& body) {
    NodeRemoval removal;
    if (body.is_null()) return removal;
    const JsonFields fields(body);
    removal.force = fields.boolean("force").value_or(false);
    removal.keep_in_cluster = fields.boolean("keep_in_cluster").value_or(false);
    return removal;
}

}  // namespace svc
