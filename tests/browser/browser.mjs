// The browser for tests, headless: plain host candidates, a camera that is none, and sound without a touch. Chromium, or
// Firefox where SVC_FIREFOX names its program.
import { createRequire } from 'node:module';

const { chromium, firefox, devices } = createRequire(`${process.env.SVC_NODE_MODULES}/`)('playwright-core');

export const isFirefox = Boolean(process.env.SVC_FIREFOX);
export const patience = 60_000;  // ms, of each wait

const flags = [
    '--no-sandbox', '--autoplay-policy=no-user-gesture-required', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream',
    '--disable-features=WebRtcHideLocalIpsWithMdns', '--ignore-certificate-errors', '--disable-gpu',
];
const preferences = {
    'media.autoplay.default': 0, 'media.navigator.streams.fake': true, 'media.navigator.permission.disabled': true,
    'media.peerconnection.ice.obfuscate_host_addresses': false, 'media.peerconnection.ice.loopback': true,
    'ui.primaryPointerCapabilities': 6, 'ui.allPointerCapabilities': 6,  // a mouse, which is not there without a screen
};

// In Firefox nobody has emulated fingers yet: a phone has the size of one.
const { isMobile, hasTouch, userAgent, ...small } = devices['Pixel 7'];
export const phone = isFirefox ? small : devices['Pixel 7'];

export function launch() {
    if (isFirefox) return firefox.launch({ channel: 'moz-firefox', executablePath: process.env.SVC_FIREFOX, firefoxUserPrefs: preferences });
    // Silent, unless the test listens.
    const ignoreDefaultArgs = process.env.PULSE_SERVER ? ['--mute-audio'] : [];
    return chromium.launch({ executablePath: process.env.SVC_CHROMIUM ?? '/usr/bin/chromium', args: flags, ignoreDefaultArgs });
}

// The preferences of Firefox grant all there is to grant.
export async function newContext(browser, options = {}) {
    const grants = isFirefox ? {} : { permissions: ['camera', 'microphone', 'geolocation', 'clipboard-read', 'clipboard-write'] };
    const context = await browser.newContext({ ...grants, ...options });
    context.setDefaultTimeout(patience);
    if (isFirefox) await context.addInitScript(sayBodies);
    return context;
}

// What is sent is not told of Firefox: its pages say it in a header.
function sayBodies() {
    const ask = window.fetch;
    const header = (text) => ({ 'x-body': encodeURIComponent(text) });
    window.fetch = (url, options = {}) => ask(url, options.body ? { ...options, headers: { ...options.headers, ...header(options.body) } } : options);
}

export function bodyOf(request) {
    const said = request.headers()['x-body'];
    return said ? JSON.parse(decodeURIComponent(said)) : request.postDataJSON();
}
