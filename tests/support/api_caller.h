#pragma once
// The API as tests call it: a reply as JSON, uploads, waiting for operations.
#include <string>

#include "libsvc/base/json.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/http/request.h"

namespace svc::test {

struct ApiReply {
    int status = 0;
    Headers headers;
    std::string text;
    Json json() const { return Json::parse(text); }
    Json metadata() const { return json().at("metadata"); }
    std::string error() const { return json().at("error").as_string(); }
    std::string operation() const;  // "/1.0/operations/<uuid>" of a 202
    std::string operation_id() const;
};

// One thread.
class ApiCaller {
  public:
    explicit ApiCaller(Target target) : client_(std::move(target)) {}
    ApiReply call(Method method, const std::string& path, const std::string& body = "",
                  const Headers& headers = {});
    ApiReply get(const std::string& path) { return call(Method::get, path); }
    ApiReply post(const std::string& path, const Json& body) { return call(Method::post, path, body.dump()); }
    ApiReply patch(const std::string& path, const Json& body);  // as application/json
    ApiReply remove(const std::string& path, const std::string& body = "") {
        return call(Method::delete_, path, body);
    }
    // `request` is the X-SVC-Request header.
    ApiReply upload(Method method, const std::string& path, const std::string& request,
                    const std::string& package, Headers headers = {});
    Json wait(const ApiReply& accepted);  // the final record of the operation of a 202

    Json succeed(const ApiReply& accepted);  // the same; throws unless it is a success
    // An octet-stream without Content-Length, in pieces.
    ApiReply upload_chunked(Method method, const std::string& path, const std::string& package,
                            const Headers& headers);
    void settle();                                               // until no task is running or pending
    void set(const std::string& key, const std::string& value);  // of the configuration

    void add_addon(const std::string& name, const std::string& package);
    // Uploads and waits until it is bootstrapped; the new application's id.
    std::string add_application(const std::string& package);
    // Uploads and waits; the new image's id. Throws when the operation failed.
    std::string add_image(const std::string& name, const std::string& package);
    // Launches and waits until it runs; the new instance's id.
    std::string launch(const std::string& image, const std::string& word = "containers");
    const Target& target() const { return client_.target(); }

  private:
    HttpClient client_;
};

// The last part of the first URL of a resource of an operation record.
std::string resource_id(const Json& operation, const std::string& noun);

}  // namespace svc::test
