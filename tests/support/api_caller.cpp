#include "tests/support/api_caller.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc::test {

namespace {

ApiReply reply_of(ClientReply reply) {
    return {reply.status, std::move(reply.headers), std::move(reply.body)};
}

void require_success(const Json& operation) {
    if (operation.at("status_code").as_int() != 200)
        throw Error(ErrorCode::internal, "operation did not succeed: " + operation.dump());
}

}  // namespace

std::string ApiReply::operation() const {
    return "/" + json().at("operation").as_string();
}

std::string ApiReply::operation_id() const {
    const std::string url = operation();
    return url.substr(url.rfind('/') + 1);
}

ApiReply ApiCaller::call(Method method, const std::string& path, const std::string& body,
                         const Headers& headers) {
    ClientRequest request;
    request.method = method;
    request.path = path;
    request.headers = headers;
    request.body = body;
    return reply_of(client_.call(request));
}

ApiReply ApiCaller::patch(const std::string& path, const Json& body) {
    Headers headers;
    headers.set("Content-Type", "application/json");
    return call(Method::patch, path, body.dump(), headers);
}

ApiReply ApiCaller::upload(Method method, const std::string& path, const std::string& request,
                           const std::string& package, Headers headers) {
    if (!headers.find("Content-Type")) headers.set("Content-Type", "application/octet-stream");
    headers.set("X-SVC-Request", request);
    ClientRequest upload;
    upload.method = method;
    upload.path = path;
    upload.headers = headers;
    upload.length = package.size();
    upload.source = [&package, sent = std::size_t{0}](std::size_t at_most) mutable {
        std::string piece = package.substr(sent, at_most);
        sent += piece.size();
        return piece;
    };
    return reply_of(client_.call(upload));
}

Json ApiCaller::wait(const ApiReply& accepted) {
    if (accepted.status != 202) throw Error(ErrorCode::internal, "not accepted: " + accepted.text);
    return get(accepted.operation() + "/wait?timeout=60").metadata();
}

Json ApiCaller::succeed(const ApiReply& accepted) {
    Json operation = wait(accepted);
    require_success(operation);
    return operation;
}

ApiReply ApiCaller::upload_chunked(Method method, const std::string& path, const std::string& package,
                                   const Headers& headers) {
    ClientRequest upload;
    upload.method = method;
    upload.path = path;
    upload.headers = headers;
    upload.headers.set("Content-Type", "application/octet-stream");
    upload.source = [&package, sent = std::size_t{0}](std::size_t at_most) mutable {
        std::string piece = package.substr(sent, std::min<std::size_t>(at_most, 100));
        sent += piece.size();
        return piece;
    };
    return reply_of(client_.call(upload));
}

void ApiCaller::settle() {
    for (;;) {
        const Json by_status = get("/1.0/operations?recursion=1").metadata();
        const Json* task = nullptr;
        for (const char* status : {"pending", "running", "cancelling"}) {
            const Json* operations = by_status.find(status);
            if (!operations) continue;
            for (const Json& operation : operations->as_array())
                if (operation.at("class") == Json("task")) task = &operation;
        }
        if (!task) return;
        get("/1.0/operations/" + task->at("id").as_string() + "/wait?timeout=60");
    }
}

void ApiCaller::set(const std::string& key, const std::string& value) {
    succeed(patch("/1.0/config", Json::object({{"name", key}, {"value", value}})));
}

void ApiCaller::add_addon(const std::string& name, const std::string& package) {
    succeed(upload(Method::post, "/1.0/addons", "{\"name\":\"" + name + "\"}", package));
}

std::string ApiCaller::add_application(const std::string& package) {
    const Json operation = succeed(upload(Method::post, "/1.0/applications", "", package));
    settle();
    return resource_id(operation, "applications");
}

std::string ApiCaller::add_image(const std::string& name, const std::string& package) {
    const Json operation = wait(upload(Method::post, "/1.0/images", "{\"name\":\"" + name + "\"}", package));
    require_success(operation);
    return resource_id(operation, "images");
}

std::string ApiCaller::launch(const std::string& image, const std::string& word) {
    const Json operation =
        wait(post("/1.0/" + word, Json::object({{"image_id", image}, {"instance_type", "a2.3"}})));
    require_success(operation);
    return resource_id(operation, word);
}

std::string resource_id(const Json& operation, const std::string& noun) {
    const std::string& url = operation.at("resources").at(noun).as_array().at(0).as_string();
    return url.substr(url.rfind('/') + 1);
}

}  // namespace svc::test
