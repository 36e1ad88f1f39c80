// Applications and sessions of the account.
import { screenFor } from './fit.js';
import { byId, confirmed, instantiate, notify, paragraph, show } from './page.js';

const sizes = ['1280x720', '1920x1080', '720x1280'];
const refresh = 2000;  // ms between two looks at the sessions
const looksOfApplications = 5;  // they change rarely
const usualDensity = 240;
const states = { created: 'starting', active: 'running', error: 'failed', terminating: 'ending', terminated: 'ended' };

// Where the window is small, its own size is the one that can be read.
function fillSizes(select) {
    const fit = new Option('fit this window', 'fit');
    select.replaceChildren(fit, ...sizes.map((size) => new Option(size.replace('x', ' × '), size)));
    select.value = window.innerWidth < 700 ? 'fit' : sizes[0];
}

// Of the stage: the window without the bar below it.
function windowSize() {
    return screenFor({ width: window.innerWidth, height: window.innerHeight - 64 });
}

// Of this day the time alone.
function since(seconds) {
    if (!seconds) return '';
    const time = new Date(seconds * 1000), today = time.toDateString() === new Date().toDateString();
    return `since ${today ? time.toLocaleTimeString([], { timeStyle: 'short' }) : time.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}`;
}

function same(items, others) {
    return items.length === others?.length && items.every(({ name, streams }, index) => name === others[index].name && streams === others[index].streams);
}

// Gateways of before do not tell.
function canStream({ streams }) {
    return streams !== false;
}

// Told to administrators alone.
function owner({ account }) {
    if (account === undefined) return '';
    return account ? `of ${account}` : 'of no account';
}

export class Overview {
    // `onStart(options)`, `onJoin(session, screen, watch)`: of connect(); `onRefused(error)`: the token holds no more.
    constructor({ onStart, onJoin, onRefused }) {
        Object.assign(this, { onStart, onJoin, onRefused });
        fillSizes(byId('screen'));
        byId('settings').addEventListener('submit', (event) => event.preventDefault());
        document.addEventListener('visibilitychange', () => document.hidden || this.gateway && this.look());
    }

    // Throws GatewayError.
    async open(gateway) {
        this.gateway = gateway;
        await this.read();
        this.keepLooking();
    }

    // Shows what it had, and looks again.
    resume(gateway) {
        this.gateway = gateway;
        this.keepLooking();
        this.look();
    }

    keepLooking() {
        clearInterval(this.timer);
        this.looks = 0;
        this.timer = setInterval(() => document.hidden || this.look(), refresh);
    }

    async read() {
        const { gateway } = this;
        const [applications, regions, sessions] = await Promise.all([gateway.applications(), gateway.regions(), gateway.sessions()]);
        if (gateway !== this.gateway) return;  // signed out meanwhile
        this.showApplications(applications);
        this.showRegions(regions);
        this.showSessions(sessions);
    }

    close() {
        clearInterval(this.timer);
        this.gateway = undefined;
        byId('gateway-state').textContent = '';
    }

    // What did not change keeps its elements, and with them the focus.
    showApplications(applications) {
        if (same(applications, this.applications)) return;
        this.applications = applications;
        // Those that can be started come first.
        const items = [...applications].sort((a, b) => canStream(b) - canStream(a)).map((application) => this.applicationItem(application));
        const none = paragraph('There is no application that can be streamed yet: the operator makes one with the addon svc-streamer.');
        byId('applications').replaceChildren(...(applications.some(canStream) ? [] : [none]), ...items);
    }

    applicationItem(application) {
        const { name } = application, streams = canStream(application), item = instantiate('application-item');
        item.querySelector('.badge').textContent = name.slice(0, 1).toUpperCase();
        Object.assign(item.querySelector('.name'), { textContent: name, title: name });
        const start = item.querySelector('button');
        start.setAttribute('aria-label', `Start ${name}`);
        start.addEventListener('click', () => this.start(name));
        show(start, streams);
        show(item.querySelector('.reason'), !streams);
        return item;
    }

    // One region is no choice.
    showRegions(regions) {
        if (same(regions, this.regions)) return;
        this.regions = regions;
        byId('region').replaceChildren(new Option('any', ''), ...regions.map(({ name }) => new Option(name, name)));
        show(byId('regions'), regions.length > 1);
    }

    screen() {
        const choice = byId('screen').value;
        const [width, height] = choice.split('x').map(Number);
        return { ...(choice === 'fit' ? windowSize() : { width, height, density: usualDensity }), fps: 60 };
    }

    start(app) {
        const keep = byId('keep').checked, extra = byId('extra').value.trim();
        let extraData = null;
        try {
            extraData = extra ? JSON.parse(extra) : null;
        } catch {
            notify('The extra data is not valid JSON.');
            byId('extra').closest('details').open = true;
            byId('extra').focus();
            return;
        }
        const devices = byId('camera').checked;
        this.onStart({
            app, region: byId('region').value, joinable: keep, screen: this.screen(), fit: byId('screen').value === 'fit', extraData, camera: devices, microphone: devices,
            ...(keep && { idleTime: Number(byId('idle').value) }),
        });
    }

    // Sessions change by themselves; there is no event to wait for.
    async look() {
        if (this.looking) return;
        this.looking = true;
        const { gateway } = this;
        try {
            if (this.looks++ % looksOfApplications === 0) await this.read();
            else {
                const sessions = await gateway.sessions();
                if (gateway === this.gateway) this.showSessions(sessions);
            }
            byId('gateway-state').textContent = '';
        } catch (error) {
            if (gateway === this.gateway) this.lookFailed(error);
        } finally {
            this.looking = false;
        }
    }

    lookFailed(error) {
        if (error.status === 401) return this.onRefused(error);
        this.looks = 0;  // all may be different when it is back
        return byId('gateway-state').textContent = `${error.message} Trying again …`;
    }

    // What did not change keeps its elements, and with them the focus.
    showSessions(sessions) {
        const list = byId('sessions');
        const before = new Map([...list.children].map((item) => [item.dataset.session, item]));
        const items = sessions.map((session) => {
            const text = JSON.stringify([session.status, session.status_message, session.client_connected, session.joinable]);
            const old = before.get(session.id);
            return old?.dataset.text === text ? old : this.sessionItem(session, text);
        });
        const wanted = items.length ? items : [paragraph('None yet. Start an application, and it is listed here.')];
        if (wanted.length !== list.children.length || wanted.some((item, index) => item !== list.children[index])) list.replaceChildren(...wanted);
    }

    sessionItem(session, text) {
        const item = instantiate('session-item');
        Object.assign(item.dataset, { session: session.id, text });
        const state = item.querySelector('.state');
        state.dataset.state = session.status;
        state.textContent = states[session.status] ?? session.status;
        Object.assign(item.querySelector('.name'), { textContent: session.app, title: session.app });
        const watched = session.client_connected ? 'in use' : '';
        const facts = [owner(session), since(session.created_at), session.region, watched, session.id];
        item.querySelector('.detail').textContent = facts.filter(Boolean).join(' · ');
        item.querySelector('.reason').textContent = session.status_message ?? '';
        this.prepareActions(item, session);
        return item;
    }

    prepareActions(item, session) {
        const join = item.querySelector('.join'), end = item.querySelector('.end');
        join.hidden = session.status !== 'active' || !session.joinable;
        join.setAttribute('aria-label', `Join ${session.app}, session ${session.id}`);
        // The instance is drawn anew for a window that is not like others.
        join.addEventListener('click', () => this.onJoin(session, byId('screen').value === 'fit' ? this.screen() : undefined));
        const watch = item.querySelector('.watch');
        watch.hidden = join.hidden || !session.client_connected;
        watch.setAttribute('aria-label', `Watch ${session.app}, session ${session.id}`);
        watch.addEventListener('click', () => this.onJoin(session, undefined, true));
        end.textContent = session.status === 'error' ? 'Remove' : 'End';
        end.hidden = session.status === 'terminating' || session.status === 'terminated';
        end.setAttribute('aria-label', `${end.textContent} ${session.app}, session ${session.id}`);
        end.addEventListener('click', () => this.end(session, end));
    }

    async end(session, button) {
        const alive = session.status === 'active';
        if (alive && !await confirmed(`The instance of ${session.app} and all that is in it will be gone.`)) return;
        button.disabled = true;
        try {
            await this.gateway.end(session.id);
        } catch (error) {
            if (error.status !== 404) notify(error.message);
            button.disabled = false;
        }
        await this.look();
    }
}
