// Applications and sessions of the account.
import { byId, instantiate, notify, paragraph } from './page.js';

const sizes = ['1280x720', '1920x1080', '720x1280'];
const refresh = 2000;  // ms between two looks at the sessions
const states = { created: 'starting', active: 'running', error: 'failed', terminating: 'ending', terminated: 'ended' };

// Where the window is small, its own size is the one that can be read.
function fillSizes(select) {
    const fit = new Option('fit this window', 'fit');
    select.replaceChildren(fit, ...sizes.map((size) => new Option(size.replace('x', ' × '), size)));
    select.value = window.innerWidth < 700 ? 'fit' : sizes[0];
}

// Of the stage: the window without the bar below it.
function windowSize() {
    const even = (value) => Math.max(2, Math.round(value / 2) * 2);
    const scale = Math.min(window.devicePixelRatio || 1, 1920 / Math.max(window.innerWidth, window.innerHeight));
    return { width: even(window.innerWidth * scale), height: even((window.innerHeight - 56) * scale) };
}

export class Overview {
    // `onStart(options)`, `onJoin(session)`: of connect().
    constructor({ onStart, onJoin }) {
        this.onStart = onStart;
        this.onJoin = onJoin;
        fillSizes(byId('screen'));
        byId('settings').addEventListener('submit', (event) => event.preventDefault());
        document.addEventListener('visibilitychange', () => document.hidden || this.gateway && this.look());
    }

    // Throws GatewayError.
    async open(gateway) {
        this.gateway = gateway;
        const [applications, regions] = await Promise.all([gateway.applications(), gateway.regions()]);
        this.showApplications(applications);
        this.showRegions(regions);
        await this.look();
        clearInterval(this.timer);
        this.timer = setInterval(() => document.hidden || this.look(), refresh);
    }

    close() {
        clearInterval(this.timer);
        this.gateway = undefined;
    }

    showApplications(applications) {
        const items = applications.map(({ name }) => {
            const item = instantiate('application-item');
            item.querySelector('.badge').textContent = name.slice(0, 1).toUpperCase();
            item.querySelector('.name').textContent = name;
            const start = item.querySelector('button');
            start.setAttribute('aria-label', `Start ${name}`);
            start.addEventListener('click', () => this.start(name));
            return item;
        });
        byId('applications').replaceChildren(...(items.length ? items : [paragraph('No region lists an application that can be streamed.')]));
    }

    showRegions(regions) {
        byId('region').replaceChildren(new Option('any', ''), ...regions.map(({ name }) => new Option(name, name)));
    }

    screen() {
        const choice = byId('screen').value;
        const [width, height] = choice.split('x').map(Number);
        return { ...(choice === 'fit' ? windowSize() : { width, height }), fps: 60, density: 240 };
    }

    start(app) {
        const keep = byId('keep').checked, extra = byId('extra').value.trim();
        let extraData = null;
        try {
            extraData = extra ? JSON.parse(extra) : null;
        } catch {
            notify('The extra data is not valid JSON.');
            byId('extra').focus();
            return;
        }
        const devices = byId('camera').checked;
        this.onStart({
            app, region: byId('region').value, joinable: keep, screen: this.screen(), extraData, camera: devices, microphone: devices,
            ...(keep && { idleTime: Number(byId('idle').value) }),
        });
    }

    // Sessions change by themselves; there is no event to wait for.
    async look() {
        if (this.looking) return;
        this.looking = true;
        try {
            this.showSessions(await this.gateway.sessions());
            byId('gateway-state').textContent = '';
        } catch (error) {
            byId('gateway-state').textContent = error.message;
        } finally {
            this.looking = false;
        }
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
        const wanted = items.length ? items : [paragraph('None. Start an application above.')];
        if (wanted.length !== list.children.length || wanted.some((item, index) => item !== list.children[index])) list.replaceChildren(...wanted);
    }

    sessionItem(session, text) {
        const item = instantiate('session-item');
        Object.assign(item.dataset, { session: session.id, text });
        const state = item.querySelector('.state');
        state.dataset.state = session.status;
        state.textContent = states[session.status] ?? session.status;
        item.querySelector('.name').textContent = session.app;
        const watched = session.client_connected ? 'watched' : '';
        item.querySelector('.detail').textContent = [session.id, session.region, watched, session.status_message].filter(Boolean).join(' · ');
        this.prepareActions(item, session);
        return item;
    }

    prepareActions(item, session) {
        const join = item.querySelector('.join'), end = item.querySelector('.end');
        join.hidden = session.status !== 'active' || !session.joinable;
        join.setAttribute('aria-label', `Join ${session.app}, session ${session.id}`);
        join.addEventListener('click', () => this.onJoin(session));
        end.hidden = session.status === 'terminating' || session.status === 'terminated';
        end.setAttribute('aria-label', `End ${session.app}, session ${session.id}`);
        end.addEventListener('click', () => this.end(session.id, end));
    }

    async end(id, button) {
        button.disabled = true;
        try {
            await this.gateway.end(id);
        } catch (error) {
            notify(error.message);
            button.disabled = false;
        }
        await this.look();
    }
}
