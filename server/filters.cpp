#include "server/filters.h"

#include <algorithm>
#include <array>

#include "libsvc/base/strings.h"
#include "server/query.h"

namespace svc::server {

namespace {

using Values = std::vector<std::string>;

bool contains(const Values& values, const std::string& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

// The values of one query key; everything passes a key that is not given.
class Wanted {
  public:
    Wanted(const Request& request, std::string_view key) {
        for (const std::string& value : split(request.query_value(key), ','))
            values_.emplace_back(trim(value));
    }
    bool given() const { return !values_.empty(); }
    std::optional<std::string> sole() const {
        return values_.size() == 1 ? std::optional(values_.front()) : std::nullopt;
    }
    bool any(std::string_view value) const {
        return values_.empty() || contains(values_, std::string(value));
    }
    bool number(int value) const { return values_.empty() || any(std::to_string(value)); }
    bool all(const Values& held) const {
        return std::all_of(values_.begin(), values_.end(),
                           [&held](const std::string& value) { return contains(held, value); });
    }

  private:
    Values values_;
};

Wanted wanted_flag(const Request& request, std::string_view key) {
    query_flag(request, key);  // refuses what is no flag
    return {request, key};
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
          instance_type(r, "instance_type"),
          status(r, "status"),
          boot_package(r, "boot_package"),
          abi(r, "abi"),
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
    explicit InstanceWanted(const Request& r)
        : id(r, "id"),
          name(r, "name"),
          type(r, "type"),
          status(r, "status"),
          node(r, "node"),
          app_id(r, "app_id"),
          app_name(r, "app_name"),
          app_version(r, "app_version"),
          image_id(r, "image_id"),
          image_version(r, "image_version"),
          tags(r, "tags") {}

    bool given() const {
        const std::array all{&id,       &name,        &type,     &status,        &node, &app_id,
                             &app_name, &app_version, &image_id, &image_version, &tags};
        return std::any_of(all.begin(), all.end(), [](const Wanted* wanted) { return wanted->given(); });
    }
    std::optional<std::string> only() const { return id.sole() ? id.sole() : name.sole(); }

    bool operator()(const Instance& i) const {
        return id.any(i.id.str()) && name_is_wanted(i) && type.any(to_text(i.type)) &&
               status.any(to_text(i.status)) && node.any(*i.node) && source(i) && tags.all(i.tags);
    }
    bool name_is_wanted(const Instance& i) const { return !name.given() || name.any(i.name()); }
    bool source(const Instance& i) const {
        return app_id.any(*i.app_id) && app_name.any(*i.app_name) && app_version.number(i.app_version) &&
               image_id.any(*i.image_id) && image_version.number(i.image_version);
    }

    Wanted id, name, type, status, node, app_id, app_name, app_version, image_id, image_version, tags;
};

}  // namespace

std::function<bool(const Application&)> application_filter(const Request& request) {
    return ApplicationFilter(request);
}

InstanceFilter instance_filter(const Request& request) {
    const InstanceWanted wanted(request);
    if (!wanted.given()) return {};
    return {wanted, wanted.only()};
}

}  // namespace svc::server
