#pragma once
// The body of an upload on its way to the leader: never more than a piece of it is here.
#include "libsvc/net/http/request.h"
#include "server/cluster/leader_connection.h"

namespace svc::server {

// One call at a time. The leader's answer is asked for after finish().
class UploadRelay final : public BodySink {
  public:
    UploadRelay(std::shared_ptr<LeaderConnection> leader, std::shared_ptr<PiecewiseCall> call);
    void write(std::string_view data) override;
    void finish() override;
    Response answer();  // throws as LeaderConnection::answer() does

  private:
    [[noreturn]] void end_early();

    std::shared_ptr<LeaderConnection> leader_;
    std::shared_ptr<PiecewiseCall> call_;
};

}  // namespace svc::server
