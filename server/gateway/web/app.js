// The page: signing in, then applications and sessions, then a stream.
import { Gateway } from './gateway.js';
import { ofTab } from './kept.js';
import { Overview } from './overview.js';
import { byId, notify, show } from './page.js';
import { StreamView } from './stream_view.js';

const storedToken = 'svc-gateway-token';
let gateway, wantedSession;

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
    ofTab.removeItem(storedToken);
    gateway = undefined;
    showSignIn();
}

// The token stays when it is the gateway that is not there.
function signOutWith(error) {
    if (error.status === 401) ofTab.removeItem(storedToken);
    showSignIn();
    notify(error.message);
}

// The session that the address has named. Beside the client that steers, where there is one: an address takes control from nobody.
async function joinWanted() {
    const id = wantedSession;
    wantedSession = undefined;
    if (!id) return;
    try {
        const { app, client_connected: watch } = await gateway.session(id);
        openStream({ title: app, sessionId: id, ...(watch && { watch }) });
    } catch (error) {
        notify(error.status === 404 ? 'The session of this address has ended, or is another account\'s.' : error.message);
    }
}

async function signIn(token) {
    notify();
    gateway = new Gateway({ token });
    show(byId('sign-in'), false);
    show(byId('loading'), true);
    try {
        await overview.open(gateway);
        ofTab.setItem(storedToken, token);
        show(byId('loading'), false);
        for (const id of ['overview', 'sign-out']) show(byId(id), true);
        byId('main').focus({ preventScroll: true });
        byId('token').value = '';
    } catch (error) {
        signOutWith(error);
        return;
    }
    await joinWanted();
}

// #token=... signs in, #session=... joins. Neither stays in the address: a token would be seen and kept there, and a page that
// is loaded again would join again.
function followAddress() {
    const given = new URLSearchParams(location.hash.slice(1)), token = given.get('token');
    wantedSession = given.get('session') ?? wantedSession;
    if (token || given.has('session')) history.replaceState(null, '', location.pathname + location.search);
    if (token) signIn(token);
    else if (gateway) joinWanted();
    return Boolean(token || gateway);
}

byId('sign-in').querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    const token = byId('token').value.trim();
    if (token) signIn(token);
});
byId('sign-out').addEventListener('click', signOut);
byId('notice').querySelector('button').addEventListener('click', () => notify());
window.addEventListener('hashchange', followAddress);

const token = ofTab.getItem(storedToken);
if (!followAddress()) token ? signIn(token) : showSignIn();
