// The fleet at a glance.
import { html } from '../html.js';
import { list } from '../api.js';
import { href } from '../router.js';
import { Failure, Page, Spinner, State } from '../ui/elements.js';
import { useLoaded, useReloadOn } from '../ui/loaded.js';

export default function Overview() {
    const { value: nodes, error, reload } = useLoaded((signal) => list('/1.0/nodes', { signal }));
    useReloadOn('lifecycle', reload);
    return html`<${Page} title="Overview">
        ${error ? html`<${Failure} error=${error} again=${reload} />` : !nodes ? html`<${Spinner} />`
            : html`<ul class="grid">${nodes.map((node) => html`<li class="card" key=${node.name}><a href=${href('nodes', node.name)}>${node.name}</a> <${State} state=${node.status} /></li>`)}</ul>`}
    <//>`;
}
