// Roles: which there are, and a field to choose one that is not more than the user's own.
import { html } from '../../html.js';
import { Field } from '../../ui/elements.js';

export const roles = ['viewer', 'operator', 'admin'];
export const hasRoles = (me) => me.api_extensions.includes('roles');

export const RoleOptions = ({ me, chosen }) => roles.filter(me.may).map((role) => html`<option key=${role} value=${role} selected=${role === chosen}>${role}</option>`);

const meaning = 'viewer: reads everything but secrets; operator: also works with instances; admin: everything';
export const RoleField = ({ me, chosen }) => hasRoles(me) && html`<${Field} label="Role" hint=${meaning}><select name="role"><${RoleOptions} me=${me} chosen=${chosen} /></select><//>`;
