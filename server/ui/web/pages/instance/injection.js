// Data put into the instance through its agent's control API: places, sensors, pictures, vehicle, telephone, platform.
import { request } from '../../agent.js';
import { html, useEffect, useState } from '../../html.js';
import { href } from '../../router.js';
import { Failure, Spinner } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { NeedsRunning } from './needs.js';

// `extension`: of the agent's API that says that it works here.
const parts = [
    { name: 'location', title: 'Location', load: () => import('./location.js') },
    { name: 'sensors', title: 'Sensors', load: () => import('./sensors.js') },
    { name: 'camera', title: 'Camera', load: () => import('./camera.js') },
    { name: 'telephony', title: 'Telephone', extension: 'telephony', load: () => import('./telephony.js') },
    { name: 'vehicle', title: 'Vehicle', extension: 'vhal_support', load: () => import('./vehicle.js') },
    { name: 'platform', title: 'Platform and traces', load: () => import('./platform.js') },
];

function Part({ part, id }) {
    const [state, setState] = useState({});
    useEffect(() => {
        let current = true;
        part.load().then(({ default: View }) => current && setState({ name: part.name, View }), (error) => current && setState({ name: part.name, error }));
        return () => { current = false; };
    }, [part.name]);
    if (state.name !== part.name) return html`<${Spinner} />`;
    return state.error ? html`<${Failure} error=${state.error} />` : html`<${state.View} id=${id} />`;
}

function Parts({ record, deeper }) {
    const { value: agent, error, reload } = useLoaded(() => request(record.id, 'GET', '/1.0'), [record.id]);
    if (error) return html`<${Failure} error=${{ message: `The agent of the instance cannot be asked: ${error.message}` }} again=${reload} />`;
    if (!agent) return html`<${Spinner} text="Asking the agent" />`;
    const there = parts.filter(({ extension }) => !extension || agent.api_extensions.includes(extension));
    const part = there.find(({ name }) => name === deeper[0]) ?? there[0];
    return html`<div class="stack"><nav class="toolbar" aria-label="Kinds of data">${there.map(({ name, title }) => html`
            <a key=${name} class="button small" href=${href('instances', record.id, 'injection', name)} aria-current=${name === part.name ? 'page' : undefined}>${title}</a>`)}</nav>
        <${Part} key=${part.name} part=${part} id=${record.id} /></div>`;
}

export default function Injection({ record, deeper }) {
    return html`<${NeedsRunning} record=${record} what="Data can be put into the guest"><${Parts} record=${record} deeper=${deeper} /><//>`;
}
