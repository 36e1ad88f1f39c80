#include "server/http/listing.h"

#include <memory>
#include <optional>
#include <utility>

#include "libsvc/model/values/api.h"
#include "server/http/query.h"

namespace svc::server {

namespace {

constexpr std::size_t whole_list_bytes = 64U << 10;  // up to here, a list is sent as any other reply
constexpr std::size_t list_piece_bytes = 128U << 10;

// The body of a reply whose metadata is a list.
class ListBody final : public BodySource {
  public:
    // `empty`: the body without items.
    ListBody(std::string empty, ListItems items) : text_(std::move(empty)), items_(std::move(items)) {
        const std::size_t begin = text_.rfind("[]") + 1;
        end_ = text_.substr(begin) + '\n';
        text_.resize(begin);
    }

    std::string read(std::size_t at_most) override {
        at_most = std::min(at_most, list_piece_bytes);
        text_.reserve(at_most + at_most / 8);  // the last item goes beyond
        while (text_.size() < at_most && next_ < items_.count) add_item();
        if (next_ == items_.count) text_ += std::exchange(end_, "");
        std::string rest = text_.size() > at_most ? text_.substr(at_most) : "";
        text_.resize(std::min(at_most, text_.size()));
        return std::exchange(text_, std::move(rest));
    }
    bool is_read() const { return end_.empty() && text_.empty(); }
    void put_back(std::string piece) { text_.insert(0, piece); }
    std::optional<std::uint64_t> length() const override { return std::nullopt; }
    bool ends_by_itself() const override { return true; }
    std::size_t held_bytes() const override { return items_.held_bytes + list_piece_bytes; }

  private:
    void add_item() {
        if (next_ > 0) text_ += ',';
        items_.append(text_, next_++);
    }

    std::string text_;  // rendered, and not read yet
    std::string end_;   // what follows the items
    ListItems items_;
    std::size_t next_ = 0;
};

}  // namespace

Page Page::of(const Request& request) {
    Page page;
    const std::string offset = request.query_value("offset");
    const std::string limit = request.query_value("limit");
    page.given = !offset.empty() || !limit.empty();
    if (!offset.empty()) page.offset = count_of_query(offset, "offset");
    if (!limit.empty() && limit != "-1") page.limit = count_of_query(limit, "limit");
    return page;
}

Response list_reply(const Page& page, std::size_t total_size, ListItems items) {
    auto body = std::make_unique<ListBody>(
        page.given ? sync_page_body(Json::array(), total_size) : sync_body(Json::array()), std::move(items));
    std::string first = body->read(whole_list_bytes);
    if (body->is_read()) return json_response(200, std::move(first));
    body->put_back(std::move(first));
    Response response = json_response(200, "");
    response.source = std::move(body);
    return response;
}

}  // namespace svc::server
