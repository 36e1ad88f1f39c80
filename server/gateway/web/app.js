// The page: signing in, then applications and sessions, then a stream.
import { Gateway } from './gateway.js';
import { Overview } from './overview.js';
import { byId, notify, show } from './page.js';
import { StreamView } from './stream_view.js';

const storedToken = 'svc-gateway-token';
let gateway;

const streamView = new StreamView({ onClosed: () => showOverview() });
const overview = new Overview({
    onStart: (options) => openStream({ title: options.app, ...options }),
    onJoin: (session, screen, watch) => openStream({ title: session.app, sessionId: session.id, ...(screen && { screen, fit: true }), ...(watch && { watch }) }),
    onRefused: (error) => signOutWith(error),
});

function openStream(options) {
    overview.close();
    show(byId('overview'), false);
    streamView.open({ gateway, ...options });
}

// As it was; what changed meanwhile comes by itself.
function showOverview() {
    show(byId('overview'), true);
    overview.resume(gateway);
}

function showSignIn() {
    overview.close();
    for (const id of ['overview', 'sign-out', 'loading']) show(byId(id), false);
    show(byId('sign-in'), true);
    byId('token').focus();
}

function signOut() {
    sessionStorage.removeItem(storedToken);
    gateway = undefined;
    showSignIn();
}

// The token stays when it is the gateway that is not there.
function signOutWith(error) {
    if (error.status === 401) sessionStorage.removeItem(storedToken);
    showSignIn();
    notify(error.message);
}

async function signIn(token) {
    notify();
    gateway = new Gateway({ token });
    show(byId('sign-in'), false);
    show(byId('loading'), true);
    try {
        await overview.open(gateway);
        sessionStorage.setItem(storedToken, token);
        show(byId('loading'), false);
        for (const id of ['overview', 'sign-out']) show(byId(id), true);
        byId('main').focus({ preventScroll: true });
        byId('token').value = '';
    } catch (error) {
        signOutWith(error);
    }
}

// #token=... signs in; it does not stay in the address, where it would be seen and kept.
function tokenFromAddress() {
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    if (token) history.replaceState(null, '', location.pathname + location.search);
    return token;
}

byId('sign-in').querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    const token = byId('token').value.trim();
    if (token) signIn(token);
});
byId('sign-out').addEventListener('click', signOut);
byId('notice').querySelector('button').addEventListener('click', () => notify());
window.addEventListener('hashchange', () => {
    const token = tokenFromAddress();
    if (token) signIn(token);
});

const token = tokenFromAddress() ?? sessionStorage.getItem(storedToken);
if (token) signIn(token);
else showSignIn();
