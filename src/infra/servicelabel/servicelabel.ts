/** The service label names this agent; it prefixes the agent's keys and is the node's name. */

const ALL_AGENTS = '/vnf-agent/';

export const LABEL_FLAG = 'microservice-label';
const DEFAULT_LABEL = 'vpp1';

/** Flag before environment variable before default. */
export function serviceLabel(
  flags: Readonly<Record<string, string | undefined>>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  return flags[LABEL_FLAG] || env['MICROSERVICE_LABEL'] || DEFAULT_LABEL;
}

/** `/vnf-agent/<label>/`: under which the keys of one agent stand. */
export function agentPrefix(label: string): string {
  return `${ALL_AGENTS}${label}/`;
}
