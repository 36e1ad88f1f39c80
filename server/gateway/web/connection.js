// One connection to the instance: signalling through the gateway, then media and data channels. A stream that is interrupted
// goes on with another one.
import { holdUntilOpen } from './channel.js';
import { decodable, displayRefused, videoCodecs, withStereo } from './codecs.js';
import { Devices } from './devices.js';
import { StreamError, iceFailed, noCodec } from './errors.js';
import { Statistics } from './statistics.js';

const apiVersion = 2;

const decode = (text) => atob(text);
const encode = (text) => btoa(text);

export class Connection {
    // `grant`: the gateway's answer; `options`: of the stream; `events`: an object of
    //   mark(step), discovered(capabilities), track(track, receiver), connected(), opened(): its control channel, interrupted(), control(text),
    //   channel(name, data), parts(): those with a channel of their own, objects of `capability`, `label` and attach(channel);
    //   ended(cause): once; its `kind` is "error" (with `error`), "told" (with `code` and `message`),
    //   "signalling" (with `text`), "lost", "closed" (by the instance).
    constructor(grant, options, events) {
        this.options = options;
        this.events = events;
        this.iceServers = (grant.stun_servers ?? []).map(({ urls, username, password }) => ({ urls, username, credential: password }));
        this.channels = new Map();
        this.waitingCandidates = [];
        this.ended = false;
        this.connected = false;
        this.devices = new Devices(options);
        this.openSocket(grant.url);
    }

    end(cause) {
        if (this.ended) return;
        this.close();
        this.events.ended(cause);
    }

    // Tells nothing any more.
    close() {
        this.ended = true;
        clearTimeout(this.pathTimer);
        this.devices.closeAll();
        this.socket.close();
        this.closePeer();
    }

    // The goodbye has to leave first: closing the connection would throw it away.
    closePeer() {
        const { pc, control } = this;
        if (!pc) return;
        const close = () => pc.close();
        if (control?.readyState !== 'open' || control.bufferedAmount === 0) setTimeout(close, 100);
        else {
            control.onbufferedamountlow = close;
            setTimeout(close, 1000);
        }
    }

    // -- signalling

    openSocket(url) {
        this.socket = new WebSocket(url);
        this.socket.onopen = () => {
            this.events.mark('socket');
            this.signal({ type: 'discover' });
        };
        this.socket.onmessage = ({ data }) => this.handle(data);
        this.socket.onclose = ({ reason }) => this.connected || this.end({ kind: 'signalling', text: reason });
    }

    signal(message) {
        if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    }

    // One after the other: what an earlier message started has to be over.
    handle(text) {
        this.handling = (this.handling ?? Promise.resolve()).then(() => this.ended || this.dispatch(JSON.parse(text)))
            .catch((error) => this.end({ kind: 'error', error: error instanceof StreamError ? error
                : new StreamError('signallingFailed', `The instance's message could not be used: ${error.message}.`) }));
    }

    async dispatch(message) {
        switch (message.type) {
            case 'resp:discover': return this.discovered(message);
            case 'offer': return this.offered(decode(message.sdp));
            case 'candidate': return this.remoteCandidate(message);
            case 'error': return this.told(message);
            default: return undefined;
        }
    }

    // On the signalling socket or the control channel: that it is over, and why.
    told({ code, message }) {
        this.end({ kind: 'told', code, message });
    }

    discovered({ max_api_version: version, capabilities }) {
        if (version < apiVersion) throw new StreamError('notSupported', 'The instance speaks an older version of the stream protocol.');
        this.events.mark('discovered');
        this.capabilities = capabilities ?? [];
        this.events.discovered(this.capabilities);
        const { audio, video, microphone, camera, dataChannels, codecs = decodable(), deviceType, foregroundActivity } = this.options;
        this.signal({
            type: 'settings', api_version: apiVersion, data_channels: dataChannels, enable_speaker: audio, enable_microphone: microphone,
            enable_video: video, enable_camera: camera, ...(deviceType && { device_type: deviceType }),
            ...(foregroundActivity && { foreground_activity: foregroundActivity }),
            ...(codecs.length && { video: { preferred_decoder_codecs: codecs } }),
        });
    }

    async offered(sdp) {
        this.events.mark('offered');
        this.openPeer();
        this.openControl();
        const { pc } = this;
        await pc.setRemoteDescription({ type: 'offer', sdp });
        this.devices.prepare(pc.getTransceivers());
        const answer = await pc.createAnswer();
        await pc.setLocalDescription({ type: 'answer', sdp: withStereo(answer.sdp) });
        if (this.options.video && displayRefused(pc.localDescription.sdp)) throw noCodec(videoCodecs(sdp));
        this.signal({ type: 'answer', sdp: encode(pc.localDescription.sdp) });
        const { pathLimit } = this.options;
        if (pathLimit) this.pathTimer = setTimeout(() => this.end({ kind: 'error', error: iceFailed(this.iceServers) }), pathLimit);
        for (const candidate of this.waitingCandidates.splice(0)) await pc.addIceCandidate(candidate);
    }

    async remoteCandidate({ candidate, sdpMid, sdpMLineIndex }) {
        const init = { candidate: decode(candidate), sdpMid, sdpMLineIndex };
        if (!this.pc?.remoteDescription) this.waitingCandidates.push(init);
        else if (init.candidate) await this.pc.addIceCandidate(init);
    }

    // -- media and channels

    openPeer() {
        const pc = new RTCPeerConnection({ iceServers: this.iceServers, bundlePolicy: 'max-bundle' });
        this.pc = pc;
        this.statistics = new Statistics(pc);
        pc.onicecandidate = ({ candidate }) => candidate?.candidate && this.signal({
            type: 'candidate', candidate: encode(candidate.candidate), sdpMid: candidate.sdpMid, sdpMLineIndex: candidate.sdpMLineIndex,
        });
        pc.oniceconnectionstatechange = () => this.ended || this.iceChanged(pc.iceConnectionState);
        pc.ontrack = ({ track, receiver }) => this.ended || this.events.track(track, receiver);
    }

    iceChanged(state) {
        if (state === 'connected' || state === 'completed') this.iceConnected();
        else if (state === 'failed') this.end(this.connected ? { kind: 'lost' } : { kind: 'error', error: iceFailed(this.iceServers) });
        else if (state === 'disconnected' && this.connected) this.events.interrupted();
    }

    iceConnected() {
        this.connected = true;
        clearTimeout(this.pathTimer);
        this.socket.close();
        this.events.connected();
    }

    // Its own channel comes first; of several that are made before there is a connection, not each browser keeps the order.
    openControl() {
        this.control = holdUntilOpen(this.pc.createDataChannel('control'));
        this.control.onopen = () => this.ended || this.openChannels();
        this.control.onmessage = ({ data }) => this.ended || this.events.control(data);
        this.control.onclose = () => this.end({ kind: 'closed' });
    }

    openChannels() {
        this.events.opened();
        for (const name of this.options.dataChannels) {
            const channel = holdUntilOpen(this.pc.createDataChannel(name));
            channel.binaryType = 'arraybuffer';
            channel.onmessage = ({ data }) => this.ended || this.events.channel(name, data);
            this.channels.set(name, channel);
        }
        for (const part of this.events.parts()) if (this.capabilities.includes(part.capability)) this.openPart(part);
    }

    openPart(part) {
        const channel = holdUntilOpen(this.pc.createDataChannel(part.label));
        channel.binaryType = 'arraybuffer';
        part.attach(channel);
    }

    sendControl(message) {
        if (this.control?.readyState !== 'open') return false;
        this.control.send(JSON.stringify(message));
        return true;
    }

    sendData(name, data) {
        const channel = this.channels.get(name);
        if (channel?.readyState !== 'open') return false;
        channel.send(data);
        return true;
    }
}
