// Numbers that lead to what they count.
import { html } from '../../html.js';
import { hasEnded } from '../../operations.js';

const recent = 30;  // samples: five minutes
const sum = (values) => values.slice(-recent).reduce((all, value) => all + value, 0);
// What counts.js counts: no base instances; those that are paused run.
const instancesWith = (status) => `#/instances?filter=${encodeURIComponent(`type=regular status=${status}`)}`;

function Tile({ name, value, of, kind = '', to }) {
    return html`<li class="tile ${kind}"><a href=${to}><span class="tile-name">${name}</span>
        <span class="number">${value}${of !== undefined && html`<small> ${of}</small>`}</span></a></li>`;
}

// What the service itself has failed at; what it has refused is the clients' affair.
function errorRate({ requests }) {
    const served = sum(requests.served);
    return served === 0 ? 0 : (sum(requests.failed) / served) * 100;
}

const percent = (value) => `${value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 })} %`;

export function Tiles({ counts, nodes, operations = [], history }) {
    const online = nodes.filter(({ status }) => status === 'online').length;
    const running = operations.filter((operation) => !hasEnded(operation)).length;
    const rate = errorRate(history);
    const number = (value) => value.toLocaleString();
    return html`<ul class="tiles" aria-label="Figures">
        <${Tile} name="Running" value=${number(counts.running)} of=${`of ${number(counts.all)}`} to=${instancesWith('running,paused')} />
        <${Tile} name="Starting" value=${number(counts.starting)} to=${instancesWith('created,prepared,started')} />
        <${Tile} name="Stopped" value=${number(counts.stopped)} to=${instancesWith('stopped')} />
        <${Tile} name="Failed" value=${number(counts.error)} kind=${counts.error ? 'bad' : ''} to=${instancesWith('error')} />
        <${Tile} name="Nodes online" value=${online} of=${`of ${nodes.length}`} kind=${online < nodes.length ? 'bad' : ''} to="#/nodes" />
        <${Tile} name="Operations" value=${number(running)} of="running" to="#/operations" />
        <${Tile} name="Failed requests" value=${percent(rate)} of="in 5 min" kind=${rate > 0 ? 'bad' : ''} to="#/events?filter=error" />
    </ul>`;
}
