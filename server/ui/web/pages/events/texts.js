// What an event says in a line, and which objects it is about.
import { requestorName, resourcesOf } from '../../ui/objects.js';

const spoken = {
    operation: ({ description, status, err }) => `${description}: ${status}${err ? ` – ${err}` : ''}`,
    lifecycle: ({ action, requestor }) => `${action}${requestor ? ` by ${requestorName(requestor)}` : ''}`,
    logging: ({ message, context }) => [message, ...Object.entries(context ?? {}).map(([name, value]) => `${name}=${value}`)].join(' '),
    gap: ({ first, since }) => `events between ${since} and ${first} are not kept any more`,
};

const longest = 500;  // characters of a line; all are in the event's JSON

export function textOf({ type, metadata }) {
    const text = spoken[type]?.(metadata) ?? type;
    return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

export function objectsOf({ type, metadata }) {
    if (type === 'lifecycle') return [metadata.source];
    return type === 'operation' ? [`/1.0/operations/${metadata.id}`, ...resourcesOf(metadata)] : [];
}

// What is a failure is shown as one.
export function kindOf({ type, metadata }) {
    if (type === 'logging') return { error: 'bad', warning: 'busy' }[metadata.level] ?? 'plain';
    if (type === 'lifecycle') return { 'container-failed': 'bad', 'container-running': 'good' }[metadata.action] ?? 'plain';
    return metadata.status_code >= 400 ? 'bad' : metadata.status_code === 200 ? 'good' : 'plain';
}
