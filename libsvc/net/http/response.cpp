#include "libsvc/net/http/response.h"

namespace svc {

Response json_response(int status, std::string body) {
    Response response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    response.body = std::move(body);
    return response;
}

ErrorCode error_code_of_status(int http_status) {
    switch (http_status) {
        case 401:
            return ErrorCode::unauthenticated;
        case 403:
            return ErrorCode::forbidden;
        case 404:
            return ErrorCode::not_found;
        case 409:
            return ErrorCode::conflict;
        case 412:
            return ErrorCode::precondition_failed;
        case 502:
        case 503:
        case 504:
            return ErrorCode::unavailable;
        default:
            return http_status >= 400 && http_status < 500 ? ErrorCode::invalid_argument
                                                           : ErrorCode::internal;
    }
}

}  // namespace svc
