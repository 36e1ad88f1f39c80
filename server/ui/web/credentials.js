// What a request says besides the cookie: the key of the session, which belongs to this origin alone, where a cookie goes to every
// port of its host; and whether the user has done anything of late.
const place = 'svc-session-key';
const minute = 60000;
let touched = Date.now();

for (const type of ['pointerdown', 'keydown', 'wheel']) addEventListener(type, () => { touched = Date.now(); }, { capture: true, passive: true });

// Of all tabs.
export const sessionKey = () => localStorage.getItem(place) ?? '';
export const keepKey = (key) => (key ? localStorage.setItem(place, key) : localStorage.removeItem(place));

// Requests that the page makes by itself must not keep a session alive that nobody uses.
export function credentials() {
    const key = sessionKey();
    return { ...(key ? { 'X-Svc-Session-Key': key } : {}), ...(Date.now() - touched > minute ? { 'X-Svc-Background': '1' } : {}) };
}

// Pages can give no header to a WebSocket: the key is a subprotocol. The service answers with the first one.
export function protocols() {
    const key = sessionKey();
    return key ? ['svc', `svc-session-key.${key}`] : [];
}
