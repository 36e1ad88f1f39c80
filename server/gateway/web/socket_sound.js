// Sound of the instance that comes over a WebSocket: Opus packets, decoded by WebCodecs and played by a worklet into a track, which stands for that of a
// WebRTC connection.
const rate = 48000, channels = 2;
const mostUndecoded = 10;  // packets
const gestures = ['pointerdown', 'keydown', 'click'];

export function canPlaySound() {
    return typeof AudioDecoder !== 'undefined' && typeof AudioWorkletNode !== 'undefined';
}

export class SocketSound {
    // `onTrack(track)`: once; `onFailed(error)`: there is no sound any more.
    constructor(onTrack, onFailed) {
        this.onTrack = onTrack;
        this.onFailed = onFailed;
        this.over = new AbortController();
        this.begin().catch((error) => this.fail(error));
    }

    fail(error) {
        if (this.over.signal.aborted) return;
        this.close();
        this.onFailed(error);
    }

    close() {
        this.over.abort();
        if (this.decoder && this.decoder.state !== 'closed') this.decoder.close();
        this.node?.port.postMessage(null);
        this.track?.stop();
        this.context?.close().catch(() => {});
    }

    async begin() {
        this.context = new AudioContext({ sampleRate: rate, latencyHint: 'interactive' });
        this.wakeByGestures();
        await this.context.audioWorklet.addModule(new URL('sound_worklet.js', import.meta.url));
        if (this.over.signal.aborted) return;
        this.node = new AudioWorkletNode(this.context, 'svc-playout', { numberOfInputs: 0, outputChannelCount: [channels] });
        this.decoder = new AudioDecoder({ output: (data) => this.play(data), error: (error) => this.fail(error) });
        this.decoder.configure({ codec: 'opus', sampleRate: rate, numberOfChannels: channels });
        const destination = this.context.createMediaStreamDestination();
        this.node.connect(destination);
        [this.track] = destination.stream.getAudioTracks();
        this.onTrack(this.track);
    }

    // Browsers play nothing before the page was touched.
    wakeByGestures() {
        const wake = () => this.context.state === 'suspended' && this.context.resume().catch(() => {});
        for (const name of gestures) document.addEventListener(name, wake, { capture: true, signal: this.over.signal });
    }

    // What cannot be played now is not kept.
    take(timestamp, data) {
        if (this.context?.state !== 'running' || this.decoder?.state !== 'configured' || this.decoder.decodeQueueSize > mostUndecoded) return;
        this.decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp, data }));
    }

    play(data) {
        const samples = Array.from({ length: data.numberOfChannels }, (_, planeIndex) => {
            const side = new Float32Array(data.numberOfFrames);
            data.copyTo(side, { planeIndex, format: 'f32-planar' });
            return side;
        });
        this.node.port.postMessage({ time: data.timestamp, channels: samples }, samples.map(({ buffer }) => buffer));
        data.close();
    }
}
