#include "libsvc/services/exec/exec_stream.h"

#include <utility>

#include "libsvc/services/exec/exec_session.h"

namespace svc {

ExecStream::ExecStream(std::shared_ptr<ExecSession> session, std::string name)
    : session_(std::move(session)), name_(std::move(name)) {}

ExecStream::~ExecStream() {
    session_->release(name_);
}

void ExecStream::attach(std::shared_ptr<ExecChannel> channel) {
    session_->attach(name_, std::move(channel));
}

void ExecStream::data(std::string bytes) {
    session_->take_data(name_, std::move(bytes));
}

void ExecStream::text(const std::string& message) {
    session_->take_text(name_, message);
}

void ExecStream::drained() {
    session_->drained();
}

void ExecStream::closed(ExecEnd end) {
    session_->closed(name_, end);
}

}  // namespace svc
