#include "libsvc/model/instances/steady_mark.h"

namespace svc {

Json SteadyMark::to_json() const {
    if (boot.empty()) return {};
    return Json::object({{"boot", *boot}, {"at", at.time_since_epoch().count()}});
}

SteadyMark SteadyMark::from_json(const JsonFields& fields, std::string_view key) {
    SteadyMark mark;
    const auto stored = fields.object(key);
    if (!stored) return mark;
    mark.boot = stored->string("boot").value_or("");
    mark.at = SteadyTime(Duration(stored->integer("at").value_or(0)));
    return mark;
}

}  // namespace svc
