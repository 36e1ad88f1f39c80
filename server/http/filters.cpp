#include "server/http/filters.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc::server {

namespace {

using Values = std::vector<std::string>;

bool contains(const Values& values, const std::string& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

// The values of a key of the query. When the key is absent, every record passes.
class Wanted {
  public:
    Wanted(const Request& request, std::string_view key) {
        for (const std::string& value : split(request.query_value(key), ','))
            values_.emplace_back(trim(value));
    }
    bool given() const { return !values_.empty(); }
    const Values& values() const { return values_; }
    std::optional<std::string> sole() const {
        return values_.size() == 1 ? std::optional(values_.front()) : std::nullopt;
    }
    bool any(std::string_view value) const {
        return values_.empty() || contains(values_, std::string(value));
    }
    bool all(const Values& held) const {
        return std::all_of(values_.begin(), values_.end(),
                           [&held](const std::string& value) { return contains(held, value); });
    }

  private:
    Values values_;
};

// A value that no record can have is a mistake of the client: an empty list would hide it.
Wanted wanted_of(const Request& request, std::string_view key, const Values& allowed) {
    Wanted wanted(request, key);
    for (const std::string& value : wanted.values())
        if (!contains(allowed, value))
            throw_invalid(key, quoted(value) + " is not one of " + join(allowed, ", "));
    return wanted;
}

Wanted wanted_flag(const Request& request, std::string_view key) {
    return wanted_of(request, key, {"true", "false"});
}

Wanted wanted_number(const Request& request, std::string_view key) {
    Wanted wanted(request, key);
    for (const std::string& value : wanted.values())
        if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos)
            throw_invalid(key, quoted(value) + " is not a number from 0 on");
    return wanted;
}

template <class Enum>
Values texts_of(std::initializer_list<Enum> values) {
    Values texts;
    for (const Enum value : values) texts.emplace_back(to_text(value));
    return texts;
}

Values application_statuses() {
    using enum ApplicationStatus;
    return texts_of({error, unknown, initializing, ready, deleted});
}

Values instance_statuses() {
    using enum InstanceStatus;
    return texts_of({error, unknown, created, prepared, started, running, stopped, deleted});
}

Values instance_kinds() {
    using enum InstanceType;
    return texts_of({regular, base, unknown});
}

Values names_of(const std::vector<std::shared_ptr<const Node>>& nodes) {
    Values names;
    for (const auto& node : nodes) names.push_back(node->name);
    return names;
}

std::string_view flag_text(bool value) {
    return value ? "true" : "false";
}

struct ApplicationFilter {
    explicit ApplicationFilter(const Request& r)
        : immutable(wanted_flag(r, "immutable")),
          inhibit_auto_updates(wanted_flag(r, "inhibit_auto_updates")),
          published(wanted_flag(r, "published")),
          id(r, "id"),
          name(r, "name"),
          instance_type(wanted_of(r, "instance_type", instance_type_names())),
          status(wanted_of(r, "status", application_statuses())),
          boot_package(r, "boot_package"),
          abi(wanted_of(r, "abi", abi_names())),
          addons(r, "addons"),
          tags(r, "tags") {}

    bool operator()(const Application& a) const {
        return flags(a) && id.any(a.id.str()) && name.any(a.name) && instance_type.any(a.instance_type) &&
               status.any(to_text(a.status())) && abi.any(a.abi) && addons.all(a.addons) &&
               tags.all(a.tags) && boot_package.any(a.newest() ? a.newest()->manifest.boot_package : "");
    }
    bool flags(const Application& a) const {
        return immutable.any(flag_text(a.immutable)) && published.any(flag_text(a.published())) &&
               inhibit_auto_updates.any(flag_text(a.inhibit_auto_updates));
    }

    Wanted immutable, inhibit_auto_updates, published, id, name, instance_type, status, boot_package, abi,
        addons, tags;
};

struct InstanceWanted {
    InstanceWanted(const Request& r, const NodeService& nodes)
        : id(r, "id"),
          name(r, "name"),
          type(wanted_of(r, "type", instance_kinds())),
          base(wanted_flag(r, "base")),
          pooled(wanted_flag(r, "pooled")),
          status(wanted_of(r, "status", instance_statuses())),
          node(wanted_of(r, "node", names_of(nodes.list()))),
          app_id(r, "app_id"),
          app_name(r, "app_name"),
          app_version(wanted_number(r, "app_version")),
          image_id(r, "image_id"),
          image_version(wanted_number(r, "image_version")),
          tags(r, "tags") {}

    bool given() const {
        const std::array all{&id,     &name,     &type,        &base,     &pooled,        &status, &node,
                             &app_id, &app_name, &app_version, &image_id, &image_version, &tags};
        return std::any_of(all.begin(), all.end(), [](const Wanted* wanted) { return wanted->given(); });
    }
    std::optional<std::string> only() const { return id.sole() ? id.sole() : name.sole(); }

    bool operator()(const Instance& i) const {
        return id.any(i.id.str()) && name_is_wanted(i) && kind(i) && status.any(to_text(i.status)) &&
               node.any(*i.node) && source(i) && tags.all(i.tags);
    }
    bool name_is_wanted(const Instance& i) const { return !name.given() || name.any(i.name()); }
    bool kind(const Instance& i) const {
        return type.any(to_text(i.type)) && base.any(flag_text(i.type == InstanceType::base)) &&
               pooled.any(flag_text(i.pooled));
    }
    bool source(const Instance& i) const {
        return app_id.any(*i.app_id) && app_name.any(*i.app_name) &&
               app_version.any(std::to_string(i.app_version)) && image_id.any(*i.image_id) &&
               image_version.any(std::to_string(i.image_version));
    }

    Wanted id, name, type, base, pooled, status, node, app_id, app_name, app_version, image_id, image_version,
        tags;
};

}  // namespace

std::function<bool(const Application&)> application_filter(const Request& request) {
    return ApplicationFilter(request);
}

InstanceFilter instance_filter(const Request& request, const NodeService& nodes) {
    const InstanceWanted wanted(request, nodes);
    if (!wanted.given()) return {};
    return {wanted, wanted.only()};
}

}  // namespace svc::server
