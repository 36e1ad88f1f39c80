// The services of a launch: ports of the guest, and whether the node's public address forwards them.
import { html } from '../../html.js';
import { emptyService } from './launch_form.js';

const known = { ssh: { ...emptyService, name: 'ssh', ports: '22' }, adb: { ...emptyService, name: 'adb', ports: '5559' } };

function Service({ service, number, change, remove }) {
    const text = (name, label, placeholder) => html`<input aria-label="${label} of service ${number}" placeholder=${placeholder} value=${service[name]} autocomplete="off" onInput=${(event) => change({ [name]: event.target.value })} />`;
    const check = (name, label) => html`<label class="check"><input type="checkbox" checked=${service[name]} aria-label="${label} of service ${number}" onChange=${(event) => change({ [name]: event.target.checked })} />${label}</label>`;
    return html`<div class="service">${text('name', 'Name', 'name, optional')}${text('ports', 'Port', 'port, or 5000-5010')}
        <div class="checks">${check('tcp', 'tcp')}${check('udp', 'udp')}${check('expose', 'exposed')}</div>
        <button class="small quiet" type="button" aria-label="Remove service ${number}" onClick=${remove}>✕</button></div>`;
}

export function Services({ form, set, problems }) {
    const { services } = form;
    const change = (index, values) => set({ services: services.map((service, other) => (other === index ? { ...service, ...values } : service)) });
    const add = (service) => set({ services: [...services, service] });
    return html`<fieldset><legend>Services</legend>
        ${services.length === 0 && html`<p class="hint">Ports of the guest that others reach. An exposed one is forwarded from the public address of the node.</p>`}
        ${services.map((service, index) => html`<${Service} key=${index} number=${index + 1} service=${service} change=${(values) => change(index, values)}
            remove=${() => set({ services: services.filter((_, other) => other !== index) })} />`)}
        ${problems.services && html`<small class="problem" role="alert">${problems.services}</small>`}
        <div class="actions"><button type="button" class="small" onClick=${() => add(emptyService)}>Add a service</button>
            ${Object.entries(known).map(([name, service]) => html`<button type="button" class="small" key=${name} onClick=${() => add(service)}>+ ${name}</button>`)}</div>
    </fieldset>`;
}
