// This device's microphone over a WebSocket: for Devices what an RTCRtpSender is. WebCodecs encodes it as Opus.
const bitsPerSecond = 32000;

export function canSendMicrophone() {
    return typeof AudioEncoder !== 'undefined' && typeof MediaStreamTrackProcessor !== 'undefined';
}

export class SocketMicrophone {
    // `send(timestamp, packet)`: microseconds, Uint8Array.
    constructor(send) {
        this.send = send;
    }

    // Sends this track from now on, or nothing.
    async replaceTrack(track) {
        if (this.encoder && this.encoder.state !== 'closed') this.encoder.close();
        this.encoder = track ? this.encode(track) : undefined;
    }

    encode(track) {
        const encoder = new AudioEncoder({
            output: (chunk) => {
                const packet = new Uint8Array(chunk.byteLength);
                chunk.copyTo(packet);
                this.send(chunk.timestamp, packet);
            },
            error: () => {},  // its state tells
        });
        this.feed(encoder, new MediaStreamTrackProcessor({ track }).readable.getReader());
        return encoder;
    }

    // Until the track ends or is replaced.
    async feed(encoder, reader) {
        for (let read = await reader.read(); !read.done && encoder.state !== 'closed'; read = await reader.read()) {
            const { sampleRate, numberOfChannels } = read.value;
            if (encoder.state === 'unconfigured') encoder.configure({ codec: 'opus', sampleRate, numberOfChannels, bitrate: bitsPerSecond });
            encoder.encode(read.value);
            read.value.close();
        }
        reader.cancel().catch(() => {});
    }
}
