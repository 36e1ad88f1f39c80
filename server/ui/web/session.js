// Who uses the page, and how one becomes somebody: a one-use link, a certificate of the browser, or a provider.
import { get, post, remove } from './api.js';
import { keepKey, sessionKey } from './credentials.js';
import { decoded } from './router.js';

const ranks = { viewer: 1, operator: 2, admin: 3 };

// What GET /1.0 says, with `trusted`, may(role), and the session of this browser, if it has one.
export async function whoAmI() {
    const server = await get('/1.0');
    const role = server.auth_role, trusted = server.auth === 'trusted';
    const key = sessionKey();
    const sessions = trusted ? await get('/1.0/sessions?recursion=1') : [];
    const session = sessions.find(({ current }) => current);
    if (trusted && !session && key === sessionKey()) keepKey('');  // of a session that has ended: a certificate counts
    return { ...server, role, trusted, session, may: (least) => (ranks[role] ?? 0) >= ranks[least] };
}

// The secret of a link is in the address once: it is taken out of it and used up.
export function takeLoginSecret() {
    const found = /^#login=([\w.~-]+)$/.exec(location.hash);
    if (found) history.replaceState(null, '', '#/');
    return found?.[1];
}

// Why a provider's login has failed, likewise.
export function takeLoginError() {
    const found = /^#login-error=(.*)$/.exec(location.hash);
    if (found) history.replaceState(null, '', '#/');
    return found ? decoded(found[1]) : '';
}

// The key of the session that a provider's login has opened is in the address once, with the place to go back to.
export function takeSessionKey() {
    const found = /^#session-key=([\w-]+)&return=(.*)$/.exec(location.hash);
    const back = found ? decoded(found[2]) : '';
    if (found) history.replaceState(null, '', back.startsWith('#/') ? back : '#/');
    return found?.[1];
}

// An address that somebody else has made up costs nobody the session: the key is kept if it opens one.
export async function adoptKey(key) {
    const former = sessionKey();
    keepKey(key);
    if (!(await whoAmI()).session) keepKey(former);
}

export async function logIn(link) {
    const { key } = await post('/1.0/sessions', { link });
    keepKey(key);
}

export async function logOut() {
    await remove('/1.0/sessions/current');
    keepKey('');
}
