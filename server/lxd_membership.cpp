#include "server/lxd_membership.h"

#include <optional>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/direct_call.h"
#include "server/cluster_identity.h"
#include "server/lxd_choice.h"
#include "server/machine_network.h"
#include "server/process/patience.h"
#include "server/store_choice.h"

namespace svc::server {

namespace {

constexpr std::string_view members_path = "/internal/1.0/lxd/members";
constexpr const char* claim_owner = "founder";
constexpr Duration look_again = std::chrono::milliseconds(500);
constexpr Duration join_patience = std::chrono::seconds(30);   // of one machine with another that joins
constexpr Duration begin_patience = std::chrono::seconds(60);  // of a manager whose LXD has left
// A founder that has not changed its claim for so long has died; founding takes a few seconds.
constexpr Duration founder_patience = std::chrono::seconds(60);

Target local_target(const LxdSettings& lxd) {
    Target target = lxd_target(lxd);
    if (target.unix_path.empty())
        throw Error(ErrorCode::invalid_argument, "lxd_cluster: join needs an LXD on its Unix socket");
    return target;
}

lxd::PoolPlan plan_of(const LxdSettings& lxd) {
    return {lxd.pool, lxd.pool_driver, lxd.pool_size, lxd.pool_source};
}

std::string error_in(const ClientReply& reply) {
    try {
        return JsonFields(Json::parse(reply.body)).require_string("error");
    } catch (const Error&) {
        return "it answers with status " + std::to_string(reply.status);
    }
}

}  // namespace

LxdMembership::Claim LxdMembership::Claim::parse(const std::string& text) {
    const Json json = Json::parse(text);
    const JsonFields fields(json);
    return {fields.require_string("founder"), static_cast<int>(fields.require_int("attempt")),
            fields.boolean("formed").value_or(false)};
}

std::string LxdMembership::Claim::text() const {
    return Json::object({{"founder", founder}, {"attempt", attempt}, {"formed", formed}}).dump();
}

LxdMembership::LxdMembership(LxdMembershipParts parts)
    : parts_(std::move(parts)),
      manager_(parts_.leadership.membership().self().id),
      service_(known_cluster(parts_.state)),
      lxd_(local_target(parts_.options.lxd), parts_.clock),
      cluster_(lxd_, parts_.clock, plan_of(parts_.options.lxd), parts_.options.lxc.bridge),
      name_(parts_.leadership.membership().self().name),
      etcd_(etcd_connection(parts_.options.etcd), parts_.clock),
      claims_(etcd_, EtcdOptions().root + "cluster/lxd/") {}

void LxdMembership::settle(LxdSettings& settings) {
    process::Patience patience("this machine's LXD to be a member of the cluster", parts_.clock);
    while (!try_settle(settings)) patience.pause(reason_);
    log::info("LXD is a member of the cluster", {{"member", lxd::trusted_member(lxd_)}});
}

// All machines may have been switched on at once: an LXD without the others says nothing.
bool LxdMembership::try_settle(LxdSettings& settings) try {
    if (!is_member_now()) return false;
    settings.pool = cluster_.pool().name;
    settings.joined = has_begun() && lxd::trusted_member(lxd_) == name_;
    return true;
} catch (const Error& e) {
    if (e.code() != ErrorCode::unavailable) throw;
    return waits(e.what());
}

bool LxdMembership::is_member_now() {
    const bool alone = lxd::trusted_member(lxd_).empty();
    const Claim now = claim();
    if (!alone) return adopt(now);
    if (now.formed) return join();
    if (now.founder != manager_) return waits("manager " + now.founder + " makes the first member");
    found();
    return true;
}

// Whose LXD is the first member: the first manager that asks, unless it dies before it is done.
LxdMembership::Claim LxdMembership::claim() {
    const std::string taken = claims_.take(claim_owner, [&](const etcd::Allotment::Shares& all) {
        const auto found = all.find(claim_owner);
        const std::string text = found == all.end() ? "" : found->second;
        if (text != seen_) {
            seen_ = text;
            seen_at_ = parts_.clock.steady_now();
        }
        const Claim former = text.empty() ? Claim() : Claim::parse(text);
        const bool dead = parts_.clock.steady_now() - seen_at_ > founder_patience;
        const bool mine = text.empty() || former.founder == manager_ || dead;
        return former.formed || !mine ? text : Claim{manager_, former.attempt + 1, false}.text();
    });
    return Claim::parse(taken);
}

void LxdMembership::set_formed() {
    claims_.take(claim_owner, [&](const etcd::Allotment::Shares& all) {
        const auto found = all.find(claim_owner);
        Claim now = found == all.end() ? Claim{manager_} : Claim::parse(found->second);
        if (!now.formed && now.founder != manager_)
            throw Error(ErrorCode::conflict,
                        "another manager has taken over to form LXD's cluster, while "
                        "this LXD became the first member of one");
        now.formed = true;
        return now.text();
    });
}

// It is a member already: of the cluster of all managers, or one that is theirs from now on.
bool LxdMembership::adopt(const Claim& claim) {
    if (claim.formed && cluster_.is_marked(service_)) return true;
    if (claim.formed)
        throw Error(ErrorCode::conflict,
                    "lxd_cluster: this LXD is a member of another cluster than those of the other managers");
    if (claim.founder != manager_) return waits("manager " + claim.founder + " makes the first member");
    cluster_.mark(service_);
    set_formed();
    return true;
}

void LxdMembership::found() {
    cluster_.refuse_containers();
    remember();
    const lxd::MemberAddress self{name_, cluster_.address(machine_address(parts_.options))};
    log::info("LXD is made the first member of a cluster", {{"address", self.address}});
    cluster_.found(self);
    failpoint("lxd.founded");
    cluster_.mark(service_);
    set_formed();
}

// The leader decides. Until it agrees this manager waits, and says why.
bool LxdMembership::join() {
    cluster_.refuse_containers();
    cluster_.refuse_images();
    if (!has_begun()) cluster_.refuse_pools();
    const auto leader = parts_.leadership.elsewhere();
    if (!leader) return waits("no manager leads");
    try {
        const Json invitation = ask_leader(leader->manager);
        remember();
        failpoint("lxd.invited");
        cluster_.clear_unfinished();
        cluster_.join({name_, cluster_.address(machine_address(parts_.options))}, invitation,
                      lxd::text_of(invitation, "source"));
        failpoint("lxd.joined");
        return true;
    } catch (const Error& e) {
        return waits(e.what());
    }
}

Json LxdMembership::ask_leader(const Manager& leader) const {
    ClientRequest request;
    request.method = Method::post;
    request.path = members_path;
    request.headers.set("Content-Type", "application/json");
    request.body = Json::object({{"name", name_}}).dump();
    const ClientReply reply = call_directly(peer_target(parts_.identity, leader.address), request);
    if (reply.status == 200) return Json::parse(reply.body);
    const std::string why =
        reply.status == 404 ? "lxd_cluster is not set there, as it is here" : error_in(reply);
    throw Error(ErrorCode::unavailable, "manager " + leader.name + ", which leads: " + why);
}

std::vector<Route> LxdMembership::routes(std::function<std::string(const std::string&)> admit) {
    return {{Method::post, std::string(members_path), Access::admin, Dispatch::on_pool, "lxd_members",
             [this, admit = std::move(admit)](const Request& request) {
                 if (!parts_.leadership.here())
                     throw Error(ErrorCode::unavailable, "this manager does not lead");
                 const Json body = Json::parse(request.body);
                 const std::string machine = JsonFields(body).require_string("name");
                 const std::string source = admit(machine);
                 take_turn(machine);
                 Json invitation = cluster_.invite(machine);
                 invitation.set("source", source);
                 return json_response(200, invitation.dump());
             }}};
}

// LXD changes the members of its database one after the other, and fails where two come at once.
void LxdMembership::take_turn(const std::string& machine) {
    const SteadyTime now = parts_.clock.steady_now();
    const Turn last = turn_.with([](const Turn& turn) { return turn; });
    const bool waits = !last.machine.empty() && last.machine != machine && now < last.until;
    if (waits && !cluster_.is_online(last.machine))
        throw Error(ErrorCode::busy, "machine " + last.machine + " joins LXD's cluster at present");
    turn_.with([&](Turn& turn) {
        if (turn != last) throw Error(ErrorCode::busy, "machine " + turn.machine + " was invited first");
        turn = {machine, now + join_patience};
    });
}

void LxdMembership::remove(const std::string& machine, bool force) {
    cluster_.remove(machine, force);
    const SteadyTime end = parts_.clock.steady_now() + begin_patience;
    while (find_manager(parts_.leadership.membership(), machine)) {
        if (parts_.clock.steady_now() > end) return leave_manager(machine, force);
        parts_.clock.wait({}, look_again);
    }
}

// Its LXD may be dead, and tells it nothing. By force that is no reason to keep the node.
void LxdMembership::leave_manager(const std::string& machine, bool force) {
    const std::string text = "LXD's cluster is without " + machine + ", but its manager is still there";
    if (!force) throw Error(ErrorCode::unavailable, text);
    log::warning(text);
}

// Before LXD is changed, so that this manager knows later that the member is its work.
void LxdMembership::remember() const {
    write_file_atomically(parts_.state.lxd_member(), name_ + "\n", 0600);
}

bool LxdMembership::has_begun() const {
    const auto name = read_if_there(parts_.state.lxd_member());
    return name && trim(*name) == name_;
}

bool LxdMembership::waits(std::string reason) {
    reason_ = std::move(reason);
    return false;
}

}  // namespace svc::server
