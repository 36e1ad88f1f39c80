// Who uses the page, and how one becomes somebody: a one-use link, a certificate of the browser, or a provider.
import { get, post, remove } from './api.js';
import { decoded } from './router.js';

const ranks = { viewer: 1, operator: 2, admin: 3 };

// What GET /1.0 says, with `trusted`, may(role), and the session of this browser, if it has one.
export async function whoAmI() {
    const server = await get('/1.0');
    const role = server.auth_role, trusted = server.auth === 'trusted';
    const sessions = trusted ? await get('/1.0/sessions?recursion=1') : [];
    return { ...server, role, trusted, session: sessions.find(({ current }) => current), may: (least) => (ranks[role] ?? 0) >= ranks[least] };
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

export const logIn = (link) => post('/1.0/sessions', { link });
export const logOut = () => remove('/1.0/sessions/current');
