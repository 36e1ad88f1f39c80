// Chromium for tests: headless, with plain host candidates, a camera that is none, and sound without a touch.
import { createRequire } from 'node:module';

const { chromium, devices } = createRequire(`${process.env.SVC_NODE_MODULES}/`)('playwright-core');

const flags = [
    '--no-sandbox', '--autoplay-policy=no-user-gesture-required', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream',
    '--disable-features=WebRtcHideLocalIpsWithMdns', '--ignore-certificate-errors', '--disable-gpu',
];

export const phone = devices['Pixel 7'];
export const patience = 60_000;  // ms, of each wait

export function launch() {
    return chromium.launch({ executablePath: process.env.SVC_CHROMIUM ?? '/usr/bin/chromium', args: flags });
}
