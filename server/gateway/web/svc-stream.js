// A client of the stream gateway: shows an instance's screen in an element, with sound, input and data channels.
//
//   const stream = await connect({ url, token, app, element, onReady, onError, onDone });
//   stream.disconnect();
//
// `connect` asks the gateway for a session (`app`, or `sessionId` to join one) and resolves when it is granted; onReady
// follows with the first picture. After onError, onDone follows; onDone comes once, and nothing after it.
import { Clipboard } from './clipboard.js';
import { Connection } from './connection.js';
import { StreamError, connectionLost, endOf, isPassing, sessionEnd } from './errors.js';
import { Files } from './files.js';
import { Fit, screenFor } from './fit.js';
import { Gamepads } from './gamepads.js';
import { Gateway } from './gateway.js';
import { Input } from './input.js';
import { finalRefusal, mostTries, nextTry } from './resume.js';
import { Sensors } from './sensors.js';
import { SocketConnection, canUseSocket } from './socket_connection.js';
import { VehicleProperties } from './vehicle.js';

const signallingLimit = 5 * 60 * 1000;  // ms, until media can flow
const resumeLimit = 30 * 1000;          // ms, the same for each try to come back
const disconnectedLimit = 10 * 1000;    // ms, for a connection to come back by itself
const patience = 3 * 1000;              // ms, before another one is tried
const pathLimit = 10 * 1000;            // ms, for a network path to be found, before media goes through the gateway
const customChannels = 5;
const ownChannels = ['clipboard', 'files'];  // capabilities that need one: the gateway carries the control channel alone

// Neither side has found a way to the other.
function isWithoutPath({ kind, error, code }) {
    return (kind === 'error' && error.reason === 'iceFailed') || (kind === 'told' && code === 'connection_failed');
}

export class Stream {
    constructor(options, gateway, grant) {
        this.options = {
            audio: true, video: true, microphone: false, camera: false, input: true, dataChannels: [], reconnect: mostTries, ...options,
            onRefused: (kind, error) => this.options.onWarning?.(new StreamError('userMedia', `The ${kind} could not be opened: ${error.message}.`)),
        };
        this.gateway = gateway;
        this.sessionId = grant.id;
        this.ended = false;
        this.ready = false;
        this.interrupted = false;
        this.steers = !options.watch;
        this.capabilities = [];
        this.over = new AbortController();
        this.vehicle = new VehicleProperties((type, data) => this.sendControl(type, data));
        if (this.options.clipboard) this.clipboard = new Clipboard(this.options.clipboard === true ? {} : this.options.clipboard);
        if (this.options.files) this.files = new Files(this.options.files === true ? {} : this.options.files);
        this.sensors = new Sensors((type, data) => this.sendControl(type, data));
        this.mark('granted');
        this.makeElements();
        this.connect(grant, signallingLimit);
    }

    // Steps of the way to the first picture, for measuring.
    mark(step) {
        if (!this.ready) performance.mark(`svc-stream:${step}`);
    }

    makeElements() {
        this.video = document.createElement('video');
        Object.assign(this.video, { autoplay: true, playsInline: true, muted: !this.options.audio, disablePictureInPicture: true });
        Object.assign(this.video.style, { width: '100%', height: '100%', objectFit: 'contain', display: 'block' });
        this.video.setAttribute('aria-label', this.options.label ?? 'Screen of the instance');
        this.options.element?.replaceChildren(this.video);
    }

    get statistics() {
        return this.connection.statistics;
    }

    // -- connections: one, and after an interruption further ones

    connect(grant, limit) {
        const hasSocket = Boolean(grant.media_url) && this.options.fallback !== false && canUseSocket();
        this.wasConnected = false;
        this.fallbackUrl = hasSocket ? grant.media_url : undefined;
        if (hasSocket && (this.throughGateway || typeof RTCPeerConnection === 'undefined')) this.useGateway();
        else this.use((events) => new Connection(grant, { ...this.options, pathLimit: hasSocket ? pathLimit : undefined }, events), limit);
    }

    // No packet gets through: the stream goes on by the gateway, and so does each one after an interruption.
    useGateway() {
        const url = this.fallbackUrl;
        this.fallbackUrl = undefined;  // it is good for one connection
        this.throughGateway = true;
        this.capabilities = this.capabilities.filter((name) => !ownChannels.includes(name));
        this.mark('gateway');
        this.use((events) => new SocketConnection(url, this.options, events), resumeLimit);
    }

    use(make, limit) {
        const media = new MediaStream();
        const connection = make({
            mark: (step) => this.mark(step),
            discovered: (capabilities) => { this.capabilities = capabilities; },
            track: (track, receiver) => this.trackArrived(media, track, receiver),
            connected: () => this.connected(),
            opened: () => (this.capabilities.includes('audience') || this.throughGateway) && this.sendControl('audience::list', {}),
            interrupted: () => this.interrupt(),
            control: (text) => this.controlMessage(text),
            parts: () => [this.clipboard, this.files].filter(Boolean),
            channel: (name, data) => this.options.onChannelMessage?.(name, data),
            ended: (cause) => this.connectionEnded(cause),
        });
        this.connection = connection;
        clearTimeout(this.signallingTimer);
        this.signallingTimer = setTimeout(() => connection.end({ kind: 'error', error: new StreamError('signallingTimeout',
            'The instance did not answer in time.') }), limit);
    }

    connected() {
        this.wasConnected = true;
        clearTimeout(this.interruptedTimer);
        this.mark('connected');
        if (!this.tryEnded) clearTimeout(this.signallingTimer);  // a try has to come to a picture
        if (this.interrupted && !this.tryEnded) this.resumed();  // by itself
        else if (!this.options.video) this.pictureShown();
    }

    // Before it was ever seen, a stream that fails has failed; later it is tried again.
    async connectionEnded(cause) {
        clearTimeout(this.signallingTimer);
        if (this.ended) return;
        if (this.fallbackUrl && isWithoutPath(cause) && !this.wasConnected) return this.useGateway();
        if (this.resuming) return this.tryEnded?.(cause);
        if (cause.kind === 'error') return this.fail(cause.error);
        if (cause.kind === 'told') return this.fail(endOf(cause));
        if (cause.kind === 'lost' || (cause.kind === 'closed' && this.interrupted)) {
            return this.canResume() ? this.resume() : this.fail(connectionLost());
        }
        return this.fail(await this.askForEnd() ?? this.unsaidEnd(cause));
    }

    // Nobody has told why.
    unsaidEnd({ kind, text }) {
        if (kind === 'closed') return this.replaced();
        return new StreamError('signallingFailed', `The gateway closed the connection before the stream began${text ? ` (${text})` : ''}.`);
    }

    replaced() {
        return new StreamError('disconnected', 'The instance ended this stream: another client has taken it over, or its screen is gone.');
    }

    // What the gateway knows about the session's end; nothing when it goes on or cannot be asked.
    async askForEnd() {
        try {
            return sessionEnd(await this.gateway.session(this.sessionId));
        } catch (error) {
            return error.status === 404 ? sessionEnd(undefined) : undefined;
        }
    }

    // -- interruptions

    canResume() {
        return this.options.reconnect > 0 && Boolean(this.options.sessionId || this.options.joinable);
    }

    interrupt() {
        if (this.ended || this.interrupted) return;
        this.interrupted = true;
        this.input?.releaseAll();
        this.options.onInterrupted?.();
        const resume = this.canResume();
        this.interruptedTimer = setTimeout(() => (resume ? this.resume() : this.connection.end({ kind: 'lost' })),
            resume ? patience : disconnectedLimit);
    }

    resumed() {
        this.interrupted = this.resuming = false;
        this.options.onResumed?.();
    }

    async resume() {
        clearTimeout(this.interruptedTimer);
        if (this.resuming || this.ended) return;
        this.interrupt();
        clearTimeout(this.interruptedTimer);
        this.resuming = true;
        let error;
        for (let number = 0; number < this.options.reconnect; ++number) {
            await nextTry(number, this.over.signal);
            if (!this.resuming || this.ended) return;
            error = await this.tryAgain();
            if (!this.resuming || this.ended) return;
            if (error) return this.fail(error);
        }
        this.fail(connectionLost());
    }

    // An error that ends it all, or nothing: it worked, or the next try may.
    async tryAgain() {
        let grant;
        try {
            grant = await this.gateway.join(this.sessionId, this.options.screen, !this.steers);
        } catch (error) {
            return finalRefusal(error, this.gateway, this.sessionId);
        }
        if (!this.resuming || this.ended) return undefined;
        this.leaveConnection();
        const cause = await new Promise((resolve) => {
            this.tryEnded = resolve;
            this.pictureCame = () => resolve(undefined);
            this.connect({ ...grant, id: this.sessionId }, resumeLimit);
        });
        this.tryEnded = undefined;
        if (!cause || this.ended) return undefined;
        if (cause.kind === 'told' && !isPassing(cause)) return endOf(cause);
        if (cause.kind === 'closed') return await this.askForEnd() ?? this.replaced();
        return cause.error?.reason === 'notSupported' ? cause.error : this.askForEnd();
    }

    leaveConnection() {
        this.connection.close();
        this.sensors.close();
        this.vehicle.close();
    }

    // -- picture and sound

    trackArrived(media, track, receiver) {
        if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;  // input is answered by the picture
        media.addTrack(track);
        if (track.kind !== 'video' && this.options.video) return;
        this.video.srcObject = media;  // until then the last picture stays
        if (track.kind === 'video') this.waitForPicture();
        this.play();
    }

    waitForPicture() {
        const shown = () => {
            this.mark('picture');
            this.pictureShown();
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

    pictureShown() {
        if (this.ended) return;
        clearTimeout(this.signallingTimer);
        if (this.interrupted) this.resumed();
        this.pictureCame?.();
        if (this.capabilities.includes('vhal')) this.vehicle.requestConfigurations();
        if (this.ready) return;
        this.ready = true;
        this.takeInput();
        this.options.onReady?.(this);
        // The page may have given the element another size just now.
        const { element, fit } = this.options;
        if (fit && element && !this.ended) this.follow(element, fit === true ? screenFor : fit);
    }

    // From the one that steers alone.
    takeInput() {
        const { element, input } = this.options;
        if (!this.steers || !input || !element) {
            this.closeInput();
        } else if (!this.input) {
            this.input = new Input({
                element, video: this.video, send: (type, data) => this.sendControl(type, data), onLeave: this.options.onLeave,
                places: this.options.keys === 'places', clipboard: this.clipboard,
            });
            this.gamepads = new Gamepads((type, data) => this.sendInput(type, data));
        }
    }

    closeInput() {
        this.input?.close();
        this.gamepads?.close();
        this.input = this.gamepads = undefined;
    }

    // -- other clients of the session

    audienceChanged({ you, clients }) {
        this.steers = clients.some(({ number, steers }) => number === you && steers);
        if (!this.steers) this.closeDevices();
        if (this.ready) this.takeInput();
        this.options.onAudience?.({ you, clients, steers: this.steers });
    }

    // What the guest has open belongs to the client that steers.
    closeDevices() {
        for (const kind of ['camera', 'microphone']) this.connection?.devices.close(kind);
        this.sensors.close();
    }

    takeControl() {
        return this.sendControl('audience::take', {});
    }

    // Watches from now on; nobody steers until somebody takes control.
    releaseControl() {
        this.input?.releaseAll();
        return this.sendControl('audience::release', {});
    }

    // `number`: of another client, as onAudience told it.
    giveControl(number) {
        this.input?.releaseAll();
        return this.sendControl('audience::give', { number });
    }

    // -- size

    follow(element, choose) {
        this.fit = new Fit(element, choose, (screen) => this.resize(screen));
    }

    // The screen of the instance, {width, height, density}: the picture follows without another connection. False where the
    // instance cannot do that, or nobody is there to take it, and for a client that only watches.
    resize(screen) {
        if (!this.steers || !this.capabilities.includes('resize')) return false;
        this.options.screen = { ...this.options.screen, ...screen };  // also for joining anew
        return this.sendControl('display::resize', screen);
    }

    // -- data channels

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
        error: (end) => this.connection.told(end),
        audience: (audience) => this.audienceChanged(audience),
        'open-camera': (request) => this.connection.devices.openCamera(request),
        'close-camera': () => this.connection.devices.close('camera'),
        'enable-microphone': () => this.connection.devices.openMicrophone(),
        'disable-microphone': () => this.connection.devices.close('microphone'),
        'show-ime': () => this.options.onKeyboard?.(true),
        'hide-ime': () => this.options.onKeyboard?.(false),
        'activate-sensor': ({ type }) => this.sensors.activate(type),
        'deactivate-sensor': ({ type }) => this.sensors.deactivate(type),
    };

    sendControl(type, data) {
        return this.connection.sendControl({ type, data });
    }

    // `type`: "mouse-move", "key", ... False when nobody is there to take it, and for one that only watches.
    sendInput(type, data) {
        return this.steers && this.sendControl(`input::${type}`, data);
    }

    // Text or an ArrayBuffer, into a channel that was named in `dataChannels`.
    sendData(name, data) {
        return this.connection.sendData(name, data);
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
        this.closeInput();
        this.sendControl('stream::disconnect', {});
        this.end();
    }

    end(error) {
        if (this.ended) return;
        this.ended = true;
        this.over.abort();
        clearTimeout(this.signallingTimer);
        clearTimeout(this.interruptedTimer);
        for (const part of [this.input, this.gamepads, this.fit, this.clipboard, this.files, this.sensors, this.vehicle]) part?.close();
        this.connection.close();
        this.tryEnded?.();
        this.video.srcObject = null;
        this.video.remove();
        this.options.onDone?.(error);
    }
}

function checked(options) {
    if (!options.app && !options.sessionId) throw new StreamError('invalidArgument', 'Neither an application nor a session was named.');
    if ((options.dataChannels ?? []).length > customChannels) {
        throw new StreamError('invalidArgument', `More than ${customChannels} data channels were named.`);
    }
    if (typeof RTCPeerConnection === 'undefined' && !canUseSocket()) throw new StreamError('notSupported', 'This browser has no WebRTC.');
    return options;
}

// Options: url, token; app or sessionId; region, appVersion, joinable, idleTime (minutes), ephemeral, extraData; screen
// {width, height, density, fps}; watch (join beside the client that steers); element; audio, video, microphone, camera, input; dataChannels; codecs; keys
// ("characters" or "places"); fit (true, or a function of the element's box); clipboard, files (true, or options of Clipboard, of
// Files); reconnect (tries; 0: none); and callbacks: onReady(stream), onInterrupted(), onResumed(), onError(StreamError), onDone(error or nothing), onAudience({you, clients, steers}),
// onMessage(type, data), onChannelMessage(name, data), onKeyboard(wanted), onSoundBlocked(), onVehicleReady(configurations),
// onWarning(StreamError), onLeave().
// Throws StreamError or GatewayError.
export async function connect(options) {
    const { url, token, app, sessionId, screen, region = '', joinable = false, appVersion, idleTime, ephemeral, extraData = null } = checked(options);
    const gateway = options.gateway ?? new Gateway({ url, token });
    performance.clearMarks();
    performance.mark('svc-stream:asked');
    const grant = sessionId
        ? { id: sessionId, ...(await gateway.join(sessionId, screen, options.watch)) }
        : await gateway.create({
            app, region, joinable, extra_data: extraData, ...(screen && { screen }), ...(appVersion !== undefined && { app_version: appVersion }),
            ...(idleTime !== undefined && { idle_time_min: idleTime }), ...(ephemeral !== undefined && { ephemeral }),
        });
    return new Stream(options, gateway, grant);
}
