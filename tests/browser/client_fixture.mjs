// The client module of the gateway's page, and an instance that lives in another page. Each test has both anew.
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach } from 'node:test';
import { bodyOf, launch, newContext } from './browser.mjs';

const web = new URL('../../server/gateway/web/', import.meta.url);
export const site = 'http://localhost';
const types = { js: 'text/javascript', html: 'text/html', css: 'text/css', svg: 'image/svg+xml' };

let browser, session;
export let context, client, instance;  // the browser's, and the page of either
export let requests;  // all but GET
export let opened, closed;  // of the signalling: its socket once it is there, its code once it is closed
let socket;

// What GET /1.0/sessions/<id> answers; nothing: 404.
export function answerSession(answer) {
    session = answer;
}

before(async () => { browser = await launch(); });
after(() => browser.close());

function answerOf(request) {
    const path = new URL(request.url()).pathname, body = bodyOf(request);
    const good = (status, metadata) => ({ status, json: { type: 'sync', status: 'success', status_code: status, metadata } });
    if (request.method() !== 'GET') requests.push({ method: request.method(), path, body, authorization: request.headers().authorization });
    const grant = { id: 's1', region: 'here', status: 'created', joinable: true, url: 'ws://localhost/slave?token=t', stun_servers: [] };
    if (path === '/1.0/sessions/' && request.method() === 'POST') return good(201, grant);
    if (path === '/1.0/sessions/s1/join') return good(200, grant);
    if (path === '/1.0/sessions/s1' && session) return good(200, session);
    return { status: 404, json: { type: 'error', status: 'failed', status_code: 404, error: 'session not found' } };
}

async function serve(route) {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith('/1.0/')) return route.fulfill(answerOf(route.request()));
    if (pathname === '/blank') {
        return route.fulfill({ contentType: 'text/html', body: '<body style="margin:0"><div id="stage" tabindex="0" style="width:640px;height:640px"></div>' });
    }
    const name = pathname.replace('/web/', '');
    return route.fulfill({ contentType: types[name.split('.').pop()], body: await readFile(new URL(name, web)) });
}

beforeEach(async () => {
    requests = [];
    session = { id: 's1', status: 'active' };
    context = await newContext(browser);
    await context.route(`${site}/**`, serve);
    instance = await context.newPage();
    await instance.goto(`${site}/blank`);
    await instance.exposeFunction('toClient', (text) => socket.send(text));
    await instance.addScriptTag({ path: new URL('fake_instance.js', import.meta.url).pathname });
    client = await context.newPage();
    let open, close;
    opened = new Promise((resolve) => { open = resolve; });
    closed = new Promise((resolve) => { close = resolve; });
    await client.routeWebSocket('ws://localhost/slave?token=t', (route) => {
        socket = route;
        route.onMessage((text) => instance.evaluate((message) => window.fromClient(message), text));
        route.onClose((code) => close(code ?? 1005));
        open(route);
    });
    await client.goto(`${site}/blank`);
    await client.evaluate(() => {
        window.events = [];
        window.ended = new Promise((resolve) => { window.onEnd = resolve; });
    });
});
afterEach(() => context.close());

export async function connect(options = {}, fake = {}) {
    await instance.evaluate((setup) => window.startInstance(setup), fake);
    await client.evaluate(async (given) => {
        const { connect: start } = await import('/web/svc-stream.js');
        await new Promise((resolve, reject) => {
            start({
                token: 'abc', element: document.querySelector('#stage'), onReady: resolve, onDone: window.onEnd,
                onError: (error) => { window.events.push({ error: error.message, code: error.code, reason: error.reason }); resolve(); },
                onMessage: (type, data) => window.events.push({ type, data }),
                onChannelMessage: (name, data) => window.events.push({ name, data: typeof data === 'string' ? data : [...new Uint8Array(data)] }),
                onVehicleReady: (configurations) => window.events.push({ configurations }), ...given,
            }).then((stream) => { window.stream = stream; }, reject);
        });
    }, { app: 'demo', ...options });
    await controllable();
}

// The first picture may be there before the control channel: what is said until then is lost.
export const controllable = () => client.waitForFunction(
    () => window.events.some(({ error }) => error) || window.stream?.connection.control?.readyState === 'open');

export const events = () => client.evaluate(() => window.events);
// What the instance heard on the control channel, once `count` messages of this type are there.
export async function heard(type, count = 1) {
    await instance.waitForFunction(([name, least]) => window.instance.heard.filter((message) => message.type === name).length >= least, [type, count]);
    return instance.evaluate((name) => window.instance.heard.filter((message) => message.type === name).map(({ data }) => data), type);
}
