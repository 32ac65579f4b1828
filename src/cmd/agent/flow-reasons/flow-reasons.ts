/** Why a connection was refused or not answered: policies first, then its server, then the way of its packets. */
import type { FindReason } from '#flows/flow-reason.ts';
import type { PolicyReasons } from './policy-reasons.ts';
import type { ServerReasons } from './server-reasons.ts';
import type { TracedReasons } from './traced-reasons.ts';

export interface FlowReasonsDeps {
  readonly policies: Pick<PolicyReasons, 'find'>;
  readonly servers: Pick<ServerReasons, 'find'>;
  readonly traces: Pick<TracedReasons, 'find'>;
}

export function flowReasons({ policies, servers, traces }: FlowReasonsDeps): FindReason {
  return async (flow) => {
    const { verdict } = flow;
    if (verdict === 'open') return undefined;
    const denied = verdict === 'refused' ? undefined : await policies.find(flow);
    // nothing but a policy makes ACLs of VPP
    if (denied || verdict === 'denied') return denied;
    const found = servers.find(flow);
    const isLost = verdict === 'no-answer' && !found?.isCertain;
    // what the packet trace cannot tell must not hide what is known
    const traced = isLost ? await traces.find(flow).catch(() => undefined) : undefined;
    const reason = traced ?? found?.text;
    return reason === undefined ? undefined : { verdict, reason };
  };
}
