// The frame of all pages: who is logged in, where one can go, what is shown.
import './theme.js';
import { html, render, useEffect, useRef, useState } from './html.js';
import * as api from './api.js';
import * as live from './live.js';
import { Login } from './login.js';
import { pages } from './pages.js';
import { href, usePlace } from './router.js';
import { adoptKey, logIn, logOut, takeLoginError, takeLoginSecret, takeSessionKey, whoAmI } from './session.js';
import { nextTheme, theme } from './theme.js';
import { Failure, Page, Spinner } from './ui/elements.js';
import { ask, attempt, Notices } from './ui/notice.js';

function ThemeButton() {
    const [chosen, setChosen] = useState(theme());
    return html`<button class="quiet" onClick=${() => setChosen(nextTheme())} aria-label="Theme: ${chosen}">${{ system: '◐', light: '☀', dark: '☾' }[chosen]}</button>`;
}

function Navigation({ me, current, open, onChoose }) {
    const shown = pages.filter(({ role }) => !role || me.may(role));
    return html`<nav class="side ${open ? 'open' : ''}" aria-label="Pages"><ul>${shown.map(({ name, title }) => html`
        <li key=${name}><a href=${href(name)} aria-current=${name === current ? 'page' : undefined} onClick=${onChoose}>${title}</a></li>`)}</ul></nav>`;
}

function Bar({ me, onMenu, onLogOut, menuOpen }) {
    return html`<header class="bar">
        <button class="quiet menu" aria-label="Menu" aria-expanded=${menuOpen} onClick=${onMenu}>☰</button>
        <a class="brand" href="#/overview"><img src="/ui/icon.svg" alt="" width="24" height="24" /> Instances</a>
        <span class="who">${me.auth_name ?? ''} <span class="state plain">${me.role}</span></span>
        <${ThemeButton} />
        ${me.session && html`<button class="quiet" onClick=${onLogOut}>Log out</button>`}
    </header>`;
}

function Away() {
    const [state, setState] = useState('here');
    useEffect(() => {
        let timer;
        const end = live.onConnection((next) => {
            clearTimeout(timer);
            timer = setTimeout(setState, next === 'away' ? 1500 : 0, next);
        });
        return () => {
            clearTimeout(timer);
            end();
        };
    }, []);
    return html`<div class="away" role="status">${state === 'away' ? 'The service does not answer. The page goes on when it does.' : ''}</div>`;
}

const titleOf = (page) => page?.title ?? 'No such page';
const NotHere = ({ title, reason }) => html`<${Page} title=${title}><${Failure} error=${{ message: reason }} /><//>`;

// Loads a page's module and shows it. The focus goes to the title when the page changes, so that a reader hears it.
function Shown({ me, place }) {
    const wanted = pages.find(({ name }) => name === (place.parts[0] ?? 'overview'));
    const refused = Boolean(wanted?.role) && !me.may(wanted.role);
    const [state, setState] = useState({});
    const main = useRef(), visits = useRef(0);
    useEffect(() => {
        let current = true;
        document.title = `${titleOf(wanted)} – Instances`;
        if (!wanted || refused) return undefined;
        wanted.load().then(({ default: View }) => current && setState({ name: wanted.name, View }),
            (error) => current && setState({ name: wanted.name, error }));
        return () => { current = false; };
    }, [wanted?.name, refused]);
    const shown = wanted && !refused ? state.name : place.parts[0];
    useEffect(() => {
        if (shown && visits.current++) main.current.querySelector('h1')?.focus();
    }, [shown]);
    const View = state.View;
    const content = !wanted ? html`<${NotHere} title=${titleOf(wanted)} reason="There is no page “${place.parts[0]}”." />`
        : refused ? html`<${NotHere} title=${wanted.title} reason="The page “${wanted.title}” needs the role ${wanted.role}; yours is ${me.role}." />`
        : state.name !== wanted.name ? html`<${Spinner} />`
            : state.error ? html`<${Failure} error=${state.error} />` : html`<${View} me=${me} place=${place} />`;
    return html`<main id="main" ref=${main}>${content}</main>`;
}

function Console({ me, onLogOut }) {
    const place = usePlace();
    const [menuOpen, setMenuOpen] = useState(false);
    useEffect(() => {
        live.start();
        return live.stop;
    }, []);
    return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector('main h1')?.focus(); }}>To the page</a>
        <${Bar} me=${me} menuOpen=${menuOpen} onMenu=${() => setMenuOpen(!menuOpen)} onLogOut=${onLogOut} />
        <${Away} />
        <div class="columns">
            <${Navigation} me=${me} current=${place.parts[0] ?? 'overview'} open=${menuOpen} onChoose=${() => setMenuOpen(false)} />
            <${Shown} me=${me} place=${place} />
        </div>`;
}

// A link that somebody else has sent must not replace, unnoticed, who one is.
async function followLink(secret) {
    const me = await whoAmI();
    const text = `You are ${me.auth_name || 'trusted'} (${me.role}) already. With the link you become whoever it was made for.`;
    if (!me.trusted || await ask('Log in by the link?', text, 'Log in')) await logIn(secret);
}

function App() {
    const [me, setMe] = useState(null);
    const [problem, setProblem] = useState(takeLoginError());
    const look = () => whoAmI().then(setMe, (error) => setProblem(error.message));
    useEffect(() => {
        const key = takeSessionKey(), secret = takeLoginSecret();
        const begin = key ? adoptKey(key) : secret ? followLink(secret) : Promise.resolve();
        begin.catch((error) => setProblem(error.message)).then(look);
        return api.onLoggedOut(look);
    }, []);
    const leave = () => attempt(logOut).then(look);
    const content = !me ? (problem ? html`<${Failure} error=${{ message: problem }} again=${look} />` : html`<${Spinner} />`)
        : me.trusted ? html`<${Console} me=${me} onLogOut=${leave} />`
            : html`<${Login} methods=${me.auth_methods} reason=${problem} onDone=${look} />`;
    return html`${content}<${Notices} />`;
}

render(html`<${App} />`, document.getElementById('app'));
