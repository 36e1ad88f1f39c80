// Figures of a stream from RTCPeerConnection.getStats().

function codecName(report, video) {
    return report.get(video?.codecId)?.mimeType?.replace(/^\w+\//, '') ?? '';
}

function pathOf(report) {
    const entries = [...report.values()];
    const transport = entries.find((entry) => entry.type === 'transport' && entry.selectedCandidatePairId);
    // Some browsers have no figures of transports.
    const pair = report.get(transport?.selectedCandidatePairId)
        ?? entries.find((entry) => entry.type === 'candidate-pair' && entry.nominated && entry.state === 'succeeded');
    const relay = [pair?.localCandidateId, pair?.remoteCandidateId].some((id) => report.get(id)?.candidateType === 'relay');
    return { roundTripMs: pair?.currentRoundTripTime === undefined ? undefined : pair.currentRoundTripTime * 1000, relay };
}

export class Statistics {
    constructor(connection) {
        this.connection = connection;
        this.before = undefined;
    }

    // {fps, kbps, roundTripMs, width, height, codec, packetsLost, framesDropped, framesDecoded, jitterMs, relay}
    async read() {
        const report = await this.connection.getStats();
        const inbound = [...report.values()].filter((entry) => entry.type === 'inbound-rtp');
        const video = inbound.find((entry) => entry.kind === 'video');
        const bytes = inbound.reduce((sum, entry) => sum + (entry.bytesReceived ?? 0), 0);
        const time = video?.timestamp ?? performance.now();
        const { before } = this;
        this.before = { bytes, time };
        return {
            fps: video?.framesPerSecond ?? 0,
            kbps: before && time > before.time ? ((bytes - before.bytes) * 8) / (time - before.time) : 0,
            width: video?.frameWidth ?? 0,
            height: video?.frameHeight ?? 0,
            codec: codecName(report, video),
            packetsLost: inbound.reduce((sum, entry) => sum + (entry.packetsLost ?? 0), 0),
            framesDropped: video?.framesDropped ?? 0,
            framesDecoded: video?.framesDecoded ?? 0,
            jitterMs: (video?.jitter ?? 0) * 1000,
            ...pathOf(report),
        };
    }
}
