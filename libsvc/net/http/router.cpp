#include "libsvc/net/http/router.h"

#include <array>
#include <functional>
#include <optional>
#include <span>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_segments = 32;

using Segments = std::vector<std::string_view>;

// Nothing when the path is not absolute, has an empty segment or too many of them.
std::optional<Segments> segments_of(std::string_view path) {
    if (path.empty() || path.front() != '/') return std::nullopt;
    path.remove_prefix(1);
    if (path.empty()) return Segments();
    if (path.back() == '/') path.remove_suffix(1);
    Segments segments;
    for (;;) {
        const auto slash = path.find('/');
        const auto segment = path.substr(0, slash);
        if (segment.empty() || segments.size() == max_segments) return std::nullopt;
        segments.push_back(segment);
        if (slash == std::string_view::npos) return segments;
        path.remove_prefix(slash + 1);
    }
}

bool is_capture(std::string_view segment) {
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

constexpr std::array<EnumName<Access>, 6> access_names{{
    {Access::everyone, "everyone"},
    {Access::viewer, "viewer"},
    {Access::operator_, "operator"},
    {Access::admin, "admin"},
    {Access::token, "token"},
    {Access::secret, "secret"},
}};

}  // namespace

std::string_view to_text(Access access) {
    return enum_text<Access>(access_names, access);
}

struct Router::Node {
    std::map<std::string, Node, std::less<>> written;
    std::unique_ptr<Node> capture;
    std::map<Method, std::size_t> routes;  // indices

    // The node of a route's path, made when absent.
    Node& reach(std::string_view segment) {
        if (!is_capture(segment)) return written[std::string(segment)];
        if (!capture) capture = std::make_unique<Node>();
        return *capture;
    }

    // The route for `segments`, looked for depth first; `path_known` tells whether any method has the path.
    std::optional<std::size_t> find(Method method, std::span<const std::string_view> segments,
                                    bool& path_known) const {
        if (segments.empty()) return here(method, path_known);
        const auto next = written.find(segments.front());
        if (next != written.end())
            if (auto found = next->second.find(method, segments.subspan(1), path_known)) return found;
        return capture ? capture->find(method, segments.subspan(1), path_known) : std::nullopt;
    }

  private:
    std::optional<std::size_t> here(Method method, bool& path_known) const {
        path_known = path_known || !routes.empty();
        auto found = routes.find(method);
        if (found == routes.end() && method == Method::head) found = routes.find(Method::get);
        return found != routes.end() ? std::optional(found->second) : std::nullopt;
    }
};

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
    auto root = std::make_shared<Node>();
    for (std::size_t index = 0; index < routes_.size(); ++index) {
        const Route& route = routes_[index];
        const auto segments = segments_of(route.path);
        if (!segments) throw Error(ErrorCode::internal, "route " + quoted(route.path) + " is malformed");
        Node* node = root.get();
        for (const auto segment : *segments) node = &node->reach(segment);
        if (!node->routes.emplace(route.method, index).second)
            throw Error(ErrorCode::internal, "route " + quoted(route.path) + " is there twice");
    }
    root_ = std::move(root);
}

Router::Match Router::match(Method method, std::string_view path) const {
    Match match;
    const auto segments = segments_of(path);
    if (!segments) return match;
    const auto index = root_->find(method, *segments, match.path_known);
    if (!index) return match;
    match.route = &routes_[*index];
    const auto names = segments_of(match.route->path);
    for (std::size_t i = 0; i < names->size(); ++i) {
        const auto name = (*names)[i];
        if (is_capture(name)) match.params.emplace(name.substr(1, name.size() - 2), (*segments)[i]);
    }
    return match;
}

}  // namespace svc
