/** The service label names this agent; it prefixes the agent's keys and is the node's name. */

import { defineError } from '../errors/errors.ts';

const ALL_AGENTS = '/vnf-agent/';

export const LABEL_FLAG = 'microservice-label';
const DEFAULT_LABEL = 'vpp1';
/** Name of a Kubernetes node, or one with upper-case letters: it is used in keys and paths. */
const FORM = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;

export const ServiceLabelError = defineError({
  name: 'ServiceLabelError',
  code: 'CV_SERVICE_LABEL',
  rejects: 'configuration',
  remedy: 'Set --microservice-label or MICROSERVICE_LABEL to the name of the node.',
});

/** Flag before environment variable before default. @throws ServiceLabelError */
export function serviceLabel(
  flags: Readonly<Record<string, string | undefined>>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const label = flags[LABEL_FLAG] || env['MICROSERVICE_LABEL'] || DEFAULT_LABEL;
  if (!FORM.test(label))
    throw new ServiceLabelError(`${JSON.stringify(label)} is not a valid node name`);
  return label;
}

/** `/vnf-agent/<label>/`: prefix of the keys of one agent. */
export function agentPrefix(label: string): string {
  return `${ALL_AGENTS}${label}/`;
}
