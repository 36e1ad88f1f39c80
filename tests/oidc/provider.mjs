// An OpenID provider on the loopback, for the test of logins: oidc-provider from npm. Its only argument is JSON:
// `redirect`, where browsers go back to. Prints its issuer once it listens.
//
// Whoever follows it to /interaction/<uid> logs in as NAME by /interaction/<uid>/as/NAME, without a password. /forge/KIND
// lets it answer with forged ID tokens from then on; /forge/none ends that.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import http from 'node:http';
import { pathToFileURL } from 'node:url';

// The packages are in a folder of the build.
const entry = new URL('node_modules/oidc-provider/lib/index.js', pathToFileURL(process.env.SVC_NODE_MODULES + '/'));
const { default: Provider } = await import(entry);

const { redirect } = JSON.parse(process.argv[2]);
const secret = 'a secret: of 100% use, and of more than thirty-two letters';
const algorithms = ['RS256', 'PS256', 'ES256'];
const users = {
    alice: { email: 'alice@example.com', email_verified: true, realm_access: { roles: ['svc-admins', 'others'] } },
    bob: { email: 'bob@example.com', email_verified: true, realm_access: { roles: ['watchers'] } },
    carol: { email: 'carol@example.com', email_verified: true, realm_access: { roles: ['others'] } },
};

function client(id, more) {
    return { client_id: id, redirect_uris: [redirect], grant_types: ['authorization_code'], response_types: ['code'], ...more };
}

const clients = [
    ...algorithms.map((name) => client(`svc-${name}`, { client_secret: secret, id_token_signed_response_alg: name })),
    client('svc-public', { token_endpoint_auth_method: 'none' }),
];

function privateKey(type, options, kid) {
    return { ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), kid, use: 'sig' };
}

// Consent is given for all that is asked.
async function grantOf(ctx) {
    const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
    grant.addOIDCScope('openid profile email');
    grant.addOIDCClaims(['realm_access', 'email', 'email_verified']);
    await grant.save();
    return grant;
}

const encode = (json) => Buffer.from(JSON.stringify(json)).toString('base64url');
const decode = (text) => JSON.parse(Buffer.from(text, 'base64url'));
const asAdmin = (body) => encode({ ...decode(body), realm_access: { roles: ['svc-admins'] } });
const forgeries = {
    unsigned: ([, body]) => `${encode({ alg: 'none' })}.${asAdmin(body)}.`,
    changed: ([header, body, signature]) => `${header}.${asAdmin(body)}.${signature}`,
    secret: ([, body]) => {
        const text = `${encode({ alg: 'HS256' })}.${asAdmin(body)}`;
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    },
};

const server = http.createServer();
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
    clients,
    claims: { openid: ['sub', 'realm_access'], email: ['email', 'email_verified'], profile: [] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of the test'] },
    enabledJWA: { idTokenSigningAlgValues: algorithms },
    features: { devInteractions: { enabled: false } },
    findAccount: (ctx, id) => ({ accountId: id, claims: async () => ({ sub: id, ...users[id] }) }),
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    jwks: { keys: [privateKey('rsa', { modulusLength: 2048 }, 'r'), privateKey('ec', { namedCurve: 'P-256' }, 'e')] },
    loadExistingGrant: grantOf,
    pkce: { required: () => true },
});

let forgery = null;
provider.use(async (ctx, next) => {
    await next();
    if (forgery && ctx.path === '/token' && ctx.body?.id_token) ctx.body.id_token = forgery(ctx.body.id_token.split('.'));
});

const pages = provider.callback();
server.on('request', async (request, response) => {
    const login = /^\/interaction\/[\w-]+\/as\/(\w+)$/.exec(request.url);
    const forge = /^\/forge\/(\w+)$/.exec(request.url);
    if (login) return provider.interactionFinished(request, response, { login: { accountId: login[1] } });
    if (!forge) return pages(request, response);
    forgery = forgeries[forge[1]] ?? null;
    return response.end();
});
console.log(JSON.stringify({ issuer, secret }));
