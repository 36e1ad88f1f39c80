// One item of the configuration: its value, and the editor that fits its type.
import { html, useId, useState } from '../../html.js';
import { getTagged, run } from '../../api.js';
import { say } from '../../ui/notice.js';

const shownDefault = ({ default: initial, secret }) => (initial === '' || secret ? 'not set' : initial);

function Editor({ item, id, value, onInput, disabled }) {
    const { type, choices, secret, minimum, maximum } = item;
    const common = { id, disabled, value, onInput: ({ target }) => onInput(target.value), 'aria-describedby': `${id}-meaning` };
    const options = choices ?? (type === 'boolean' ? ['true', 'false'] : null);
    if (options) return html`<select ...${common}>${[...(item.default === '' ? [''] : []), ...options].map((option) => html`<option key=${option} value=${option}>${option || 'not set'}</option>`)}</select>`;
    if (type === 'number') return html`<input type="number" ...${common} min=${minimum} max=${maximum} />`;
    return html`<input type=${secret ? 'password' : 'text'} ...${common} placeholder=${secret ? 'a new value' : shownDefault(item)} autocomplete=${secret ? 'new-password' : 'off'} />`;
}

const told = (value) => (value === '' ? 'the default' : `“${value}”`);

// Sets the item, unless somebody else has set it since it was `before`.
async function change(name, before, wanted) {
    const { value: { config }, etag } = await getTagged('/1.0/config');
    if (String(config[name]) !== before) throw new Error(`Somebody else has set it to ${told(String(config[name]))} meanwhile. Save once more to replace that.`);
    await run('PATCH', '/1.0/config', { name, value: wanted }, { headers: { 'If-Match': etag } });
}

export function Item({ item, value, set, may, onChanged }) {
    const id = useId();
    const { name, meaning, rule, secret, choices } = item;
    const present = secret ? '' : String(value);
    const [edit, setEdit] = useState(null);  // { wanted, before }: while somebody edits
    const [problem, setProblem] = useState('');
    const [busy, setBusy] = useState(false);
    const draft = edit ? edit.wanted : present;
    const dirty = draft !== present;
    const input = (wanted) => setEdit((former) => ({ wanted, before: former?.before ?? String(value) }));
    const discard = () => {
        setEdit(null);
        setProblem('');
    };
    const save = async (wanted) => {
        setBusy(true);
        try {
            await change(name, edit?.before ?? String(value), wanted);
            say(wanted === '' ? `${name} is as by default` : `${name} is changed`);
            await onChanged();
            discard();
        } catch (error) {
            setProblem(error.message);
            setEdit(edit && { wanted });
            onChanged();
        }
        setBusy(false);
    };
    const submit = (event) => {
        event.preventDefault();
        if (dirty) save(draft);
    };
    return html`<form class="config-item" onSubmit=${submit} noValidate aria-label=${name}>
        <div class="config-name"><label for=${id}>${name}</label> ${set && html`<span class="state plain">${secret ? 'set' : 'changed'}</span>`}</div>
        <div class="stack">
            <div class="actions"><${Editor} ...${{ item, id }} value=${draft} onInput=${input} disabled=${!may || busy} />
                ${may && dirty && html`<button class="primary" disabled=${busy}>Save</button><button type="button" onClick=${discard}>Discard</button>`}
                ${may && set && !dirty && html`<button type="button" disabled=${busy} aria-label="Reset ${name}" onClick=${() => save('')}>Reset</button>`}</div>
            <small id="${id}-meaning">${meaning}${rule && !choices && ` (${rule})`}. Default: ${shownDefault(item)}.</small>
            ${problem && html`<p class="wrong" role="alert">${problem}</p>`}
        </div>
    </form>`;
}
