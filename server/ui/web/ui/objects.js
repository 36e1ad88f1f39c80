// Links to what the API's URLs name, and the names of those who ask for something.
import { html } from '../html.js';
import { decoded, href } from '../router.js';

const pageOf = { containers: 'instances', instances: 'instances', applications: 'applications', images: 'images', addons: 'addons', nodes: 'nodes', operations: 'operations' };

// { page, name } of "/1.0/instances/<id>" or "1.0/operations/<id>"; null for what has no page.
export function objectOf(url) {
    const [, kind, name] = /^\/?1\.0\/([a-z]+)\/([^/?]+)/.exec(String(url)) ?? [];
    return pageOf[kind] ? { page: pageOf[kind], name: decoded(name) } : null;
}

const short = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

export function ObjectLink({ url }) {
    const object = objectOf(url);
    if (!object) return html`<span class="name">${String(url)}</span>`;
    const target = object.page === 'operations' ? `#/operations?filter=${encodeURIComponent(object.name)}` : href(object.page, object.name);
    return html`<a class="name" href=${target} title="${object.page} ${object.name}">${short(object.name)}</a>`;
}

// The URLs of all resources of an operation, each object once.
export function resourcesOf(operation) {
    const urls = Object.values(operation.resources ?? {}).flat();
    return [...new Map(urls.map((url) => [objectOf(url)?.name ?? url, url])).values()];
}

const shown = 4;

export function Objects({ operation }) {
    const urls = resourcesOf(operation);
    return html`<span class="objects">${urls.slice(0, shown).map((url) => html`<${ObjectLink} key=${url} url=${url} />`)}
        ${urls.length > shown && html`<span class="hint">and ${urls.length - shown} more</span>`}</span>`;
}

// "uid=0", a fingerprint, or another name: what there is room for.
export function requestorName(name) {
    if (!name) return '–';
    return name === 'uid=0' ? 'root' : name.replace(/^([0-9a-f]{12})[0-9a-f]{52}$/, '$1…');
}

export const Requestor = ({ name }) => html`<span title=${name}>${requestorName(name)}</span>`;
