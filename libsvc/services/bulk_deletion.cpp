#include "libsvc/services/bulk_deletion.h"

#include <atomic>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

Error stopped() {
    return {ErrorCode::cancelled, "Operation cancelled"};
}

JsonArray to_array(const std::vector<std::string>& texts) {
    return {texts.begin(), texts.end()};
}

}  // namespace

BulkRequest BulkRequest::from_json(const Json& body) {
    const JsonFields fields(body);
    BulkRequest request{fields.strings("ids").value_or(std::vector<std::string>{}),
                        fields.boolean("force").value_or(false)};
    if (request.ids.empty()) throw Error(ErrorCode::invalid_argument, "ids is required");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < request.ids.size(); ++i)
        if (!seen.insert(request.ids[i]).second)
            throw_invalid("ids[" + std::to_string(i) + "]", quoted(request.ids[i]) + " appears twice");
    return request;
}

// One deletion after the other: the end of each starts the next.
class BulkDeletion::Run : public std::enable_shared_from_this<Run> {
  public:
    Run(Engine& engine, const BulkKind& kind, const Operation& operation)
        : engine_(engine),
          kind_(kind),
          ids_(*JsonFields(operation.arguments).strings("ids")),
          force_(operation.arguments.at("force").as_bool()),
          requestor_(operation.requestor) {}

    void begin(OperationContext& context) {
        resumed_ = context.resumed();
        completion_ = context.detach([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->stopping_ = true;
        });
        next();
    }

  private:
    void next() {
        try {
            while (index_ < ids_.size() && !stopping_)
                if (start(ids_[index_++])) return;
        } catch (const Error& e) {
            return completion_->fail(e);
        }
        if (stopping_)
            completion_->fail(stopped());
        else
            completion_->succeed([] { return OperationResult{}; });
    }

    // False: an earlier life of the service has deleted it.
    bool start(const std::string& id) {
        std::string operation;
        try {
            operation = kind_.remove(id, force_, requestor_)->id.str();
        } catch (const Error& e) {
            if (resumed_ && e.code() == ErrorCode::not_found) return false;
            throw;
        }
        engine_.when_final(operation, std::nullopt,
                           [self = shared_from_this()](const Started& ended) { self->ended(*ended); });
        return true;
    }

    void ended(const Operation& operation) {
        if (operation.status == OperationStatus::success) return next();
        if (!is_final(operation.status)) return completion_->fail(stopped());  // the service ends
        completion_->fail(Error(ErrorCode::internal, operation.err));
    }

    Engine& engine_;
    const BulkKind& kind_;
    const std::vector<std::string> ids_;
    const bool force_;
    const std::string requestor_;
    bool resumed_ = false;
    std::size_t index_ = 0;  // one deletion at a time touches it
    std::atomic<bool> stopping_{false};
    std::shared_ptr<OperationCompletion> completion_;
};

BulkDeletion::BulkDeletion(Engine& engine, std::vector<BulkKind> kinds) : engine_(engine) {
    for (BulkKind& kind : kinds) kinds_.emplace(kind.noun, std::move(kind));
    OperationHandler handler;
    handler.run = [this](OperationContext& context) { return run(context); };
    handler.resumable = true;
    engine_.handle("bulk.delete", std::move(handler));
}

OperationResult BulkDeletion::run(OperationContext& context) const {
    const Operation& operation = context.operation();
    const BulkKind& kind = kinds_.at(operation.arguments.at("noun").as_string());
    std::make_shared<Run>(engine_, kind, operation)->begin(context);
    return {};
}

Started BulkDeletion::remove(std::string_view noun, const BulkRequest& request, std::string requestor) {
    const BulkKind& kind = kinds_.find(noun)->second;
    OperationSpec spec;
    spec.kind = "bulk.delete";
    spec.description = kind.description;
    for (const std::string& id : request.ids) spec.resources[kind.noun].push_back(kind.check(id));
    spec.cancellable = true;
    spec.arguments =
        Json::object({{"noun", kind.noun}, {"ids", to_array(request.ids)}, {"force", request.force}});
    spec.requestor = std::move(requestor);
    return engine_.start(std::move(spec), {});
}

}  // namespace svc
