// What the instance uses: graphs of the last hour that this browser has seen.
import { text } from '../../api.js';
import { html, useEffect, useState } from '../../html.js';
import { bytes } from '../../ui/format.js';
import { Graph } from '../../ui/graph.js';
import { Failure } from '../../ui/elements.js';

const every = 5000;              // milliseconds
const most = 3600_000 / every;   // an hour
const kept = new Map();          // id -> samples, of the last few instances
const remembered = 5;

const line = /^(svc_instance_\w+)\{(.*)\} (\S+)$/gm;

// The sum of each metric over its labels.
export function sample(metrics, time) {
    const sums = { time };
    for (const [, name, , value] of metrics.matchAll(line)) sums[name.slice('svc_instance_'.length)] = (sums[name.slice('svc_instance_'.length)] ?? 0) + Number(value);
    return sums;
}

// How fast a counter grows; nothing over a restart of the instance.
function rates(samples, name) {
    return samples.map((now, at) => {
        const before = samples[at - 1];
        if (!before || now[name] == null || before[name] == null || now[name] < before[name]) return null;
        return (now[name] - before[name]) / (now.time - before.time);
    });
}

export const values = (samples, name) => samples.map((one) => one[name] ?? null);

function remember(id) {
    if (!kept.has(id)) kept.set(id, []);
    while (kept.size > remembered) kept.delete(kept.keys().next().value);
    return kept.get(id);
}

function useSamples(id, up) {
    const [state, setState] = useState({ samples: kept.get(id) ?? [] });
    useEffect(() => {
        if (!up) return undefined;
        const take = async () => {
            if (document.hidden) return;
            try {
                const samples = [...remember(id), sample(await text(`/1.0/metrics?instance=${id}`), Date.now() / 1000)].slice(-most);
                kept.set(id, samples);
                setState({ samples });
            } catch (error) {
                setState((now) => ({ ...now, error }));
            }
        };
        take();
        const timer = setInterval(take, every);
        return () => clearInterval(timer);
    }, [id, up]);
    return state;
}

const limit = (samples, name) => (samples.at(-1)?.[name] > 0 ? ` of ${bytes(samples.at(-1)[name])}` : '');

export function Usage({ record, state }) {
    const up = ['running', 'started'].includes(state);
    const { samples, error } = useSamples(record.id, up);
    if (!up && samples.length === 0) return null;
    const times = values(samples, 'time');
    const graph = (label, format, lines, least = 1) => html`<${Graph} key=${label.split(' ')[0]} title=${label} format=${format} least=${least} series=${lines.map(([name]) => ({ label: name }))} data=${[times, ...lines.map(([, data]) => data)]} />`;
    const perSecond = (value) => `${bytes(value)}/s`;
    return html`<section class="card" aria-label="Usage"><h2>Usage</h2>
        ${error && html`<${Failure} error=${error} />`}
        <div class="wide-grid">
            ${graph('CPU cores', (value) => value.toFixed(2), [['used', rates(samples, 'cpu_seconds_total')]])}
            ${graph(`Memory${limit(samples, 'memory_limit_bytes')}`, bytes, [['used', values(samples, 'memory_usage_bytes')]])}
            ${graph(`Disk${limit(samples, 'filesystem_size_bytes')}`, bytes, [['used', values(samples, 'filesystem_usage_bytes')]])}
            ${graph('Network', perSecond, [['received', rates(samples, 'network_receive_bytes_total')], ['sent', rates(samples, 'network_transmit_bytes_total')]])}
        </div><p class="hint">Since this page was opened, an hour at most. <code>GET /1.0/metrics</code> is for Prometheus.</p></section>`;
}
