#include "libsvc/cluster/cluster_blobs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t copies_of_each = 2;

}  // namespace

// The other manager gets the bytes first: what fails then has made nothing visible here.
class ClusterBlobs::Writer final : public BlobWriter {
  public:
    Writer(ClusterBlobs& blobs, std::unique_ptr<BlobWriter> local)
        : blobs_(blobs), local_(std::move(local)) {}
    void write(std::string_view data) override { local_->write(data); }
    BlobInfo finish() override {
        const BlobInfo info = local_->finish();
        digest_ = info.digest;
        return info;
    }
    const fs::path& path() const override { return local_->path(); }
    void send_copies() override {
        if (!committed_ && !digest_.empty()) blobs_.keep_second(digest_, local_->path());
    }
    void commit() override {
        send_copies();  // the other manager may have lost its copy meanwhile, or may have died
        commit_here();
    }
    void commit_even_alone() override {
        if (!committed_ && !digest_.empty()) blobs_.offer_second(digest_, local_->path());
        commit_here();
    }

  private:
    void commit_here() {
        local_->commit();
        committed_ = true;
    }

    ClusterBlobs& blobs_;
    std::unique_ptr<BlobWriter> local_;
    std::string digest_;  // empty until finish()
    bool committed_ = false;
};

ClusterBlobs::ClusterBlobs(BlobStore& local, Membership& membership, PeerIdentity identity,
                           const ClusterBlobsOptions& options)
    : local_(local),
      membership_(membership),
      peers_(std::move(identity)),
      options_(options),
      fetches_(options.fetches_at_once),
      following_(membership.on_change([this] {
          const std::lock_guard lock(mutex_);
          ++changes_;
          changed_.notify_all();
      })) {}

ClusterBlobs::~ClusterBlobs() = default;

std::unique_ptr<BlobWriter> ClusterBlobs::create(std::uint64_t expected_size) {
    return std::make_unique<Writer>(*this, local_.create(expected_size));
}

// Each package has an order of its own, so that no manager gets all of them.
std::vector<Manager> ClusterBlobs::others(std::string_view digest) const {
    std::vector<Manager> all = membership_.managers();
    std::erase_if(all, [self = membership_.self().id](const Manager& each) { return each.id == self; });
    if (!all.empty())
        std::rotate(
            all.begin(),
            all.begin() + static_cast<std::ptrdiff_t>(std::hash<std::string_view>{}(digest) % all.size()),
            all.end());
    return all;
}

void ClusterBlobs::offer(const Manager& manager, const std::string& digest, const fs::path& file) const {
    if (!peers_.size(manager, digest)) peers_.push(manager, digest, file);
}

bool ClusterBlobs::is_taken_by_one(const std::vector<Manager>& managers, const std::string& digest,
                                   const fs::path& file, std::string& failure) const {
    for (const Manager& manager : managers) try {
            offer(manager, digest, file);
            return true;
        } catch (const Error& e) {
            failure = e.what();
        }
    return false;
}

// A manager that has just died still counts as living for some seconds: they are waited for.
void ClusterBlobs::keep_second(const std::string& digest, const fs::path& file) {
    const auto end = std::chrono::steady_clock::now() + options_.patience;
    std::string failure;
    for (;;) {
        const std::uint64_t seen = changes();
        const std::vector<Manager> tried = others(digest);
        if (is_taken_by_one(tried, digest, file, failure)) return;
        if (tried.empty())
            return log::warning("package is kept by this manager alone, as no other one lives",
                                {{"fingerprint", digest}});
        if (!await_change(seen, end))
            throw Error(ErrorCode::unavailable, "no other manager takes a copy of the package: " + failure);
    }
}

void ClusterBlobs::offer_second(const std::string& digest, const fs::path& file) const {
    std::string failure = "no other one lives";
    if (!is_taken_by_one(others(digest), digest, file, failure))
        log::warning("blob is kept by this manager alone for now",
                     {{"fingerprint", digest}, {"error", failure}});
}

std::uint64_t ClusterBlobs::changes() {
    const std::lock_guard lock(mutex_);
    return changes_;
}

// False when the time is up.
bool ClusterBlobs::await_change(std::uint64_t seen, std::chrono::steady_clock::time_point end) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, end, [&] { return changes_ != seen; });
}

fs::path ClusterBlobs::path(std::string_view digest) {
    if (is_sha256_hex(digest) && !local_.contains(digest)) fetch(std::string(digest));
    return local_.path(digest);
}

// Where a manager breaks off, the next one that has the package goes on. Its bytes are hashed as they arrive.
void ClusterBlobs::fetch(const std::string& digest) {
    const TransferTurns::Turn turn(fetches_, digest);
    if (local_.contains(digest)) return;
    std::unique_ptr<BlobWriter> writer;
    std::uint64_t received = 0;
    std::string failure;
    const auto take = [&](std::string_view piece) {
        writer->write(piece);
        received += piece.size();
    };
    for (const Manager& manager : others(digest)) try {
            const auto size = peers_.size(manager, digest);
            if (!size) continue;
            if (!writer) writer = local_.create(*size);
            peers_.fetch(manager, digest, received, take);
            if (writer->finish().digest == digest) return writer->commit();
            failure = "manager " + manager.name + ": the bytes are not those of the package";
            writer.reset();
            received = 0;
        } catch (const Error& e) {
            if (e.code() == ErrorCode::exhausted) throw;  // this disk is full
            failure = e.what();
        }
    if (!failure.empty())
        throw Error(ErrorCode::unavailable, "blob " + quoted(digest) + " cannot be fetched: " + failure);
}

bool ClusterBlobs::contains(std::string_view digest) {
    if (!is_sha256_hex(digest)) return false;
    if (local_.contains(digest)) return true;
    const std::vector<Manager> all = others(digest);
    return std::ranges::any_of(all, [&](const Manager& manager) {
        try {
            return peers_.size(manager, digest).has_value();
        } catch (const Error&) {
            return false;
        }
    });
}

std::uint64_t ClusterBlobs::own_term() const {
    const auto leader = membership_.leader();
    if (!leader || leader->id != membership_.self().id)
        throw Error(ErrorCode::unavailable, "this manager does not lead any more");
    return leader->term;
}

void ClusterBlobs::remove(std::string_view digest) {
    if (!is_sha256_hex(digest)) return;
    const std::uint64_t term = own_term();
    const std::shared_ptr<void> entered = options_.enter ? options_.enter(term) : nullptr;
    for (const Manager& manager : others(digest)) try {
            peers_.remove(manager, digest, term);
        } catch (const Error& e) {
            // It goes with the garbage when the manager is back.
            log::debug(
                "package stays at a manager",
                {{"fingerprint", std::string(digest)}, {"manager", manager.name}, {"error", e.what()}});
        }
    local_.remove(digest);
}

std::vector<BlobInfo> ClusterBlobs::list() {
    std::map<std::string, std::uint64_t> sizes;
    for (const BlobInfo& blob : local_.list()) sizes.emplace(blob.digest, blob.size);
    for (const Manager& manager : others("")) try {
            for (const BlobInfo& blob : peers_.list(manager)) sizes.emplace(blob.digest, blob.size);
        } catch (const Error& e) {
            log::debug("packages of a manager are not known",
                       {{"manager", manager.name}, {"error", e.what()}});
        }
    std::vector<BlobInfo> blobs;
    for (const auto& [digest, size] : sizes) blobs.push_back({digest, size});
    return blobs;
}

// Ids of the managers that can be asked, each with what it has.
std::map<std::string, std::set<std::string>> ClusterBlobs::holders() const {
    std::map<std::string, std::set<std::string>> all;
    for (const BlobInfo& blob : local_.list()) all[membership_.self().id].insert(blob.digest);
    all[membership_.self().id];
    for (const Manager& manager : others("")) try {
            auto& held = all[manager.id];
            for (const BlobInfo& blob : peers_.list(manager)) held.insert(blob.digest);
        } catch (const Error&) {
            all.erase(manager.id);
        }
    return all;
}

void ClusterBlobs::keep_copies(const std::set<std::string, std::less<>>& wanted) {
    const auto held = holders();
    PackageCopies found{wanted.size(), 0, 0};
    for (const std::string& digest : wanted) {
        std::set<std::string> having;
        for (const auto& [manager, blobs] : held)
            if (blobs.contains(digest)) having.insert(manager);
        found.single += having.size() == 1 ? 1 : 0;
        found.none += having.empty() ? 1 : 0;
        if (having.empty())
            log::error("package is at no manager that can be asked", {{"fingerprint", digest}});
        else if (having.size() < std::min(copies_of_each, held.size()))
            copy(digest, having);
    }
    std::lock_guard lock(mutex_);
    copies_ = found;
}

PackageCopies ClusterBlobs::copies() const {
    std::lock_guard lock(mutex_);
    return copies_;
}

void ClusterBlobs::copy(const std::string& digest, const std::set<std::string>& having) {
    try {
        const fs::path file = path(digest);
        if (!having.contains(membership_.self().id)) return;  // it was fetched: the second copy
        for (const Manager& manager : others(digest))
            if (!having.contains(manager.id)) {
                offer(manager, digest, file);
                return log::info("package copied to another manager",
                                 {{"fingerprint", digest}, {"manager", manager.name}});
            }
    } catch (const Error& e) {
        log::warning("package cannot be copied to another manager",
                     {{"fingerprint", digest}, {"error", e.what()}});
    }
}

}  // namespace svc
