#include "libsvc/services/common/bulk_deletion.h"

#include <deque>
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

// An object can be addressed by several names, so URLs are compared.
std::vector<std::string> urls_of(const BulkRequest& request, const BulkKind& kind) {
    std::vector<std::string> urls;
    std::set<std::string_view> seen;
    urls.reserve(request.ids.size());  // `seen` refers to the texts: they must not move
    for (std::size_t i = 0; i < request.ids.size(); ++i) {
        urls.push_back(kind.check(request.ids[i]));
        if (!seen.insert(urls.back()).second)
            throw_invalid("ids[" + std::to_string(i) + "]", quoted(request.ids[i]) + " appears twice");
    }
    return urls;
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
    return request;
}

// The queue of requests that have a deletion to start. At most `at_once` turns are taken at a time; each
// allows one deletion.
class BulkDeletion::Turns {
  public:
    explicit Turns(std::size_t at_once) : at_once_(at_once) {}
    void wait(std::shared_ptr<Run> run) {
        state_.with([&](State& state) { state.waiting.push_back(std::move(run)); });
    }
    void give_back() {
        state_.with([](State& state) { --state.taken; });
    }
    // Gives the free turns to the requests that wait.
    void go_on();

  private:
    struct State {
        std::size_t taken = 0;
        std::deque<std::shared_ptr<Run>> waiting{};
    };
    std::shared_ptr<Run> next() {
        return state_.with([&](State& state) -> std::shared_ptr<Run> {
            if (state.taken == at_once_ || state.waiting.empty()) return nullptr;
            ++state.taken;
            auto run = std::move(state.waiting.front());
            state.waiting.pop_front();
            return run;
        });
    }

    const std::size_t at_once_;
    Guarded<State> state_;
};

// One request. It waits for turns until it has started all of its deletions.
class BulkDeletion::Run : public std::enable_shared_from_this<Run> {
  public:
    Run(Engine& engine, const BulkKind& kind, Turns& turns, const Operation& operation)
        : engine_(engine),
          kind_(kind),
          turns_(turns),
          ids_(*JsonFields(operation.arguments).strings("ids")),
          force_(operation.arguments.at("force").as_bool()),
          requestor_(operation.requestor) {}

    void begin(OperationContext& context) {
        resumed_ = context.resumed();
        completion_ = context.detach([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->give_up();
        });
        turns_.wait(shared_from_this());
        end_when_over([](State& state) { state.begun = true; });
        turns_.go_on();
    }

    // Called with a turn, which is given back at the end of the deletion that this starts.
    void take_turn() {
        const auto id = take();
        if (!id) return turns_.give_back();
        if (id->more) turns_.wait(shared_from_this());
        start(id->text);
    }

  private:
    struct State {
        bool begun = false;
        std::size_t next = 0;
        std::size_t under_way = 0;
        std::vector<std::string> failures{};
        std::optional<Error> given_up{};  // no more deletions are started: cancelled, or the service stops
    };
    struct Id {
        std::string text;
        bool more;  // ids come after it
    };

    std::optional<Id> take() {
        return state_.with([&](State& state) -> std::optional<Id> {
            if (state.given_up || state.next == ids_.size()) return std::nullopt;
            ++state.under_way;
            const std::string& id = ids_[state.next++];
            return Id{id, state.next < ids_.size()};
        });
    }

    void start(const std::string& id) {
        try {
            engine_.when_final(kind_.remove(id, force_, requestor_)->id.str(), std::nullopt,
                               [self = shared_from_this(), id](const Started& ended) {
                                   self->leave(id, *ended);
                                   self->turns_.go_on();
                               });
        } catch (const Error& e) {
            leave(id, e);
        }
    }

    void give_up() {
        end_when_over([](State& state) { state.given_up = stopped(); });
    }

    void leave(const std::string& id, const Operation& ended) {
        if (!is_final(ended.status)) return leave(id, stopped());  // the service stops
        turns_.give_back();
        end_when_over([&](State& state) {
            --state.under_way;
            if (ended.status != OperationStatus::success) state.failures.push_back(id + ": " + ended.err);
        });
    }

    void leave(const std::string& id, const Error& refusal) {
        const bool service_ends =
            refusal.code() == ErrorCode::unavailable || refusal.code() == ErrorCode::cancelled;
        // An earlier process of the service has deleted it, or that deletion is in progress.
        const bool deleted_before =
            resumed_ && (refusal.code() == ErrorCode::not_found || refusal.code() == ErrorCode::busy);
        turns_.give_back();
        end_when_over([&](State& state) {
            --state.under_way;
            if (service_ends)
                state.given_up = refusal;
            else if (!deleted_before)
                state.failures.push_back(id + ": " + refusal.what());
        });
    }

    // Applies the change and checks in the same step whether anything is left to wait for.
    template <class Change>
    void end_when_over(Change change) {
        const auto failure = state_.with([&](State& state) -> std::optional<std::optional<Error>> {
            change(state);
            const bool is_over =
                state.begun && state.under_way == 0 && (state.given_up || state.next == ids_.size());
            if (!is_over) return std::nullopt;
            return failure_of(state);
        });
        if (!failure) return;
        *failure ? completion_->fail(**failure) : completion_->succeed([] { return OperationResult{}; });
    }

    std::optional<Error> failure_of(const State& state) const {
        if (state.given_up || state.failures.empty()) return state.given_up;
        return Error(ErrorCode::internal, std::to_string(state.failures.size()) + " of " +
                                              std::to_string(ids_.size()) +
                                              " not deleted: " + join(state.failures, "; "));
    }

    Engine& engine_;
    const BulkKind& kind_;
    Turns& turns_;
    const std::vector<std::string> ids_;
    const bool force_;
    const std::string requestor_;
    bool resumed_ = false;
    Guarded<State> state_;
    std::shared_ptr<OperationCompletion> completion_;
};

void BulkDeletion::Turns::go_on() {
    while (const auto run = next()) run->take_turn();
}

BulkDeletion::BulkDeletion(Engine& engine, std::vector<BulkKind> kinds, std::size_t at_once)
    : engine_(engine), turns_(std::make_unique<Turns>(at_once)) {
    for (BulkKind& kind : kinds) kinds_.emplace(kind.noun, std::move(kind));
    OperationHandler handler;
    handler.run = [this](OperationContext& context) { return run(context); };
    handler.resumable = true;
    engine_.handle("bulk.delete", std::move(handler));
}

BulkDeletion::~BulkDeletion() = default;

OperationResult BulkDeletion::run(OperationContext& context) {
    const Operation& operation = context.operation();
    const BulkKind& kind = kinds_.at(operation.arguments.at("noun").as_string());
    std::make_shared<Run>(engine_, kind, *turns_, operation)->begin(context);
    return {};
}

Started BulkDeletion::remove(std::string_view noun, const BulkRequest& request, std::string requestor) {
    const BulkKind& kind = kinds_.find(noun)->second;
    OperationSpec spec;
    spec.kind = "bulk.delete";
    spec.description = kind.description;
    spec.resources[kind.noun] = urls_of(request, kind);
    spec.cancellable = true;
    spec.arguments =
        Json::object({{"noun", kind.noun}, {"ids", to_array(request.ids)}, {"force", request.force}});
    spec.requestor = std::move(requestor);
    return engine_.start(std::move(spec), {});
}

}  // namespace svc
