// A client of the stream gateway: shows an instance's screen in an element, with sound, input and data channels.
//
//   const stream = await connect({ url, token, app, element, onReady, onError, onDone });
//   stream.disconnect();
//
// `connect` asks the gateway for a session (`app`, or `sessionId` to join one) and resolves when it is granted; onReady
// follows with the first picture. After onError, onDone follows; onDone comes once, and nothing after it.
import { decodable, displayRefused, videoCodecs } from './codecs.js';
import { Devices } from './devices.js';
import { StreamError, connectionLost, iceFailed, noCodec, sessionEnd } from './errors.js';
import { Gateway } from './gateway.js';
import { Input } from './input.js';
import { Sensors } from './sensors.js';
import { Statistics } from './statistics.js';
import { VehicleProperties } from './vehicle.js';

const apiVersion = 2;
const signallingLimit = 5 * 60 * 1000;  // ms, until media can flow
const disconnectedLimit = 10 * 1000;    // ms
const customChannels = 5;

const decode = (text) => atob(text);
const encode = (text) => btoa(text);

export class Stream {
    constructor(options, gateway, grant) {
        this.options = { audio: true, video: true, microphone: false, camera: false, input: true, dataChannels: [], ...options };
        this.gateway = gateway;
        this.sessionId = grant.id;
        this.iceServers = (grant.stun_servers ?? []).map(({ urls, username, password }) => ({ urls, username, credential: password }));
        this.channels = new Map();
        this.waitingCandidates = [];
        this.ended = false;
        this.ready = false;
        this.vehicle = new VehicleProperties((type, data) => this.sendControl(type, data));
        this.sensors = new Sensors((type, data) => this.sendControl(type, data));
        this.devices = new Devices({
            ...this.options,
            onRefused: (kind, error) => this.options.onWarning?.(new StreamError('userMedia', `The ${kind} could not be opened: ${error.message}.`)),
        });
        this.mark('granted');
        this.makeElements();
        this.signallingTimer = setTimeout(() => this.fail(new StreamError('signallingTimeout',
            'The instance did not answer within five minutes.')), signallingLimit);
        this.openSocket(grant.url);
    }

    // Steps of the way to the first picture, for measuring.
    mark(step) {
        performance.mark(`svc-stream:${step}`);
    }

    makeElements() {
        this.media = new MediaStream();
        this.video = document.createElement('video');
        Object.assign(this.video, { autoplay: true, playsInline: true, muted: !this.options.audio, disablePictureInPicture: true });
        Object.assign(this.video.style, { width: '100%', height: '100%', objectFit: 'contain', display: 'block' });
        this.video.setAttribute('aria-label', this.options.label ?? 'Screen of the instance');
        this.video.srcObject = this.media;
        this.options.element?.replaceChildren(this.video);
    }

    // -- signalling

    openSocket(url) {
        this.socket = new WebSocket(url);
        this.socket.onopen = () => {
            this.mark('socket');
            this.signal({ type: 'discover' });
        };
        this.socket.onmessage = ({ data }) => this.handle(data);
        this.socket.onclose = (event) => this.socketClosed(event);
    }

    signal(message) {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    }

    // One after the other: what an earlier message started has to be over.
    handle(text) {
        this.handling = (this.handling ?? Promise.resolve()).then(() => this.ended || this.dispatch(JSON.parse(text)))
            .catch((error) => this.fail(error instanceof StreamError ? error
                : new StreamError('signallingFailed', `The instance's message could not be used: ${error.message}.`)));
    }

    async dispatch(message) {
        switch (message.type) {
            case 'resp:discover': return this.discovered(message);
            case 'offer': return this.offered(decode(message.sdp));
            case 'candidate': return this.remoteCandidate(message);
            case 'error': return this.refused(message.message);
            default: return undefined;
        }
    }

    discovered({ max_api_version: version, fps, capabilities }) {
        if (version < apiVersion) throw new StreamError('notSupported', 'The instance speaks an older version of the stream protocol.');
        this.mark('discovered');
        this.fps = fps;
        this.capabilities = capabilities ?? [];
        const { audio, video, microphone, camera, dataChannels, codecs = decodable(), deviceType, foregroundActivity } = this.options;
        this.signal({
            type: 'settings', api_version: apiVersion, data_channels: dataChannels, enable_speaker: audio, enable_microphone: microphone,
            enable_video: video, enable_camera: camera, ...(deviceType && { device_type: deviceType }),
            ...(foregroundActivity && { foreground_activity: foregroundActivity }),
            ...(codecs.length && { video: { preferred_decoder_codecs: codecs } }),
        });
    }

    async offered(sdp) {
        this.mark('offered');
        const { pc } = this.openConnection();
        this.openChannels();
        await pc.setRemoteDescription({ type: 'offer', sdp });
        this.devices.prepare(pc.getTransceivers());
        await pc.setLocalDescription(await pc.createAnswer());
        if (this.options.video && displayRefused(pc.localDescription.sdp)) throw noCodec(videoCodecs(sdp));
        this.signal({ type: 'answer', sdp: encode(pc.localDescription.sdp) });
        for (const candidate of this.waitingCandidates.splice(0)) await pc.addIceCandidate(candidate);
    }

    async remoteCandidate({ candidate, sdpMid, sdpMLineIndex }) {
        const init = { candidate: decode(candidate), sdpMid, sdpMLineIndex };
        if (!this.pc?.remoteDescription) this.waitingCandidates.push(init);
        else if (init.candidate) await this.pc.addIceCandidate(init);
    }

    async refused(text) {
        const end = await this.askForEnd();
        this.fail(end ?? new StreamError('signallingFailed', `The instance refused the stream: ${text}.`));
    }

    async socketClosed({ reason }) {
        if (this.ended || this.connected) return;
        if (reason === 'replaced') return this.fail(this.replaced());
        const end = await this.askForEnd();
        if (this.connected) return;
        const why = reason ? ` (${reason})` : '';
        this.fail(end ?? new StreamError('signallingFailed', `The gateway closed the connection before the stream began${why}.`));
    }

    // What the gateway knows about the session's end; nothing when it goes on or cannot be asked.
    async askForEnd() {
        try {
            return sessionEnd(await this.gateway.session(this.sessionId));
        } catch (error) {
            return error.status === 404 ? sessionEnd(undefined) : undefined;
        }
    }

    // -- connection

    openConnection() {
        const pc = new RTCPeerConnection({ iceServers: this.iceServers, bundlePolicy: 'max-bundle' });
        this.pc = pc;
        this.statistics = new Statistics(pc);
        pc.onicecandidate = ({ candidate }) => candidate?.candidate && this.signal({
            type: 'candidate', candidate: encode(candidate.candidate), sdpMid: candidate.sdpMid, sdpMLineIndex: candidate.sdpMLineIndex,
        });
        pc.oniceconnectionstatechange = () => this.iceChanged(pc.iceConnectionState);
        pc.ontrack = ({ track, receiver }) => this.trackArrived(track, receiver);
        return this;
    }

    iceChanged(state) {
        clearTimeout(this.disconnectedTimer);
        if (state === 'connected' || state === 'completed') this.iceConnected();
        else if (state === 'failed') this.fail(this.connected ? connectionLost() : iceFailed(this.iceServers));
        else if (state === 'disconnected') this.disconnectedTimer = setTimeout(() => this.fail(connectionLost()), disconnectedLimit);
    }

    iceConnected() {
        if (this.connected) return;
        this.connected = true;
        this.mark('connected');
        clearTimeout(this.signallingTimer);
        this.socket.close();
        if (!this.options.video) this.becomeReady();
    }

    trackArrived(track, receiver) {
        if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;  // input is answered by the picture
        this.media.addTrack(track);
        if (track.kind !== 'video') return;
        this.waitForPicture();
        this.play();
    }

    waitForPicture() {
        const shown = () => {
            this.mark('picture');
            this.becomeReady();
        };
        if (this.video.requestVideoFrameCallback) this.video.requestVideoFrameCallback(shown);
        else this.video.addEventListener('playing', shown, { once: true });
    }

    // Browsers refuse sound before the page was touched; the picture does not have to wait for that.
    async play() {
        try {
            await this.video.play();
        } catch (error) {
            if (error.name !== 'NotAllowedError' || this.ended) return;
            this.video.muted = true;
            this.options.onSoundBlocked?.();
            await this.video.play().catch(() => {});
        }
    }

    becomeReady() {
        if (this.ready || this.ended) return;
        this.ready = true;
        const { element } = this.options;
        if (this.options.input && element) {
            this.input = new Input({ element, video: this.video, send: (type, data) => this.sendControl(type, data), onLeave: this.options.onLeave });
        }
        if (this.capabilities.includes('vhal')) this.vehicle.requestConfigurations();
        this.options.onReady?.(this);
    }

    // -- data channels

    openChannels() {
        this.control = this.pc.createDataChannel('control');
        this.control.onmessage = ({ data }) => this.controlMessage(data);
        this.control.onclose = () => this.controlClosed();
        for (const name of this.options.dataChannels) {
            const channel = this.pc.createDataChannel(name);
            channel.binaryType = 'arraybuffer';
            channel.onmessage = ({ data }) => this.options.onChannelMessage?.(name, data);
            this.channels.set(name, channel);
        }
    }

    controlMessage(text) {
        const { type, data } = JSON.parse(text);
        const handler = this.controlHandlers[type];
        const own = handler || type.startsWith('vhal-');
        if (!own) return this.options.onMessage?.(type, data);
        const value = typeof data === 'string' && data ? JSON.parse(data) : data;  // it is encoded twice
        if (!this.vehicle.receive(type, value, this.options.onVehicleReady)) handler?.call(this, value);
        return undefined;
    }

    controlHandlers = {
        'open-camera': (request) => this.devices.openCamera(request),
        'close-camera': () => this.devices.close('camera'),
        'enable-microphone': () => this.devices.openMicrophone(),
        'disable-microphone': () => this.devices.close('microphone'),
        'show-ime': () => this.options.onKeyboard?.(true),
        'hide-ime': () => this.options.onKeyboard?.(false),
        'activate-sensor': ({ type }) => this.sensors.activate(type),
        'deactivate-sensor': ({ type }) => this.sensors.deactivate(type),
    };

    async controlClosed() {
        if (this.ended) return;
        this.fail(await this.askForEnd() ?? this.replaced());
    }

    replaced() {
        return new StreamError('disconnected', 'The instance ended this stream: another client has taken it over, or its screen is gone.');
    }

    sendControl(type, data) {
        if (this.control?.readyState !== 'open') return false;
        this.control.send(JSON.stringify({ type, data }));
        return true;
    }

    // `type`: "mouse-move", "key", ... False when nobody is there to take it.
    sendInput(type, data) {
        return this.sendControl(`input::${type}`, data);
    }

    // Text or an ArrayBuffer, into a channel that was named in `dataChannels`.
    sendData(name, data) {
        const channel = this.channels.get(name);
        if (channel?.readyState !== 'open') return false;
        channel.send(data);
        return true;
    }

    // A GeolocationPosition, or an object of the same members as its `coords` and `timestamp` (ms).
    sendLocation({ coords, timestamp = Date.now() }) {
        return this.sendControl('location::update-position', {
            time: timestamp, latitude: coords.latitude, longitude: coords.longitude, altitude: coords.altitude ?? 0,
            speed: coords.speed ?? 0, bearing: coords.heading ?? 0,
        });
    }

    // -- end

    fail(error) {
        if (this.ended) return;
        this.options.onError?.(error);
        this.end(error);
    }

    // Says goodbye; onDone follows at once.
    disconnect() {
        if (this.ended) return;
        this.input?.close();
        this.sendControl('stream::disconnect', {});
        this.end();
    }

    end(error) {
        if (this.ended) return;
        this.ended = true;
        clearTimeout(this.signallingTimer);
        clearTimeout(this.disconnectedTimer);
        for (const part of [this.input, this.sensors, this.vehicle]) part?.close();
        this.devices.closeAll();
        this.socket?.close();
        this.closeConnection();
        this.video.srcObject = null;
        this.video.remove();
        this.options.onDone?.(error);
    }

    // The goodbye has to leave first: closing the connection would throw it away.
    closeConnection() {
        const { pc, control } = this;
        if (!pc) return;
        const close = () => pc.close();
        if (control?.readyState !== 'open' || control.bufferedAmount === 0) setTimeout(close, 100);
        else {
            control.onbufferedamountlow = close;
            setTimeout(close, 1000);
        }
    }
}

function checked(options) {
    if (!options.app && !options.sessionId) throw new StreamError('invalidArgument', 'Neither an application nor a session was named.');
    if ((options.dataChannels ?? []).length > customChannels) {
        throw new StreamError('invalidArgument', `More than ${customChannels} data channels were named.`);
    }
    if (typeof RTCPeerConnection === 'undefined') throw new StreamError('notSupported', 'This browser has no WebRTC.');
    return options;
}

// Options: url, token; app or sessionId; region, appVersion, joinable, idleTime (minutes), ephemeral, extraData; screen
// {width, height, density, fps}; element; audio, video, microphone, camera, input; dataChannels; codecs; and callbacks:
// onReady(stream), onError(StreamError), onDone(error or nothing), onMessage(type, data), onChannelMessage(name, data),
// onKeyboard(wanted), onSoundBlocked(), onVehicleReady(configurations), onWarning(StreamError), onLeave().
// Throws StreamError or GatewayError.
export async function connect(options) {
    const { url, token, app, sessionId, screen, region = '', joinable = false, appVersion, idleTime, ephemeral, extraData = null } = checked(options);
    const gateway = options.gateway ?? new Gateway({ url, token });
    performance.clearMarks();
    performance.mark('svc-stream:asked');
    const grant = sessionId
        ? { id: sessionId, ...(await gateway.join(sessionId, screen)) }
        : await gateway.create({
            app, region, joinable, extra_data: extraData, ...(screen && { screen }), ...(appVersion !== undefined && { app_version: appVersion }),
            ...(idleTime !== undefined && { idle_time_min: idleTime }), ...(ephemeral !== undefined && { ephemeral }),
        });
    return new Stream(options, gateway, grant);
}
