// The stream with its tools.
import { AudienceView } from './audience_view.js';
import { ExchangePanel } from './exchange_panel.js';
import { ExtraKeys } from './extra_keys.js';
import { screenFor } from './fit.js';
import { byId, confirmed, notify, show } from './page.js';
import { connect } from './svc-stream.js';
import { TextInput } from './text_input.js';

const slow = 8000;  // ms; a start that takes longer is explained
const pageTitle = document.title;
const isFramed = window.parent !== window;

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

// A keyboard or a panel that takes room for a moment is no other window.
function screenOfStage(box) {
    return byId('extra-keys').hidden && byId('exchange').hidden ? screenFor(box) : undefined;
}

function press(id, pressed, attribute = 'aria-pressed') {
    byId(id).setAttribute(attribute, String(pressed));
}

export class StreamView {
    // `onClosed()`: the page is wanted again.
    constructor({ onClosed }) {
        this.onClosed = onClosed;
        this.exchange = new ExchangePanel();
        const on = (id, handler) => byId(id).addEventListener('click', handler.bind(this));
        on('full-screen', this.fullScreen);
        on('keyboard', this.toggleKeyboard);
        on('sound', this.toggleSound);
        on('share-location', this.toggleLocation);
        on('show-figures', this.toggleFigures);
        on('leave', this.leave);
        on('cancel', this.leave);
        on('end', this.endSession);
        this.audience = new AudienceView(() => this.stream);
        on('handle', () => byId('bottom').classList.toggle('open'));
        byId('stage').addEventListener('pointerdown', () => byId('bottom').classList.remove('open'));
        // Whoever points at a tool goes on in the instance; with the keyboard the focus stays.
        byId('tools').addEventListener('click', (event) => event.detail && this.stream && document.activeElement?.closest('#tools') && byId('stage').focus());
        document.addEventListener('fullscreenchange', () => this.fullScreenChanged());
        document.addEventListener('visibilitychange', () => this.stayAwake());
        window.visualViewport?.addEventListener('resize', () => this.fit());
        window.addEventListener('pagehide', () => this.attempt && this.leave());
        window.addEventListener('popstate', () => this.wentBack());
    }

    // The browser's "back" leads from the stream to the page: a stream is an entry of the history. In a frame "back" is of the
    // page around it, which shares the history.
    enterHistory() {
        if (!this.goingBack && !isFramed) history.pushState({ stream: true }, '');
    }

    leaveHistory() {
        if (!history.state?.stream) return;
        this.goingBack = true;
        history.back();
    }

    wentBack() {
        const asked = this.goingBack;
        this.goingBack = false;
        if (!this.attempt) return;
        if (asked) this.enterHistory();  // the next stream has begun meanwhile
        else this.leave();
    }

    // Never throws: errors are said.
    async open({ gateway, title, fit = false, ...options }) {
        this.gateway = gateway;
        const attempt = Symbol(title);
        this.attempt = attempt;
        this.isNew = !options.sessionId;
        notify();
        byId('stream-title').textContent = title;
        byId('stage').setAttribute('aria-label', `Screen of ${title}`);
        document.title = `${title} – ${pageTitle}`;
        this.enterHistory();
        this.progress(this.isNew ? `Starting ${title} …` : `Joining ${title} …`);
        this.slowTimer = setTimeout(() => this.progress('Still at it. The first start on a machine takes longest.'), slow);
        show(byId('stream'), true);
        show(byId('bottom'), false);
        byId('cancel').focus();
        try {
            const stream = await connect({ ...options, fit: fit && screenOfStage, ...this.exchange.options(), ...this.callbacks(attempt), gateway, label: `Screen of ${title}`, element: byId('stage') });
            if (this.attempt === attempt) this.stream = stream;
            else this.abandon(stream, gateway, options);
        } catch (error) {
            if (this.attempt === attempt) this.close(error);
        }
    }

    callbacks(attempt) {
        const ifPresent = (handler) => (...values) => this.attempt === attempt && handler.apply(this, values);
        return {
            onReady: ifPresent(this.ready),
            onInterrupted: ifPresent(() => this.progress('The connection to the instance is interrupted. Trying again …', true)),
            onResumed: ifPresent(this.resumed),
            onDone: ifPresent(this.close),
            onAudience: ifPresent(this.audienceChanged),
            onKeyboard: ifPresent((wanted) => byId('keyboard').classList.toggle('wanted', wanted)),
            onSoundBlocked: ifPresent(this.showSound),
            onWarning: ifPresent((error) => notify(error.message)),
            onLeave: ifPresent(this.leaveKeys),
        };
    }

    // `over`: over a picture that stands still.
    progress(text, over = false) {
        if (!text) clearTimeout(this.slowTimer);
        byId('progress').classList.toggle('over', over);
        byId('progress').querySelector('p').textContent = text ?? '';
        byId('cancel').textContent = over ? 'Leave' : 'Cancel';
        show(byId('progress'), Boolean(text));
    }

    ready(stream) {
        this.stream = stream;
        this.isNew = false;  // somebody has seen it
        this.progress();
        const write = (type, data) => stream.steers && stream.sendControl(type, data);
        this.extraKeys = new ExtraKeys(byId('extra-keys'), write);
        this.textInput = new TextInput(byId('text-field'), (type, data) => this.extraKeys.send(type, data), () => this.leaveKeys());
        this.exchange.begin(stream);
        show(byId('bottom'), true);
        this.showSound();
        this.stayAwake();
        byId('stage').focus();
    }

    audienceChanged(audience) {
        this.audience.show(audience);
        if (!audience.steers) this.showKeyboard(false);
        show(byId('keyboard'), audience.steers);
        this.exchange.steering(audience.steers);
    }

    // Phones would go dark while one watches.
    async stayAwake() {
        if (!this.stream || document.hidden) return;
        this.wake = await navigator.wakeLock?.request('screen').catch(() => undefined);
    }

    // Where a phone's keyboard lies over the page, the stream is above it.
    fit() {
        const { height, offsetTop, scale } = window.visualViewport;
        if (scale !== 1) return;
        Object.assign(byId('stream').style, { height: `${height}px`, top: `${offsetTop}px` });
    }

    leaveKeys() {
        byId('bottom').classList.add('open');
        byId('leave').focus();
    }

    // The hidden text field may have the focus: where it is, it stays.
    resumed() {
        this.progress();
        if (document.activeElement === document.body) byId('stage').focus();
    }

    // Of a session that nobody has seen nothing is to be kept.
    leave() {
        const { stream, gateway, isNew } = this;
        if (stream) stream.disconnect();
        else this.close();
        if (stream && isNew) gateway.end(stream.sessionId).catch(() => {});
    }

    // The session was granted when nobody waited for it any more.
    abandon(stream, gateway, { sessionId }) {
        stream.disconnect();
        if (!sessionId) gateway.end(stream.sessionId).catch(() => {});
    }

    async endSession() {
        const { gateway, stream } = this;
        if (!await confirmed('The instance and all that is in it will be gone.')) return;
        if (this.stream === stream) this.leave();
        if (stream) await gateway.end(stream.sessionId).catch((error) => error.status === 404 || notify(error.message));
    }

    // With why it ended, unless the user wanted it.
    close(error) {
        this.attempt = this.stream = undefined;
        this.extraKeys?.release();
        this.textInput?.close();
        this.exchange.end();
        this.wake?.release();
        this.stopLocation();
        this.showFigures(false);
        this.showKeyboard(false);
        this.audience.hide();
        show(byId('keyboard'), true);
        this.progress();
        byId('keyboard').classList.remove('wanted');
        byId('bottom').classList.remove('open');
        if (byId('confirm').open) byId('confirm').close();
        if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
        this.leaveHistory();
        document.title = pageTitle;
        show(byId('stream'), false);
        if (error) notify(error.message);
        this.onClosed();
    }

    async fullScreen() {
        if (document.fullscreenElement) return document.exitFullscreen();
        try {
            await byId('stream').requestFullscreen();
        } catch {
            notify('This browser does not allow full screen here.');
        }
        await navigator.keyboard?.lock?.().catch(() => {});  // Escape and Tab go to the instance, too; not from a frame
        return byId('stage').focus();
    }

    fullScreenChanged() {
        const full = Boolean(document.fullscreenElement);
        byId('bottom').classList.remove('open');
        press('full-screen', full);
    }

    // Phones show their keyboard only for a text field, and only when it was touched.
    toggleKeyboard() {
        const visible = byId('extra-keys').hidden;
        this.showKeyboard(visible);
        if (visible) byId('text-field').focus();
        else byId('stage').focus();
    }

    showKeyboard(visible) {
        show(byId('extra-keys'), visible);
        press('keyboard', visible, 'aria-expanded');
        if (!visible) this.extraKeys?.release();
    }

    toggleSound() {
        if (!this.stream) return;
        this.stream.video.muted = !this.stream.video.muted;
        this.showSound();
    }

    showSound() {
        const muted = this.stream?.video.muted ?? true;
        press('sound', !muted);
        byId('sound').classList.toggle('wanted', muted);
        byId('sound').title = muted ? 'Sound is off' : 'Sound is on';
    }

    toggleLocation() {
        if (this.watch !== undefined) return this.stopLocation();
        if (!navigator.geolocation) return notify('This browser cannot tell its location.');
        const refused = (error) => {
            this.stopLocation();
            notify(`The location is not available: ${error.message || 'it was not allowed'}.`);
        };
        this.watch = navigator.geolocation.watchPosition((fix) => this.stream?.sendLocation(fix), refused, { enableHighAccuracy: true });
        return press('share-location', true);
    }

    stopLocation() {
        if (this.watch !== undefined) navigator.geolocation.clearWatch(this.watch);
        this.watch = undefined;
        press('share-location', false);
    }

    toggleFigures() {
        this.showFigures(byId('figures').hidden);
    }

    showFigures(visible) {
        clearInterval(this.figuresTimer);
        show(byId('figures'), visible);
        press('show-figures', visible);
        if (!visible) return;
        const read = async () => {
            const figures = await this.stream?.statistics?.read();
            if (figures) byId('figures').textContent = figuresText(figures);
        };
        read();
        this.figuresTimer = setInterval(read, 1000);
    }
}
