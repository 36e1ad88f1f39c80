// The stream gateway whose page the console shows: an item of the configuration, which the policy of this page names as well.
import { get } from './api.js';
import { html } from './html.js';
import { href } from './router.js';
import { useLoaded } from './ui/loaded.js';

const item = 'console.gateway_url';

// The session of a gateway that an instance belongs to, by its tags; undefined: none.
export const sessionOf = ({ tags }) => (tags ?? []).find((tag) => tag.startsWith('session='))?.slice('session='.length);

// Joins the session. It is behind `#`, so it is in no log.
export const joinAddress = (gateway, session) => `${gateway}/#session=${encodeURIComponent(session)}`;

// { gateway, error }: its origin; '': none is configured; undefined: not known yet.
export function useGateway() {
    const { value, error } = useLoaded(async (signal) => (await get('/1.0/config', { signal })).config[item] ?? '', []);
    return { gateway: value, error };
}

export const NoGateway = ({ me }) => html`<p class="hint">The service knows no gateway. ${me.may('admin') ? html`<a href=${href('configuration')}>Configuration</a>: ` : 'An admin names one: '}<code>svcctl config set ${item} https://HOST:4000</code></p>`;
