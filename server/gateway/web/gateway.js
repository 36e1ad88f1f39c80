// The gateway's REST API.
export class GatewayError extends Error {
    constructor(status, message) {
        super(message);
        this.name = 'GatewayError';
        this.status = status;
    }
}

const joinLimit = 15 * 1000;  // ms

function inWords(status, text) {
    if (status === 401) return 'The gateway does not accept this token. It may be misspelt, expired or replaced by a newer one.';
    return text ? `The gateway refused: ${text}.` : `The gateway answered with status ${status}.`;
}

export class Gateway {
    // `url`: of the gateway; `token`: of an account.
    constructor({ url = location.origin, token }) {
        this.url = url.replace(/\/+$/, '');
        this.token = token;
    }

    // The answer's metadata. Throws GatewayError; its status is 0 when the gateway cannot be reached. `options`: of fetch().
    async request(method, path, body, options) {
        const { metadata } = await this.answer(method, path, body, options);
        return metadata;
    }

    async answer(method, path, body, options) {
        const headers = { Authorization: `Macaroon root=${this.token}`, Accept: 'application/json' };
        if (body !== undefined) headers['Content-Type'] = 'application/json';
        let response;
        try {
            response = await fetch(this.url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), ...options });
        } catch {
            throw new GatewayError(0, 'The gateway cannot be reached.');
        }
        const answer = await response.json().catch(() => ({}));
        if (answer.status !== 'success') throw new GatewayError(response.status, inWords(response.status, answer.error));
        return answer;
    }

    applications() {
        return this.request('GET', '/1.0/applications');
    }

    regions() {
        return this.request('GET', '/1.0/regions');
    }

    sessions() {
        return this.request('GET', '/1.0/sessions?recursion=true&sort_by=created_at&sort_order=desc');
    }

    session(id) {
        return this.request('GET', `/1.0/sessions/${encodeURIComponent(id)}`);
    }

    // {id, url, stun_servers}
    create(request) {
        return this.request('POST', '/1.0/sessions/', request);
    }

    // `watch`: beside the client that steers, else in its place.
    join(id, screen, watch = false) {
        return this.request('POST', `/1.0/sessions/${encodeURIComponent(id)}/join`, { ...(screen && !watch && { screen }), ...(watch && { mode: 'watch' }) }, { signal: AbortSignal.timeout(joinLimit) });
    }

    // Also when the page goes meanwhile.
    end(id) {
        return this.request('DELETE', `/1.0/sessions/${encodeURIComponent(id)}`, undefined, { keepalive: true });
    }
}
