/** REST: what this node enforces of the policies of the cluster. */
import { EnforcementDocument } from '#documents/enforcement.ts';
import { json, type Route } from '#infra/http/route.ts';
import type { NodeEnforcement, NodeEnforcementReader } from './node-enforcement.ts';

export function enforcementRoute(enforcement: NodeEnforcementReader): Route {
  return {
    method: 'GET',
    path: '/contiv/v1/policy/enforcement',
    mutating: false,
    summary: 'policies of the cluster that this node does not enforce as they are defined, and why',
    reply: EnforcementDocument,
    handle: () => json(documentOf(enforcement.read())),
  };
}

function documentOf(found: NodeEnforcement | undefined): EnforcementDocument {
  if (found === undefined) return { state: 'changing', problem: '', applied: '', policies: [] };
  const { applied, problem, notEnforced } = found;
  const state = problem === '' ? 'settled' : 'failed';
  return { state, problem, applied, policies: notEnforced };
}
