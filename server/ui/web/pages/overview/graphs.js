// The last hour of the fleet.
import { html } from '../../html.js';
import { duration } from '../../ui/format.js';
import { Graph } from '../../ui/graph.js';

const perMinute = (values, { interval }) => values.map((value) => (value * 60) / interval);
const share = ({ total, used }) => total.map((all, index) => (all ? (used[index] / all) * 100 : null));
const percent = (value) => `${Math.round(value)} %`;
const count = (value) => value.toLocaleString(undefined, { maximumFractionDigits: 1 });
export const seconds = (value) => (value >= 60 ? duration(value) : `${value.toLocaleString(undefined, { maximumFractionDigits: 2 })} s`);

// One graph of a history: the times, and a line for each entry.
const Lines = ({ history, title, lines, format, least }) => html`<${Graph} title=${title} format=${format} least=${least}
    series=${lines.map(({ label, color }) => ({ label, color }))} data=${[history.times, ...lines.map(({ values }) => values)]} />`;

function states({ created, prepared, started, running, paused, stopped, error }) {
    const starting = created.map((value, index) => value + prepared[index] + started[index]);
    return [{ label: 'running', color: '--good', values: running }, { label: 'starting', color: '--busy', values: starting },
        { label: 'paused', color: '--graph-4', values: paused }, { label: 'stopped', color: '--soft', values: stopped },
        { label: 'failed', color: '--bad', values: error }];
}

function uses({ cpus, memory, gpu_slots: gpus }) {
    const lines = [{ label: 'CPUs', values: share(cpus) }, { label: 'memory', values: share(memory) }];
    return gpus.total.some((value) => value > 0) ? [...lines, { label: 'GPU slots', values: share(gpus) }] : lines;
}

export function Graphs({ history }) {
    const { launches, requests } = history;
    const rate = (values) => perMinute(values, history);
    return html`<section class="wide-grid" aria-label="The last hour">
        <${Lines} history=${history} title="Instances by state" format=${count} lines=${states(history.instances)} />
        <${Lines} history=${history} title="Capacity that is reserved" format=${percent} least=${10} lines=${uses(history.capacity)} />
        <${Lines} history=${history} title="Launches a minute" format=${count} lines=${[{ label: 'begun', values: rate(launches.begun) },
            { label: 'succeeded', color: '--good', values: rate(launches.succeeded) }, { label: 'failed', color: '--bad', values: rate(launches.failed) }]} />
        <${Lines} history=${history} title="Launch duration" format=${seconds} least=${1}
            lines=${[{ label: 'half are faster', values: launches.p50 }, { label: '95 % are faster', color: '--graph-2', values: launches.p95 }]} />
        <${Lines} history=${history} title="Requests a minute" format=${count} lines=${[{ label: 'served', values: rate(requests.served) },
            { label: 'refused', color: '--busy', values: rate(requests.refused) }, { label: 'failed', color: '--bad', values: rate(requests.failed) }]} />
        <${Lines} history=${history} title="Operations" format=${count} lines=${[{ label: 'running', values: history.operations.running },
            { label: 'queued', color: '--graph-2', values: history.operations.queued }]} />
    </section>`;
}
