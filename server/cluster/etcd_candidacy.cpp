#include "server/cluster/etcd_candidacy.h"

#include <mutex>
#include <thread>

namespace svc::server {

struct LeadNews::State {
    std::mutex mutex;
    std::function<void(std::uint64_t)> lead;
    std::jthread thread;
    bool ended = false;
};

LeadNews::LeadNews() : state_(std::make_unique<State>()) {}

LeadNews::~LeadNews() {
    end();
}

void LeadNews::call(std::function<void(std::uint64_t)> lead) {
    const std::lock_guard lock(state_->mutex);
    state_->lead = std::move(lead);
}

// The store's thread keeps the lease meanwhile.
void LeadNews::leading(std::uint64_t term) {
    const std::lock_guard lock(state_->mutex);
    if (state_->ended || !state_->lead || state_->thread.joinable()) return;
    state_->thread = std::jthread([lead = state_->lead, term] { lead(term); });
}

void LeadNews::end() {
    std::jthread running;
    const std::unique_lock lock(state_->mutex);
    state_->ended = true;
    running.swap(state_->thread);
}

EtcdCandidacy::EtcdCandidacy(EtcdStore& store, std::shared_ptr<LeadNews> news)
    : store_(store), news_(std::move(news)) {}

void EtcdCandidacy::campaign(const std::string& address, const std::vector<std::string>& api,
                             std::function<void(std::uint64_t)> lead) {
    news_->call(std::move(lead));
    store_.join(address, api);
    store_.campaign();
}

void EtcdCandidacy::resign() {
    news_->end();
}

}  // namespace svc::server
