// The logs of an instance: those in it, read by commands there as `svcctl logs` does, and those kept of a failure.
import { text } from '../../api.js';
import { joined, run } from '../../agent.js';

const folder = '/var/lib/svc-agent/logs';
const inside = [
    { name: 'agent', title: 'Agent and hooks', files: `${folder}/*.log`, journal: 'journalctl --no-pager -u svc-agent.service' },
    { name: 'android', title: 'Android', files: `${folder}/android.log /var/lib/svc-agent/data/logs/*` },
    { name: 'console', title: 'Console of the guest', files: `${folder}/console.log` },
    { name: 'container', title: 'Container', files: `${folder}/container.log` },
    { name: 'system', title: 'System journal or messages', files: '/var/log/messages /var/log/syslog', journal: 'journalctl --no-pager' },
];

// [{ name, title, stored }] of a record: what is kept first, then what can be read in it.
export function sourcesOf(record, readable) {
    const stored = (record.stored_logs ?? []).map((name) => ({ name, title: `${name} (of the failure)`, stored: true }));
    return [...stored, ...(readable ? inside : [])];
}

const quoted = (path) => `'${path.replaceAll("'", "'\\''")}'`;

// A command that prints the log: all of it, or its last `lines` and then what is added.
function command({ name, files, journal, path }, lines) {
    if (path) return ['sh', '-c', `exec ${lines ? `tail -n ${lines} -f` : 'cat'} ${quoted(path)}`];
    const show = lines ? `tail -n ${lines} -f` : 'cat';
    const records = journal ? `command -v journalctl >/dev/null 2>&1 && exec ${journal}${lines ? ` -n ${lines} -f` : ''}\n` : '';
    return ['sh', '-c', `files=; for file in ${files}; do [ -f "$file" ] && files="$files $file"; done\n[ -z "$files" ] || exec ${show} $files\n${records}echo 'no ${name} log in the instance' >&2; exit 1`];
}

// Gives the text of the log to `take(text)` as it comes, until `signal` ends it.
export async function follow(record, source, { lines, take, signal }) {
    if (source.stored) return take(await text(`/1.0/instances/${record.id}/logs/${encodeURIComponent(source.name)}`, { signal }));
    const decoder = new TextDecoder();
    return run(record.id, command(source, lines), { signal, onOutput: (bytes) => take(decoder.decode(bytes, { stream: true })) });
}

// All of it, as a Blob.
export async function whole(record, source, { signal, say }) {
    if (source.stored) return new Blob([await text(`/1.0/instances/${record.id}/logs/${encodeURIComponent(source.name)}`, { signal })]);
    const chunks = [];
    let size = 0;
    const onOutput = (bytes) => {
        chunks.push(bytes);
        size += bytes.length;
        say(`${size >> 10} KiB`);
    };
    await run(record.id, command(source), { signal, onOutput });
    return new Blob([await joined(chunks)]);
}
