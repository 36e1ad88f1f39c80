#include "libsvc/streaming/relay/relay_message.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::string_view client_key = "client_id";

// Walks over text that is known to be one JSON value.
class Walker {
  public:
    explicit Walker(std::string_view text) : text_(text) {}
    std::size_t at() const { return at_; }
    char skip_blanks() {  // the character that comes then
        at_ = text_.find_first_not_of(" \t\r\n", at_);
        return text_[at_];
    }
    void step() { ++at_; }
    std::string_view skip_string() {  // with its quotes
        const std::size_t begin = at_++;
        std::size_t quote = text_.find('"', at_);
        for (;;) {
            const std::size_t escape = text_.substr(at_, quote - at_).find('\\');
            if (escape == std::string_view::npos) break;
            at_ += escape + 2;
            if (quote < at_) quote = text_.find('"', at_);
        }
        at_ = quote + 1;
        return text_.substr(begin, at_ - begin);
    }
    void skip_value() {
        std::size_t depth = 0;
        do {
            const char first = skip_blanks();
            if (first == '"') {
                skip_string();
            } else if (first == '{' || first == '[') {
                ++depth, step();
            } else if (first == '}' || first == ']') {
                --depth, step();
            } else if (first == ',' || first == ':') {
                step();
            } else {  // a number or a word
                at_ = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size());
            }
        } while (depth > 0);
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

bool is_client_key(std::string_view written) {
    if (written.find('\\') == std::string_view::npos)
        return written.substr(1, written.size() - 2) == client_key;
    return Json::parse(written).as_string() == client_key;  // "client\u005fid"
}

// The member and the one comma that goes with it, cut out of an object that has it.
std::string without_member(std::string_view text) {
    Walker walker(text);
    walker.skip_blanks();
    std::size_t comma = std::string_view::npos;  // the one before the member
    for (;;) {
        walker.step();
        walker.skip_blanks();
        const std::size_t begin = walker.at();
        const bool found = is_client_key(walker.skip_string());
        walker.skip_blanks();
        walker.step();
        walker.skip_value();
        std::size_t end = walker.at();
        const bool last = walker.skip_blanks() != ',';
        if (!found && !last) {
            comma = walker.at();
            continue;
        }
        if (!last) end = walker.at() + 1;
        const std::size_t from = last && comma != std::string_view::npos ? comma : begin;
        return std::string(text.substr(0, from)).append(text.substr(end));
    }
}

}  // namespace

RelayMessage::RelayMessage(std::string text) : text_(std::move(text)), body_(Json::parse(text_)) {
    if (!body_.is_object()) throw Error(ErrorCode::invalid_argument, "message is not a JSON object");
    const Json* type = body_.find("type");
    if (type == nullptr || !type->is_string())
        throw Error(ErrorCode::invalid_argument, "message has no type");
}

const std::string& RelayMessage::client() const {
    const Json* client = body_.find(client_key);
    if (client == nullptr || !client->is_string())
        throw Error(ErrorCode::invalid_argument,
                    "message of type " + quoted(type()) + " does not say which client it is for");
    return client->as_string();
}

std::string RelayMessage::without_client() const {
    return body_.find(client_key) == nullptr ? text_ : without_member(text_);
}

std::string RelayMessage::with_client(std::string_view client) const {
    const std::string rest = without_client();
    const std::string_view members = std::string_view(rest).substr(rest.find('{') + 1);
    return "{\"client_id\":" + Json(client).dump() + "," + std::string(members);
}

}  // namespace svc
