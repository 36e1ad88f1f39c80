// The network, and whoever is at the other end: SIM, calls, messages.
import { request } from '../../agent.js';
import { html } from '../../html.js';
import { Field } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { ask } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { Known, changer } from './agent_data.js';

const path = '/1.0/telephony';
const choices = { sim: ['ready', 'absent', 'blocked'], registration: ['home', 'roaming', 'searching', 'denied', 'unregistered'] };
const texts = [['number', 'Number', '[+]?[0-9*#]{1,32}'], ['operator', 'Operator'], ['operator_code', 'Code of the network', '[0-9]{5,6}'], ['iccid', 'ICCID', '[0-9]{18,22}'], ['imsi', 'IMSI', '[0-9]{6,15}']];

const load = async (id) => {
    const [state, { calls }, { messages, dropped }] = await Promise.all([path, `${path}/calls`, `${path}/sms`].map((place) => request(id, 'GET', place)));
    return { state, calls, messages, dropped };
};
const when = (time) => new Date(time).toLocaleTimeString();

function Network({ state, change }) {
    const submit = (event) => {
        event.preventDefault();
        const given = Object.fromEntries(new FormData(event.target));
        change('PATCH', path, { ...given, signal: Number(given.signal) }, 'The phone has what you set.');
    };
    return html`<form class="card stack" onSubmit=${submit} aria-label="SIM and network"><h2>SIM and network</h2><div class="fields narrow">
        ${Object.entries(choices).map(([name, values]) => html`<${Field} key=${name} label=${name === 'sim' ? 'SIM' : 'Registration'}><select name=${name}>${values.map((value) => html`<option key=${value} selected=${value === state[name]}>${value}</option>`)}</select><//>`)}
        ${texts.map(([name, label, pattern]) => html`<${Field} key=${name} label=${label}><input name=${name} pattern=${pattern} defaultValue=${state[name]} /><//>`)}
        <${Field} label="Signal, percent"><input name="signal" type="number" min="0" max="100" required defaultValue=${state.signal} /><//></div>
        <div class="toolbar"><button class="primary">Set</button></div></form>`;
}

const steps = { ringing: ['active'], dialing: ['alerting', 'active'], alerting: ['active'], active: ['held'], held: ['active'] };

function Calls({ calls, active, change }) {
    const begin = (event) => {
        event.preventDefault();
        change('POST', `${path}/calls`, { number: new FormData(event.target).get('number') }, 'It rings.');
    };
    const buttons = (call) => (call.state === 'ended' ? call.end_reason : html`<div class="toolbar">${(steps[call.state] ?? []).map((state) => html`
        <button key=${state} class="small" onClick=${() => change('PATCH', `${path}/calls/${call.id}`, { state })}>${state}</button>`)}
        <button class="small danger" onClick=${() => change('DELETE', `${path}/calls/${call.id}`)}>Hang up</button></div>`);
    const columns = [{ name: 'time', title: 'Time', value: (call) => call.time, show: (call) => when(call.time) }, { name: 'number', title: 'Number', value: (call) => call.number },
        { name: 'direction', title: 'Direction', value: (call) => call.direction }, { name: 'state', title: 'State', value: (call) => call.state }, { name: 'does', title: '', show: buttons }];
    return html`<section class="card stack" aria-label="Calls"><h2>Calls</h2>
        <form class="toolbar" onSubmit=${begin}><input class="grow" name="number" required pattern="[+]?[0-9*#]{1,32}" aria-label="Who calls" placeholder="+12025550123" /><button disabled=${!active}>Call the guest</button></form>
        ${!active && html`<p class="hint">No program of the guest listens for calls.</p>`}
        <${Table} columns=${columns} rows=${[...calls].reverse()} keyOf=${({ id }) => id} label="Calls" empty=${html`<p class="hint">No call yet.</p>`} /></section>`;
}

function Messages({ messages, dropped, change }) {
    const send = (event) => {
        event.preventDefault();
        change('POST', `${path}/sms`, Object.fromEntries(new FormData(event.target)), 'The message is on its way.');
        event.target.elements.message.value = '';
    };
    const clear = async () => await ask('Remove all messages?', 'Those that wait are lost, too.', 'Remove') && change('DELETE', `${path}/sms`);
    const columns = [{ name: 'time', title: 'Time', value: (sms) => sms.time, show: (sms) => when(sms.time) }, { name: 'who', title: 'Number', value: (sms) => sms.number, show: (sms) => html`${sms.direction === 'incoming' ? 'from' : 'to'} ${sms.number}` },
        { name: 'message', title: 'Text', value: (sms) => sms.message, show: (sms) => html`<bdi>${sms.message}</bdi>` }, { name: 'state', title: 'State', value: (sms) => sms.state }];
    return html`<section class="card stack" aria-label="Messages"><h2>Messages</h2>
        <form class="stack" onSubmit=${send}><div class="toolbar"><input class="grow" name="number" required pattern="[+]?[0-9*#]{1,32}" aria-label="From" placeholder="From: +12025550123" /></div>
            <textarea name="message" required rows="2" aria-label="Text" placeholder="Text"></textarea><div class="toolbar"><button>Send to the guest</button>
            ${messages.length > 0 && html`<button type="button" class="danger" onClick=${clear}>Remove all</button>`}</div></form>
        <${Table} columns=${columns} rows=${[...messages].reverse()} keyOf=${(sms) => `${sms.direction} ${sms.id}`} label="Messages" empty=${html`<p class="hint">No message yet.</p>`} />
        ${dropped > 0 && html`<p class="hint">${dropped} older ones have been dropped.</p>`}</section>`;
}

export default function Telephony({ id }) {
    const loaded = useLoaded(() => load(id), [id]);
    const change = changer(id, loaded.reload);
    return html`<${Known} loaded=${loaded}>${({ state, calls, messages, dropped }) => html`<div class="stack">
        <div class="toolbar"><span>Programs of the guest ${state.status === 'active' ? 'listen' : 'do not listen'}; it has ${state.service ? '' : 'no '}service.</span><button class="small" onClick=${loaded.reload}>Look again</button></div>
        <div class="wide-grid"><${Calls} calls=${calls} active=${state.status === 'active'} change=${change} /><${Messages} ...${{ messages, dropped, change }} /></div>
        <${Network} key=${JSON.stringify(state)} state=${state} change=${change} /></div>`}<//>`;
}
