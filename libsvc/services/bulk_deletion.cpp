#include "libsvc/services/bulk_deletion.h"

#include <optional>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
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

// The end of each deletion starts the next one.
class BulkDeletion::Run : public std::enable_shared_from_this<Run> {
  public:
    Run(Engine& engine, const BulkKind& kind, std::size_t at_once, const Operation& operation)
        : engine_(engine),
          kind_(kind),
          at_once_(at_once),
          ids_(*JsonFields(operation.arguments).strings("ids")),
          force_(operation.arguments.at("force").as_bool()),
          requestor_(operation.requestor) {}

    void begin(OperationContext& context) {
        resumed_ = context.resumed();
        completion_ = context.detach([weak = weak_from_this()] {
            if (const auto self = weak.lock())
                self->state_.with([](State& state) { state.given_up = stopped(); });
        });
        go_on();
    }

  private:
    using End = std::function<void(OperationCompletion&)>;
    struct State {
        std::size_t next = 0;
        std::size_t under_way = 0;
        std::vector<std::string> failures{};
        std::optional<Error> given_up{};  // nothing more is started: cancelled, or the service ends
    };

    void go_on() {
        while (const auto id = take()) start(*id);
        if (const End end = take_end()) end(*completion_);
    }

    std::optional<std::string> take() {
        return state_.with([&](State& state) -> std::optional<std::string> {
            if (state.given_up || state.under_way == at_once_ || state.next == ids_.size())
                return std::nullopt;
            ++state.under_way;
            return ids_[state.next++];
        });
    }

    void start(const std::string& id) {
        try {
            engine_.when_final(kind_.remove(id, force_, requestor_)->id.str(), std::nullopt,
                               [self = shared_from_this(), id](const Started& ended) {
                                   self->leave(id, *ended);
                                   self->go_on();
                               });
        } catch (const Error& e) {
            leave(id, e);
        }
    }

    void leave(const std::string& id, const Operation& ended) {
        if (!is_final(ended.status)) return leave(id, stopped());  // the service ends
        state_.with([&](State& state) {
            --state.under_way;
            if (ended.status != OperationStatus::success) state.failures.push_back(id + ": " + ended.err);
        });
    }

    void leave(const std::string& id, const Error& refusal) {
        const bool service_ends =
            refusal.code() == ErrorCode::unavailable || refusal.code() == ErrorCode::cancelled;
        // By an earlier life of the service, or that deletion goes on by itself.
        const bool deleted_before =
            resumed_ && (refusal.code() == ErrorCode::not_found || refusal.code() == ErrorCode::busy);
        state_.with([&](State& state) {
            --state.under_way;
            if (service_ends)
                state.given_up = refusal;
            else if (!deleted_before)
                state.failures.push_back(id + ": " + refusal.what());
        });
    }

    // Nothing while there is something to wait for.
    End take_end() {
        return state_.with([&](State& state) -> End {
            if (state.under_way > 0) return {};
            std::optional<Error> failure = state.given_up;
            if (!failure && !state.failures.empty())
                failure.emplace(ErrorCode::internal, std::to_string(state.failures.size()) + " of " +
                                                         std::to_string(ids_.size()) +
                                                         " not deleted: " + join(state.failures, "; "));
            return [failure](OperationCompletion& completion) {
                failure ? completion.fail(*failure) : completion.succeed([] { return OperationResult{}; });
            };
        });
    }

    Engine& engine_;
    const BulkKind& kind_;
    const std::size_t at_once_;
    const std::vector<std::string> ids_;
    const bool force_;
    const std::string requestor_;
    bool resumed_ = false;
    Guarded<State> state_;
    std::shared_ptr<OperationCompletion> completion_;
};

BulkDeletion::BulkDeletion(Engine& engine, std::vector<BulkKind> kinds, std::size_t at_once)
    : engine_(engine), at_once_(at_once) {
    for (BulkKind& kind : kinds) kinds_.emplace(kind.noun, std::move(kind));
    OperationHandler handler;
    handler.run = [this](OperationContext& context) { return run(context); };
    handler.resumable = true;
    engine_.handle("bulk.delete", std::move(handler));
}

OperationResult BulkDeletion::run(OperationContext& context) const {
    const Operation& operation = context.operation();
    const BulkKind& kind = kinds_.at(operation.arguments.at("noun").as_string());
    std::make_shared<Run>(engine_, kind, at_once_, operation)->begin(context);
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
