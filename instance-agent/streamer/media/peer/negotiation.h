#pragma once
// Offer, answer and candidates of one connection: one round, without renegotiation.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "instance-agent/streamer/media/peer/answer_check.h"
#include "instance-agent/streamer/media/peer/event_gate.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe.
class Negotiation : public std::enable_shared_from_this<Negotiation> {
  public:
    // `webrtc` outlives the calls of start(), set_answer() and add_candidate().
    Negotiation(GstElement* webrtc, Offered offered, std::shared_ptr<EventGate> gate);

    void start();  // events bring the offer, then candidates
    // Calls `send_as` with the display's codec before GStreamer gets the answer. Throws invalid_argument, and
    // what `send_as` throws.
    void set_answer(const std::string& sdp, const std::function<void(VideoCodec)>& send_as);
    void add_candidate(const std::string& candidate, unsigned media_line);

  private:
    static void offer_made(GstPromise* promise, gpointer data);
    static void candidate_found(GstElement*, guint line, const gchar* text, gpointer data);
    void take_offer(GstPromise* promise);
    void give_candidate(const std::string& candidate, unsigned media_line);

    struct State {
        bool offered = false, answering = false, answered = false;
        std::vector<std::pair<std::string, unsigned>> early;  // candidates that came before the answer
    };
    GstElement* webrtc_;
    Offered offered_;
    std::shared_ptr<EventGate> gate_;
    Guarded<State> state_;
};

}  // namespace svc::streamer
