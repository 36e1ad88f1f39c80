// The properties of an automotive guest's vehicle.
import { agent, printed, request } from '../../agent.js';
import { html, useState } from '../../html.js';
import { Field } from '../../ui/elements.js';
import { attempt, say } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { wordsOf } from '../../ui/words.js';
import { Known, useAgent } from './agent_data.js';

const types = { 0x100000: 'string', 0x200000: 'boolean', 0x400000: 'int32', 0x410000: 'int32 …', 0x500000: 'int64', 0x510000: 'int64 …', 0x600000: 'float', 0x610000: 'float …', 0x700000: 'bytes', 0xe00000: 'mixed' };
const access = ['none', 'read', 'write', 'read and write'], modes = ['static', 'on change', 'continuous'];
const typeOf = (prop) => types[prop & 0xff0000] ?? 'unknown';
const hex = (number) => `0x${(number >>> 0).toString(16)}`;

function textOf({ int32_values: int32 = [], int64_values: int64 = [], float_values: floats = [], bytes = [], string_value: text = '', status }) {
    if (status) return status === 1 ? 'unavailable' : 'error';
    return [...int32, ...int64, ...floats, ...bytes].join(', ') || text || 'empty';
}

function Value({ id, config, area }) {
    const [value, setValue] = useState(null);
    const read = () => attempt(async () => setValue((await request(id, 'GET', `/1.0/vhal/${config.prop}/${area}`)).value));
    return html`<div class="toolbar">${value && html`<span>${area !== 0 && `${hex(area)}: `}<bdi>${textOf(value)}</bdi></span>`}<button class="small" onClick=${read}>${value ? 'Again' : area === 0 ? 'Read' : `Read ${hex(area)}`}</button></div>`;
}

function Setter({ id }) {
    const submit = async (event) => {
        event.preventDefault();
        const given = Object.fromEntries(new FormData(event.target));
        const area = given.area.trim() ? ['--area', given.area.trim()] : [];
        await attempt(() => printed(id, agent('ctl', 'vhal', 'set', ...area, '--', given.property.trim(), ...wordsOf(given.values))), `${given.property} is set.`);
    };
    const read = async ({ target }) => {
        const given = Object.fromEntries(new FormData(target.form));
        await attempt(async () => say(`${given.property}: ${textOf(JSON.parse(await printed(id, agent('ctl', 'vhal', 'get', '--', ...[given.property, given.area].map((word) => word.trim()).filter(Boolean)))))}`));
    };
    return html`<form class="card stack" onSubmit=${submit} aria-label="Set a property"><h2>Set a property</h2><div class="fields narrow">
        <${Field} label="Property" hint="Number, or name such as PERF_VEHICLE_SPEED"><input name="property" required autocomplete="off" spellcheck="false" /><//>
        <${Field} label="Area" hint="Number, or name such as HVAC_LEFT"><input name="area" autocomplete="off" spellcheck="false" /><//>
        <${Field} label="Values" hint="Those of a vector with spaces between"><input name="values" required autocomplete="off" /><//></div>
        <div class="toolbar"><button class="primary">Set</button><button type="button" onClick=${read}>Read</button></div></form>`;
}

const areasOf = ({ area_configs: areas = [] }) => (areas.length > 0 ? areas.map(({ area_id: area }) => area) : [0]);

export default function Vehicle({ id }) {
    const loaded = useAgent(id, '/1.0/vhal/config');
    const columns = [
        { name: 'prop', title: 'Property', value: ({ prop }) => `${hex(prop)} ${prop}`, show: ({ prop }) => html`<span><code>${hex(prop)}</code> <small>${prop}</small></span>` },
        { name: 'type', title: 'Type', value: ({ prop }) => typeOf(prop) },
        { name: 'access', title: 'Access', value: (config) => access[config.access] ?? config.access },
        { name: 'mode', title: 'Changes', value: (config) => modes[config.change_mode] ?? config.change_mode },
        { name: 'value', title: 'Value', show: (config) => html`<div class="toolbar">${areasOf(config).map((area) => html`<${Value} key=${area} id=${id} config=${config} area=${area} />`)}</div>` },
    ];
    return html`<${Known} loaded=${loaded}>${({ configs }) => html`<div class="stack"><${Setter} id=${id} />
        <${Table} columns=${columns} rows=${configs} keyOf=${({ prop }) => prop} filter="Find a property" label="Properties" empty=${html`<p class="hint">The vehicle has no properties.</p>`} /></div>`}<//>`;
}
