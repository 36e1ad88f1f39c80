#include "libsvc/formats/yaml_line.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/node/impl.h>
#include <yaml-cpp/node/iterator.h>
#include <yaml-cpp/node/node.h>
#include <yaml-cpp/node/parse.h>

#include <cstdlib>
#include <iterator>
#include <string>

#include "libsvc/base/strings.h"

namespace svc {

namespace {

// Walks from value to value along a path and keeps the line of the last one that is there.
class YamlWalk {
  public:
    explicit YamlWalk(const YAML::Node& root) : at_(root) {}

    // "url" or "regions[1]"; false when the value is absent.
    bool step(const std::string& part) {
        const std::size_t bracket = part.find('[');
        if (!enter_key(part.substr(0, bracket))) return false;
        return bracket == std::string::npos ||
               enter_item(std::strtoul(part.c_str() + bracket + 1, nullptr, 10));
    }
    std::size_t line() const { return line_; }

  private:
    bool enter_key(const std::string& name) {
        if (!at_.IsMap()) return false;
        for (const auto& member : at_)
            if (member.first.IsScalar() && member.first.Scalar() == name)
                return enter(member.first.Mark(), member.second);
        return false;
    }
    bool enter_item(std::size_t index) {
        if (!at_.IsSequence() || index >= at_.size()) return false;
        const YAML::Node item = *std::next(at_.begin(), static_cast<std::ptrdiff_t>(index));
        return enter(item.Mark(), item);
    }
    bool enter(const YAML::Mark& mark, const YAML::Node& value) {
        line_ = static_cast<std::size_t>(mark.line) + 1;
        at_.reset(value);
        return true;
    }

    YAML::Node at_;
    std::size_t line_ = 0;
};

}  // namespace

std::size_t yaml_line(std::string_view text, std::string_view path) {
    try {
        YamlWalk walk(YAML::Load(std::string(text)));
        for (const std::string& part : split(path, '.'))
            if (!walk.step(part)) break;
        return walk.line();
    } catch (const YAML::Exception&) {
        return 0;
    }
}

}  // namespace svc
