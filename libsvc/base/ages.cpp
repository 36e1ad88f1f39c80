#include "libsvc/base/ages.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace svc {

Duration Ages::since(const std::string& what, Time when) {
    const SteadyTime now = clock_.steady_now();
    const auto [found, is_new] = ages_.try_emplace(what);
    Age& age = found->second;
    if (is_new || age.when != when) age = {when, std::max(clock_.now() - when, Duration::zero()), now};
    age.asked = true;
    return age.before + (now - age.seen);
}

void Ages::forget_unasked() {
    for (auto age = ages_.begin(); age != ages_.end();)
        age = std::exchange(age->second.asked, false) ? std::next(age) : ages_.erase(age);
}

}  // namespace svc
