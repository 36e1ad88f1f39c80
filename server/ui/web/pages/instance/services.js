// The services of an instance, and where they are reached.
import { get } from '../../api.js';
import { html } from '../../html.js';
import { CopyButton } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';

const secure = new Set([443, 8443]);
const web = new Set([80, 443, 3000, 5000, 8000, 8080, 8081, 8443, 8888, 9000, 9090]);
const host = (address) => (address?.includes(':') ? `[${address}]` : address);

// http, https, or nothing where a browser has no use for it.
function scheme({ name = '', port, protocols }) {
    if (!protocols.includes('tcp')) return '';
    if (/^https|^tls/.test(name) || secure.has(port)) return 'https';
    return /^(http|web|www)/.test(name) || web.has(port) ? 'http' : '';
}

const range = (first, last) => (last && last !== first ? `${first}–${last}` : String(first));

function Reached({ service, address }) {
    if (!service.node_port || !address) return html`<span class="hint">not yet</span>`;
    const place = `${host(address)}:${range(service.node_port, service.node_port_end)}`;
    const kind = scheme(service);
    return html`${kind && !service.node_port_end ? html`<a href="${kind}://${place}/" target="_blank" rel="noreferrer noopener">${kind}://${place}</a>` : html`<code>${place}</code>`}
        ${' '}<${CopyButton} text=${place} />`;
}

export function Services({ record }) {
    const { value: node } = useLoaded((signal) => (record.node ? get(`/1.0/nodes/${encodeURIComponent(record.node)}`, { signal }) : null), [record.node]);
    const services = record.services ?? [];
    const row = (service) => html`<tr key=${`${service.name} ${service.port}`}>
        <td data-title="Service"><bdi>${service.name || '–'}</bdi></td><td data-title="Port">${range(service.port, service.port_end)} ${service.protocols.join(', ')}</td>
        <td data-title="Reached at"><div><${Reached} service=${service} address=${service.expose ? record.public_address : node?.address} /> <span class="state plain">${service.expose ? 'public' : 'private'}</span></div></td></tr>`;
    return html`<section class="card" aria-label="Services"><h2>Services</h2>${services.length === 0
        ? html`<p class="hint">None. A port of an instance without a service: <code>svcctl forward ${record.id} 8080:80</code></p>`
        : html`<div class="table-frame" tabindex="0" role="region" aria-label="Services of this instance"><table>
            <thead><tr><th scope="col">Service</th><th scope="col">Port</th><th scope="col">Reached at</th></tr></thead><tbody>${services.map(row)}</tbody></table></div>`}</section>`;
}
