// A connection to the instance where no packet gets through: pictures, sound and control over a WebSocket of the gateway. Of the
// shape of Connection. The pictures are decoded by WebCodecs onto a canvas, whose stream is the track.
import { Devices } from './devices.js';
import { StreamError } from './errors.js';
import { SocketMicrophone, canSendMicrophone } from './socket_microphone.js';
import { SocketSound, canPlaySound } from './socket_sound.js';

const decoders = { H264: 'avc1.42E01F', VP8: 'vp8', VP9: 'vp09.00.10.08', AV1: 'av01.0.08M.08' };
const keyFlag = 1, lastFlag = 2, soundFlag = 4, headerBytes = 9;
const mostUnsent = 8 * 1024;  // bytes before a packet of the microphone: about two seconds of it
const largestFrame = 16 * 1024 * 1024;  // bytes
const mostUndecoded = 8;  // frames that the decoder has not done; with more, up to a key frame none is given to it

export function canUseSocket() {
    return typeof VideoDecoder !== 'undefined' && typeof HTMLCanvasElement.prototype.captureStream === 'function';
}

async function supported() {
    const answers = await Promise.all(Object.entries(decoders).map(async ([name, codec]) => {
        const { supported: able } = await VideoDecoder.isConfigSupported({ codec, optimizeForLatency: true }).catch(() => ({}));
        return able && name;
    }));
    return answers.filter(Boolean);
}

export class SocketConnection {
    constructor(url, options, events) {
        this.options = options;
        this.events = events;
        this.devices = new Devices(options);
        if (options.microphone && canSendMicrophone()) this.devices.sendBy('microphone', new SocketMicrophone((...packet) => this.speak(...packet)));
        this.statistics = { read: () => this.figures() };
        this.ended = false;
        this.begun = false;
        this.pieces = [];
        this.held = 0;  // bytes of the pieces
        this.counts = { frames: 0, bytes: 0, dropped: 0 };
        this.open(url);
    }

    end(cause) {
        if (this.ended) return;
        this.close();
        this.events.ended(cause);
    }

    close() {
        this.ended = true;
        this.devices.closeAll();
        this.socket.close();
        if (this.decoder && this.decoder.state !== 'closed') this.decoder.close();
        this.sound?.close();
        this.track?.stop();
    }

    told({ code, message }) {
        this.end({ kind: 'told', code, message });
    }

    open(url) {
        this.socket = new WebSocket(url);
        this.socket.binaryType = 'arraybuffer';
        const sound = this.options.audio && canPlaySound();
        this.socket.onopen = async () => this.socket.send(JSON.stringify({ type: 'begin', codecs: await supported(), sound }));
        this.socket.onmessage = ({ data }) => this.ended || (typeof data === 'string' ? this.text(data) : this.piece(data));
        this.socket.onclose = ({ reason }) => this.end(this.begun ? { kind: 'lost' } : { kind: 'signalling', text: reason });
    }

    text(data) {
        const message = JSON.parse(data);
        if (message.type === 'began' && !this.begun) return this.began(message.codec);
        if (message.type === 'error' && typeof message.data !== 'string') return this.told(message);  // of the gateway
        return this.events.control(data);
    }

    began(codec) {
        this.begun = true;
        this.codec = codec;
        this.canvas = document.createElement('canvas');
        this.paint = this.canvas.getContext('2d', { alpha: false, desynchronized: true });
        this.decoder = new VideoDecoder({
            output: (frame) => this.show(frame),
            error: (error) => this.end({ kind: 'error', error: new StreamError('notSupported', `The picture cannot be decoded: ${error.message}.`) }),
        });
        this.decoder.configure({ codec: decoders[codec], optimizeForLatency: true });
        this.decoder.ondequeue = () => this.askForKey();
        this.events.connected();
        this.events.opened();
    }

    // A packet of sound, or a piece of a frame: large ones come in several messages.
    piece(buffer) {
        if (buffer.byteLength > headerBytes && new Uint8Array(buffer)[0] & soundFlag) return this.hear(buffer);
        this.held += buffer.byteLength;
        if (buffer.byteLength < headerBytes || this.held > largestFrame) return this.refuse('The instance sends what is no picture.');
        const flags = new Uint8Array(buffer, 0, 1)[0];
        this.counts.bytes += buffer.byteLength;
        this.pieces.push(new Uint8Array(buffer, headerBytes));
        if (!(flags & lastFlag)) return undefined;
        const data = new Uint8Array(this.pieces.reduce((sum, { length }) => sum + length, 0));
        this.held = 0;
        this.pieces.splice(0).reduce((at, part) => (data.set(part, at), at + part.length), 0);
        return this.decode(data, Boolean(flags & keyFlag), Number(new DataView(buffer).getBigUint64(1)));
    }

    hear(buffer) {
        this.counts.bytes += buffer.byteLength;
        this.sound ??= new SocketSound((track) => this.ended || this.events.track(track, {}),
            (error) => this.options.onWarning?.(new StreamError('notSupported', `The sound cannot be played: ${error.message}.`)));
        this.sound.take(Number(new DataView(buffer).getBigUint64(1)), new Uint8Array(buffer, headerBytes));
    }

    // What the network cannot take now is not kept.
    speak(timestamp, packet) {
        if (this.socket.readyState !== WebSocket.OPEN || this.socket.bufferedAmount > mostUnsent) return;
        const message = new Uint8Array(headerBytes + packet.length);
        message[0] = soundFlag;
        new DataView(message.buffer).setBigUint64(1, BigInt(Math.round(timestamp)));
        message.set(packet, headerBytes);
        this.socket.send(message);
    }

    refuse(text) {
        this.pieces = [];
        this.end({ kind: 'error', error: new StreamError('notSupported', text) });
    }

    decode(data, key, timestamp) {
        if (this.decoder?.state !== 'configured') return;
        if (this.decoder.decodeQueueSize > mostUndecoded) this.waitsForKey = true;
        if (key && this.decoder.decodeQueueSize <= mostUndecoded) this.waitsForKey = false;
        if (key) this.asked = false;
        if (this.waitsForKey ?? !key) this.counts.dropped += 1;
        else this.decoder.decode(new EncodedVideoChunk({ type: key ? 'key' : 'delta', timestamp, data }));
    }

    // Once the decoder is through: an instance whose screen stands still sends none by itself.
    askForKey() {
        if (!this.waitsForKey || this.asked || this.decoder.decodeQueueSize > 0) return;
        this.asked = this.sendControl({ type: 'media::key-frame' });
    }

    // The track begins with the first picture, in whose size the canvas is.
    show(frame) {
        const { canvas } = this, { displayWidth: width, displayHeight: height } = frame;
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
        this.paint.drawImage(frame, 0, 0);
        frame.close();
        this.counts.frames += 1;
        if (this.track || this.ended) return;
        [this.track] = canvas.captureStream().getVideoTracks();
        this.events.track(this.track, {});
    }

    sendControl(message) {
        if (!this.begun || this.socket.readyState !== WebSocket.OPEN) return false;
        this.socket.send(JSON.stringify(message));
        return true;
    }

    // There is the control channel alone.
    sendData() {
        return false;
    }

    figures() {
        const now = performance.now(), { frames, bytes, dropped } = this.counts;
        const seconds = (now - (this.before?.now ?? now)) / 1000;
        const rate = (value, last) => (seconds > 0 ? (value - last) / seconds : 0);
        const figures = {
            fps: rate(frames, this.before?.frames), kbps: rate(bytes, this.before?.bytes) * 8 / 1000, width: this.canvas?.width ?? 0,
            height: this.canvas?.height ?? 0, codec: this.codec ?? '', packetsLost: 0, framesDropped: dropped, framesDecoded: frames, jitterMs: 0,
            relay: true, roundTripMs: undefined,
        };
        this.before = { now, frames, bytes };
        return figures;
    }
}
