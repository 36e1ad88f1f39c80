// The parts of the form of a launch. Each gets `form`, `set(values)`, `problems`, and what there is to choose from.
import { html } from '../../html.js';
import { Field } from '../../ui/elements.js';
import { say } from '../../ui/notice.js';
import { describeType, instanceTypes, mostUserData } from './launch_form.js';

const wrong = (problem) => html`<span class="problem">${problem}</span>`;

// A field of text. `name` of the form's value.
function Text({ form, set, problems, name, label, hint, ...rest }) {
    return html`<${Field} label=${label} hint=${problems[name] ? wrong(problems[name]) : hint}>
        <input name=${name} value=${form[name]} aria-invalid=${Boolean(problems[name])} autocomplete="off" spellcheck=${false} onInput=${(event) => set({ [name]: event.target.value })} ...${rest} /><//>`;
}

function Choice({ form, set, problems, name, label, hint, children }) {
    return html`<${Field} label=${label} hint=${problems[name] ? wrong(problems[name]) : hint}>
        <select name=${name} value=${form[name]} aria-invalid=${Boolean(problems[name])} onChange=${(event) => set({ [name]: event.target.value })}>${children}</select><//>`;
}

const Check = ({ form, set, name, label, inverse = false }) => html`<label class="check"><input type="checkbox" name=${name} checked=${form[name] !== inverse}
    onChange=${(event) => set({ [name]: event.target.checked !== inverse })} />${label}</label>`;

const usable = ({ status }) => status === 'active';

// Versions that can be launched, the newest first.
function versionsOf(kind, found) {
    const versions = found?.versions ?? [];
    return kind === 'application' ? versions.filter(usable).map(({ number }) => number).reverse() : versions.filter(usable).map(({ version }) => version).reverse();
}

export function Source({ applications, images, ...part }) {
    const { form, set, problems } = part;
    const records = form.kind === 'application' ? applications : images;
    const found = records.find(({ id }) => id === form.source);
    const choose = (event) => set({ source: event.target.value, sourceName: records.find(({ id }) => id === event.target.value)?.name ?? '', version: '' });
    const kind = (value, label) => html`<label class="check"><input type="radio" name="kind" checked=${form.kind === value} onChange=${() => set({ kind: value, source: '', sourceName: '', version: '', addons: [] })} />${label}</label>`;
    const newest = form.kind === 'application' ? 'Newest published' : 'Newest';
    return html`<fieldset><legend>What</legend>
        <div class="checks" role="radiogroup" aria-label="Launched from">${kind('application', 'An application')}${kind('image', 'An image alone')}</div>
        <div class="fields">
            <${Field} label=${form.kind === 'application' ? 'Application' : 'Image'} hint=${problems.source ? wrong(problems.source) : records.length === 0 && `There is no ${form.kind} yet`}>
                <select name="source" value=${form.source} aria-invalid=${Boolean(problems.source)} onChange=${choose}><option value="">Choose …</option>
                    ${records.map(({ id, name, status }) => html`<option key=${id} value=${id}>${name}${['ready', 'active'].includes(status) ? '' : ` (${status})`}</option>`)}</select><//>
            <${Choice} ...${part} name="version" label="Version"><option value="">${newest}</option>
                ${versionsOf(form.kind, found).map((number) => html`<option key=${number} value=${number}>${number}</option>`)}<//>
            ${form.kind === 'image' && html`<${Choice} ...${part} name="instanceType" label="Instance type">${instanceTypes.map((type) => html`<option key=${type} value=${type}>${describeType(type)}</option>`)}<//>`}
        </div></fieldset>`;
}

export function Placement({ nodes, ...part }) {
    return html`<fieldset><legend>Name and place</legend><div class="fields">
        <${Text} ...${part} name="name" label="Name" hint="Optional. Of several: web gives web-1, web-2; {n} is the number elsewhere" maxlength="70" />
        <${Text} ...${part} name="count" label="How many" type="number" min="1" max="1000" />
        <${Choice} ...${part} name="node" label="Node"><option value="">The service picks one</option>
            ${nodes.map(({ name, status, unschedulable }) => html`<option key=${name} value=${name}>${name}${status !== 'online' ? ` (${status})` : unschedulable ? ' (unschedulable)' : ''}</option>`)}<//>
    </div></fieldset>`;
}

export function Resources(part) {
    const instead = part.form.kind === 'application' ? "the application's" : "the type's";
    return html`<fieldset><legend>Resources</legend><div class="fields">
        <${Text} ...${part} name="cpus" label="CPUs" type="number" min="0.1" step="any" placeholder=${instead} />
        <${Text} ...${part} name="memory" label="Memory" placeholder=${instead} />
        <${Text} ...${part} name="disk" label="Disk" placeholder=${instead} />
        <${Text} ...${part} name="gpus" label="GPU slots" type="number" min="0" placeholder=${instead} />
    </div></fieldset>`;
}

function Addons({ form, set, addons }) {
    const turn = (name, on) => set({ addons: on ? [...form.addons, name] : form.addons.filter((other) => other !== name) });
    return html`<div class="checks" role="group" aria-label="Addons"><span class="check">Addons:</span>${addons.map(({ name }) => html`
        <label class="check" key=${name}><input type="checkbox" checked=${form.addons.includes(name)} onChange=${(event) => turn(name, event.target.checked)} />${name}</label>`)}</div>`;
}

export function Settings({ addons, ...part }) {
    return html`<fieldset><legend>Settings</legend><div class="fields">
            <${Choice} ...${part} name="platform" label="Platform" hint="webrtc and swrast stream where the user data has “streaming”"><option value="">Default</option>
                <option value="webrtc">webrtc</option><option value="swrast">swrast</option><option value="null">null: not streamed</option><//>
            <${Text} ...${part} name="tags" label="Tags" hint="Separated by commas" />
            <${Text} ...${part} name="features" label="Features" hint="Separated by commas" />
            <${Text} ...${part} name="metricsServer" label="Metrics server" hint="Where the instance sends its metrics" />
            <${Text} ...${part} name="expires" label="Delete it after" placeholder="never" hint="Like 2h, from its creation on" />
            <${Text} ...${part} name="idle" label="Delete it when unused for" placeholder="never" hint="Like 30m; traffic to its ports is not seen as a use" />
        </div>
        ${part.form.kind === 'image' && addons.length > 0 && html`<${Addons} ...${part} addons=${addons} />`}
        ${part.problems.addons && wrong(part.problems.addons)}
        <div class="checks"><${Check} ...${part} name="start" label="Start it" /><${Check} ...${part} name="protect" label="Protect it from deletion" />
            <${Check} ...${part} name="unwatched" inverse=${true} label="Watch the application" /><${Check} ...${part} name="devmode" label="Development mode: failures do not end it" /></div>
    </fieldset>`;
}

// The text of a file, if it is one.
async function textOf(file) {
    if (file.size > mostUserData) throw new Error(`“${file.name}” has ${file.size.toLocaleString()} bytes; user data has at most ${mostUserData.toLocaleString()}`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
    if (text.includes('\0')) throw new Error();
    return text;
}

export function UserData(part) {
    const { form, set, problems } = part;
    const read = async ({ target }) => {
        const file = target.files[0];
        target.value = '';
        await textOf(file).then((text) => set({ userData: text }), (error) => say(error instanceof TypeError || !error.message ? `“${file.name}” is not a text in UTF-8` : error.message, 'bad'));
    };
    return html`<fieldset><legend>User data</legend>
        <${Field} label="For the guest to read" hint=${problems.userData ? wrong(problems.userData) : 'It lies in the guest as /var/lib/svc-agent/userdata'}>
            <textarea name="userData" value=${form.userData} spellcheck=${false} aria-invalid=${Boolean(problems.userData)} onInput=${(event) => set({ userData: event.target.value })}></textarea><//>
        <${Field} label="From a file"><input type="file" onChange=${read} /><//></fieldset>`;
}
