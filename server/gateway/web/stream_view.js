// The stream with its tools.
import { byId, notify, show } from './page.js';
import { connect } from './svc-stream.js';
import { TextInput } from './text_input.js';

function figuresText(figures) {
    const milliseconds = (value) => (value === undefined ? '–' : `${value.toFixed(1)} ms`);
    return [
        `picture   ${figures.width} × ${figures.height}`,
        `codec     ${figures.codec || '–'}`,
        `frames    ${figures.fps.toFixed(0)} /s, ${figures.framesDropped} dropped`,
        `bit rate  ${figures.kbps.toFixed(0)} kbit/s`,
        `RTT       ${milliseconds(figures.roundTripMs)}`,
        `jitter    ${milliseconds(figures.jitterMs)}`,
        `lost      ${figures.packetsLost} packets`,
        `path      ${figures.relay ? 'relay' : 'direct'}`,
    ].join('\n');
}

export class StreamView {
    // `onClosed()`: the page is wanted again.
    constructor({ onClosed }) {
        this.onClosed = onClosed;
        const on = (id, handler) => byId(id).addEventListener('click', handler.bind(this));
        on('full-screen', this.fullScreen);
        on('keyboard', this.openKeyboard);
        on('sound', this.soundOn);
        on('share-location', this.toggleLocation);
        on('show-figures', this.toggleFigures);
        on('leave', this.leave);
        on('cancel', this.leave);
        on('end', this.endSession);
        window.addEventListener('pagehide', () => this.stream?.disconnect());
    }

    // Never throws: errors are said.
    async open({ gateway, title, ...options }) {
        this.gateway = gateway;
        const attempt = Symbol(title);
        this.attempt = attempt;
        notify();
        byId('stream-title').textContent = title;
        this.progress(options.sessionId ? 'Joining the session …' : 'Starting the instance …');
        show(byId('stream'), true);
        byId('stage').focus();
        try {
            const stream = await connect({ ...options, ...this.callbacks(attempt), gateway, label: `Screen of ${title}`, element: byId('stage') });
            if (this.attempt === attempt) this.stream = stream;
            else stream.disconnect();
        } catch (error) {
            if (this.attempt === attempt) this.close(error);
        }
    }

    callbacks(attempt) {
        const ifPresent = (handler) => (...values) => this.attempt === attempt && handler.apply(this, values);
        return {
            onReady: ifPresent(this.ready),
            onDone: ifPresent(this.close),
            onKeyboard: ifPresent((wanted) => byId('keyboard').classList.toggle('wanted', wanted)),
            onSoundBlocked: ifPresent(() => show(byId('sound'), true)),
            onWarning: ifPresent((error) => notify(error.message)),
            onLeave: ifPresent(() => byId('leave').focus()),
        };
    }

    progress(text) {
        byId('progress').querySelector('p').textContent = text ?? '';
        show(byId('progress'), Boolean(text));
    }

    ready(stream) {
        this.stream = stream;
        this.progress();
        this.textInput = new TextInput(byId('text-field'), (type, data) => stream.sendControl(type, data));
        byId('stage').focus();
    }

    leave() {
        if (this.stream) this.stream.disconnect();
        else this.close();
    }

    async endSession() {
        const { gateway, stream } = this;
        this.leave();
        if (stream) await gateway.end(stream.sessionId).catch((error) => error.status === 404 || notify(error.message));
    }

    // With why it ended, unless the user wanted it.
    close(error) {
        this.attempt = this.stream = undefined;
        this.textInput?.close();
        this.stopLocation();
        this.showFigures(false);
        this.progress();
        byId('keyboard').classList.remove('wanted');
        for (const id of ['stream', 'sound']) show(byId(id), false);
        if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
        if (error) notify(error.message);
        this.onClosed();
    }

    async fullScreen() {
        if (document.fullscreenElement) return document.exitFullscreen();
        try {
            await byId('stream').requestFullscreen();
            await navigator.keyboard?.lock?.();  // Escape and Tab go to the instance, too
        } catch {
            notify('This browser does not allow full screen here.');
        }
        return byId('stage').focus();
    }

    // Phones show their keyboard only for a text field, and only when it was touched.
    openKeyboard() {
        byId('text-field').focus();
    }

    soundOn() {
        if (this.stream) this.stream.video.muted = false;
        show(byId('sound'), false);
        byId('stage').focus();
    }

    toggleLocation() {
        if (this.watch !== undefined) return this.stopLocation();
        if (!navigator.geolocation) return notify('This browser cannot tell its location.');
        const refused = (error) => {
            this.stopLocation();
            notify(`The location is not available: ${error.message || 'it was not allowed'}.`);
        };
        this.watch = navigator.geolocation.watchPosition((fix) => this.stream?.sendLocation(fix), refused, { enableHighAccuracy: true });
        return byId('share-location').setAttribute('aria-pressed', 'true');
    }

    stopLocation() {
        if (this.watch !== undefined) navigator.geolocation.clearWatch(this.watch);
        this.watch = undefined;
        byId('share-location').setAttribute('aria-pressed', 'false');
    }

    toggleFigures() {
        this.showFigures(byId('figures').hidden);
    }

    showFigures(visible) {
        clearInterval(this.figuresTimer);
        show(byId('figures'), visible);
        byId('show-figures').setAttribute('aria-pressed', String(visible));
        if (!visible) return;
        const read = async () => {
            const figures = await this.stream?.statistics?.read();
            if (figures) byId('figures').textContent = figuresText(figures);
        };
        read();
        this.figuresTimer = setInterval(read, 1000);
    }
}
