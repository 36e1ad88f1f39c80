// What the pages of packages have in common.
import { html } from '../../html.js';
import { call, finish } from '../../api.js';
import { href } from '../../router.js';
import { count } from '../../ui/format.js';
import { useReloadOn } from '../../ui/loaded.js';
import { ask, attempt } from '../../ui/notice.js';
import { Empty, Failure, Spinner } from '../../ui/elements.js';

export const dash = (text) => (text === undefined || text === null || text === '' ? '–' : text);
export const Tags = ({ values }) => (values?.length ? html`<span class="tag-list">${values.map((value) => html`<code key=${value}>${value}</code>`)}</span>` : '–');

const Users = ({ ids }) => html`<span class="tag-list">${ids.map((id) => html`<a key=${id} href=${href('applications', id)}>${id}</a>`)}</span>`;
export const UsedBy = ({ ids }) => (!ids?.length ? '–' : ids.length === 1 ? html`<${Users} ids=${ids} />`
    : html`<details><summary>${count(ids.length, 'application')}</summary><${Users} ids=${ids} /></details>`);

// `rows` of [what it is, its value]; those without a value are left out.
export const Facts = ({ rows }) => html`<dl class="facts">${rows.filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl>`;

export const Loaded = ({ value, error, reload, children }) => (error ? html`<${Failure} error=${error} again=${reload} />` : value === undefined ? html`<${Spinner} />` : children(value));

// An empty list of packages: what it is for, the button, and the command that does the same.
export const NoPackages = ({ title, children, button, command }) => html`<${Empty} title=${title}>${children}<br />${button ? html`${button} <code>${command}</code>` : 'Admins add them.'}<//>`;

// Loads again when an operation on such an object begins, moves or ends.
export function useOperationsOn(noun, reload) {
    useReloadOn('operation', reload, ({ metadata }) => Boolean(metadata.resources?.[noun]));
}

// Does what a button says and waits for its operation; says what has come of it. Whether it has succeeded.
export function act(method, path, body, done) {
    return attempt(async () => {
        const answer = await call(method, path, body);
        return answer.type === 'async' ? finish(answer.metadata) : answer.metadata;
    }, done);
}

export async function removeAsked(title, text, path, body, done, confirm = 'Delete') {
    return (await ask(title, text, confirm)) && act('DELETE', path, body, done);
}
