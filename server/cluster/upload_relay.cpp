#include "server/cluster/upload_relay.h"

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "server/http/refusal.h"

namespace svc::server {

UploadRelay::UploadRelay(std::shared_ptr<LeaderConnection> leader, std::shared_ptr<PiecewiseCall> call)
    : leader_(std::move(leader)), call_(std::move(call)) {}

// A leader that answers before it has the whole body refuses it.
void UploadRelay::write(std::string_view data) {
    bool refused = true;
    try {
        refused = call_->answered();
        if (!refused) call_->send_piece(data);
    } catch (const Error&) {
        refused = true;
    }
    if (refused) end_early();
}

// The body is not whole at the leader: it has done nothing.
void UploadRelay::end_early() {
    Response response;
    try {
        response = leader_->answer(call_);
    } catch (const Error&) {
        throw TryLater("the leading manager was lost during the upload: nothing was done");
    }
    std::string text = "the upload was refused";
    try {
        text = Json::parse(response.body).at("error").as_string();
    } catch (const Error&) {
        // No envelope, no better text.
    }
    throw Error(error_code_of_status(response.status), text);
}

void UploadRelay::finish() {
    try {
        call_->end_body();
    } catch (const Error&) {
        end_early();
    }
}

Response UploadRelay::answer() {
    return leader_->answer(call_);
}

}  // namespace svc::server
