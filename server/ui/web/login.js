// What everybody sees who is not logged in: nothing but how to log in.
import { html, useState } from './html.js';
import { logIn } from './session.js';

export function Login({ methods = [], reason, onDone }) {
    const [problem, setProblem] = useState(reason);
    const submit = async (event) => {
        event.preventDefault();
        const given = new FormData(event.target).get('link').trim();
        try {
            await logIn(given.split('#login=').pop());
            onDone();
        } catch (error) {
            setProblem(error.message);
        }
    };
    return html`<main class="login card">
        <h1><img src="/ui/icon.svg" alt="" width="28" height="28" /> Instances</h1>
        ${problem && html`<p class="failure" role="alert">${problem}</p>`}
        ${methods.includes('oidc') && html`<a class="button primary" href="/1.0/oidc/login">Log in with your organisation</a>`}
        <form onSubmit=${submit}>
            <label class="field"><span>One-use link</span><input name="link" required autocomplete="off" autofocus /></label>
            <p class="hint">On a machine that the service trusts, <code>svcctl ui</code> opens this page logged in; <code>svcctl ui --print</code> prints a link.</p>
            <button class="primary">Log in</button>
        </form>
        <p class="hint">A browser with a client certificate that the service trusts needs no link.</p>
    </main>`;
}
